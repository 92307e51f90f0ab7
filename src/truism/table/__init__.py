"""Tables: files, databases and dataframes are read as a `Table` of NumPy columns.

- `columns`, `layouts`: a table, how it is to be read, and how it was read
- `notices`: what the user should know about how a table was read, in sentences
- `files`: files of all formats, in batches; `csv`: those of texts; `cells`: spreadsheets, databases, JSON
- `frames`: dataframes, arrays and dicts of columns
- `texts`: what the texts of a column mean: `numerals`, `times` and `timelines`, `words`; `historian`:
  one value per row
- `counters`, `totals`, `looking`: columns that only count, rows that sum up, and a table at first sight
- `deltas`, `distinct`, `fingerprint`, `aside`: changes, distinct values, a digest, rows needed again
- `writing`, `atomic`, `versioned`: what is written, whole or not at all, and files of our own
"""
