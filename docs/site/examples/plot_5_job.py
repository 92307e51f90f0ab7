"""
A job that runs every hour
==========================

*New rows arrive every hour. How do I check only those, and get one message when something begins
and one when it ends?*

The job is one command, called by cron or any scheduler. What it has to remember lies in a small
state file.
"""

# %%
import json
import subprocess

import pyarrow as pa
import pyarrow.csv

from truism import load, plot
from truism.plant import schedule, simulate


def run(command):
    """Run a command as a scheduler would."""
    print(f"$ {command}")
    done = subprocess.run(command, shell=True, capture_output=True, text=True)
    print(done.stdout + f"exit code {done.returncode}")
    return done


def write(columns, path):
    """Write rows as a file."""
    pyarrow.csv.write_csv(pa.table({name: [*column] for name, column in columns.items()}), path)


# %%
# A model from a quiet day:
write(simulate(8000, seed=5).columns, "normal.csv")
_ = run("truism learn normal.csv -o line3.truism.json | head -n 2")

# %%
# Then four hours, each in a file of its own. With ``--state`` a check goes on where the last one
# stopped, and ``--format events`` writes one JSON line for whatever opened, went on or closed.
day = simulate(3000, seed=6, attacks=schedule(3000, seed=5)).columns
events = []
for hour in range(4, 8):
    rows = slice(hour * 360, (hour + 1) * 360)
    write({name: column[rows] for name, column in day.items()}, f"hour-{hour}.csv")
    done = subprocess.run(
        f"truism check hour-{hour}.csv -m line3.truism.json --state line3.state --format events",
        shell=True, capture_output=True, text=True,
    )  # fmt: skip
    for line in done.stdout.splitlines():
        event = json.loads(line)
        events.append(event)
        print(f"hour {hour}  {event['event']:8} {event['id']}  {event['blames'][0]['variable']}")
    print(f"hour {hour}  exit code {done.returncode}")

# %%
# The exit code is 1 if something is new or goes on. For one message when something begins and one when
# it ends, take the lines that are ``opened`` or ``closed``. A file that was checked already has no new
# rows:
_ = run("truism check hour-7.csv -m line3.truism.json --state line3.state")

# %%
# What was seen: an incident keeps its id over the hours, opens once and closes once. In Python the
# same job is ``findings = detector.check(rows, findings.state)``.
opened = [event["id"] for event in events if event["event"] == "opened"]
print(f"{len(opened)} opened, {len({*opened})} different")

# %%
# The four hours in one picture:
detector = load("line3.truism.json")
plot.scores(detector, {name: column[1440:2880] for name, column in day.items()})
