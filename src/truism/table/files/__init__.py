"""Files: paths, patterns, folders and queries come in, a `Table` goes out; and columns go out as a file.

- `reading`: several files as one table, and how they were read
- `sources`: one file, of whichever format
- `dialects`, `csvfiles`, `unitrows`: CSV in its many forms, and rows of units below the names
- `sheets`, `databases`, `jsonlines`: Excel, SQLite and DuckDB, JSON lines
- `historian`: tables with one value per row, made into columns
- `stacking`: parts put one below the other
- `writing`: table files written whole or not at all
"""
