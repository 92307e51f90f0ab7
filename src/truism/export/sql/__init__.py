"""Models as SQL: a `Model` as one SELECT statement in the dialect of a database.

- `statements`: the statement: readings, predicates, broken rules or the paper's score, and its limits
- `dialects`: what differs between databases, written by sqlglot
"""
