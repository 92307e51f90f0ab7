"""Tables: anything with columns comes in, a `Table` of NumPy columns goes out.

- `columns`: the `Table` and its columns, with missing values and times
- `distinct`: the distinct values of a column
- `notices`: what the user should know about how a table was read, in sentences
- `cells/`: what the texts of cells mean, as numbers, times, states or nothing
- `frames`: dataframes, arrays and dicts of columns
- `deltas`: changes since the previous row
- `fingerprint`: a digest of a table's values
- `atomic`: files written whole or not at all
- `files/`: files and databases, of many formats and in many notations
- `counters`, `looking`: columns that only count, and a table at first sight
"""
