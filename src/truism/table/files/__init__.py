"""Files: paths, patterns, folders and queries come in, a `Table` goes out; and columns go out as a file.

- `reading`: several files as one table, and how they were read
- `sources`: one file, by what it is
- `dialects`, `csvfiles`, `unitrows`: CSV in its many forms, and rows of units below the names
- `sheets`, `databases`, `jsonlines`: Excel, SQLite and DuckDB, JSON lines
- `historian`: one value a row, made into columns
- `stacking`: parts put one below the other
- `writing`: table files written whole or not at all
- `notices`: what there is to say about files
"""
