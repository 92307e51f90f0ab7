"""Tables: anything with columns comes in, a `Table` of NumPy columns goes out.

- `columns`: the `Table` and its columns, with missing values and times
- `frames`: dataframes, arrays and dicts of columns
- `files`, `csvfiles`, `atomic`: table files, CSV in its many forms, and files written whole or not at all
- `distinct`: the distinct values of a column
- `times`: text read as times
- `deltas`: changes since the previous row
- `fingerprint`: a digest of a table's values
"""
