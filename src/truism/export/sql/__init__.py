"""Models as SQL: a `Model` comes in, one SELECT statement in the dialect of a database goes out.

- `dialects`: what differs between databases, written by sqlglot
- `levels`: a statement as flat levels, and its text
- `strength`: which rules to write, the strongest first
- `conditions`: readings and predicates as columns
- `violations`: which rules rows break
- `penalties`: the paper's score
- `statements`: the front door, with the limits on rules and length
"""
