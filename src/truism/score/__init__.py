"""Scores of rows: a `Model` and a table come in; scores, violations and thresholds go out.

- `scorer`: the `Scorer`, which the other rooms use; both ways of scoring
- `alignment`: the model's variables in a table's columns, and rows read for weighing
- `truths`: in which rows predicates hold, as packed bits
- `rules`: which rows break rules, and what a broken rule is worth
- `contexts`, `rarity`: values that are unusual given the others, and values that are rare in themselves
- `evidence`: these as one sum, less what does not count because it was accepted
- `past`: rows that follow each other, what the past adds to them, and values that stand still
- `weighed`: what speaks against rows, as values
- `thresholds`: which scores to report
- `kernels`: the compiled loops, for many rows
"""
