"""Models for other people and programs: a `Model` comes in, text or JSON goes out.

- `records`: rules as plain records with all their numbers; also as JSON
- `markdown`: a model as a Markdown page
- `incidents`: what a check found, as JSON
- `suspects`: the list of suspects as a table
- `sql`: a model as a statement for a database
- `contracts`: rules as checks of dbt, Great Expectations and data contracts
"""
