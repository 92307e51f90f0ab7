"""What was learned, as immutable values: `truism.learn` makes a `Model`, all other rooms read it.

Nothing in here reads a table. A model goes out as JSON and comes back equal.

- `schema`: the variables, with statistics of their training values
- `predicates`, `rules`: what is always true
- `evidence`, `series`: what is usual beyond the rules, and from row to row
- `settings`, `provenance`: how, when and from what it was learned, and where θ and the threshold are from
- `acceptances`: what the user accepted as normal
- `model`: the `Model`, which holds all of the above
- `files`: the shape of a model file, its checks, and reading and writing it
- `wording`, `parsing`: predicates, names and numbers as people read them, and read from text
"""
