"""Learning: from the rows of a table and `Settings` to a `Model`; `learn.learn` is the whole method.

- `batches`, `passes`: the rows, a sample of them where they are very many, and passes over all
- `kinds`: which columns are variables, and of which kind
- `trees`, `predicates`: cut-offs, and the predicates worth mining
- `mining`, `rules`: the search for rules, the choice of θ, and the rules of a table
- `contexts`: trees of contexts, and sums over their leaves
- `holdout`: held-out rows against the others, and the evidence and threshold that follow
- `series`: whether rows are a series, and how earlier rows count
- `suspects`: training rows that the others contradict
- `kernels`: the compiled loops
"""
