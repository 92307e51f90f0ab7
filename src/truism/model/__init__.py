"""What was learned, as immutable values: `truism.learning` makes a `Model`, all other rooms read it.

Nothing in here reads a table. A model goes out as JSON and comes back equal.

- `schema`: the variables, with statistics of their training values
- `predicates`, `rules`: what is always true
- `evidence`: what is usual beyond the rules
- `settings`, `provenance`: how, when and from what the model was learned
- `origins`: why θ and the threshold are what they are
- `model`: the `Model`, which holds all of the above
- `format`, `soundness`, `files`: the shape of a model file, its checks, and reading and writing it
- `wording`: predicates and numbers as people read them
- `stamps`: dates
"""
