"""Learning: from the rows of a table and `Settings` to a `Model`; `learn.learn` is the whole method.

- `batches`, `sampling`: the rows, and those of them that stand for all
- `kinds`: which columns are variables, and of which kind
- `support`: the choice of θ
- `trees`, `predicates`: cut-offs, and the predicates worth mining
- `mining`, `rules`: the search for rules, and the rules of a table
- `contexts`: trees of contexts, and sums over their leaves
- `rarity`: where training values lie
- `holdout`: held-out rows against the others, and the evidence and threshold that follow
- `verification`: what a sample proposes, checked and counted in all rows
- `series`: whether rows are a series, and how earlier rows count
- `suspects`: training rows that the others contradict
- `kernels`: the compiled loops
"""
