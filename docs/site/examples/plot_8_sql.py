"""
Rules inside the database
=========================

*The rows are in a database and have to stay there. Can it check them without Python?*

A model can be written as one SELECT statement. This page uses DuckDB; PostgreSQL, Spark, BigQuery
and Snowflake have dialects of their own.
"""

# %%
import duckdb
import pyarrow as pa

from truism import InvariantRuleDetector, plot
from truism.export.sql.statements import to_sql
from truism.plant import schedule, simulate

normal = simulate(4000, seed=5).columns
today = simulate(2000, seed=6, attacks=schedule(2000, seed=5)).columns
detector = InvariantRuleDetector().fit(normal)

# %%
# The statement lists every pair of a row and a rule that it breaks:
statement = to_sql(detector.model_, dialect="duckdb", table="readings", rules=200)
print(*statement.text.splitlines()[:12], sep="\n")
print(f"… {len(statement.text):,} bytes, {statement.n_rules} rules with a condition")
for sentence in statement.left_out:
    print("left out:", sentence)

# %%
# The database runs it. Nothing of truism is needed there.
readings = pa.table({name: [*column] for name, column in today.items()})
database = duckdb.connect()
database.register("readings", readings)
broken = database.sql(statement.text).df()
broken.head(8)

# %%
# Which rules are broken most often?
counts = broken.groupby(["expected", "because"]).size().sort_values(ascending=False)
counts.to_frame("rows").reset_index().head(8)

# %%
# What was seen: the statement finds the same broken rules as Python, row by row, and says what was
# expected and found. It sees rules alone, and each row by itself: a broken rule is a finding to
# look into, not yet an alarm. The default score weighs all evidence, that of earlier rows too; it
# stays with Python, Dask and Spark.
anomalous = detector.predict(today) < 0
rows = broken["time"].unique()
print(f"{len(rows)} rows break one of these rules; the default score reports {anomalous.sum()}")

# %%
plot.scores(detector, today)
