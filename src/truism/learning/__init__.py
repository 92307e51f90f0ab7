"""Learning: a `Table` of normal rows and `Settings` come in, a `Model` goes out.

- `training`: the whole method, from table to model
- `kinds`: which columns are variables, and of which kind
- `support`: the choice of θ
- `trees`, `candidates`, `predicates`: cut-offs, and the predicates worth mining
- `counts`: how often predicates hold
- `mining`, `rules`: the search for rules, and the rules of a table
- `context_trees`, `leaf_sums`: trees of contexts, and sums over their leaves
- `spacings`: where training values lie
- `holdout`, `evidence`: held-out rows against the rules, and the evidence beyond the rules
- `kernels`: the compiled loops
"""
