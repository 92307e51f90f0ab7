"""A net below everything that is rebuilt: what truism says today, recorded from outside.

It knows only the command line and the public names of Python, so that it survives whatever moves inside.
What is recorded is in `recorded`, as JSON that a person can read:

- ``rows_*``: rows without order. Frozen: the rules are equal, and thresholds, scores and attributions
  are within one part in a million.
- ``series_*_rules``: rules of series; frozen, too. ``series_*_scores`` and ``series_*_findings``: their
  scores apart from thresholds and incidents, so that it can be seen which of them changed.
- ``odd_files``: what `look` and `learn` make of the odd files in ``tests/data/odd``.
- ``commands``: the other commands, and what they refuse.
- ``ids``: names of incidents and patterns, and the model they follow from.
- ``guards``: how well made faults are detected, and what a command imports.

The paper's tables (annthyroid, batadal and so on) are compared where ``TRUISM_DATA`` names their folder.

A change on purpose is recorded anew, from the root of the repository:

    make net-record             everything but the public tables (with TRUISM_DATA, those too)
    .venv/bin/python -m tests.net rows_states odd_files          only these

It prints what differs from what was recorded; the commit holds the new files and says why.
"""
