"""Scores of rows: a `Model` and a table come in; scores, violations and thresholds go out.

- `scorer`: the `Scorer`, which the other rooms use; both ways of scoring
- `alignment`, `readings`: the model's variables in a table's columns, and rows ready to be weighed
- `bits`, `truths`: in which rows predicates hold, as packed bits
- `rulebook`, `limits`: which rows break mined rules, and which break univariate ones
- `contexts`, `rarity`: values that are unusual given the others, and values that are rare in themselves
- `evidence`, `worth`: these as one sum, and what a broken rule is worth in it
- `weighed`: what speaks against rows, as values
- `thresholds`: which scores to report
- `kernels`: the compiled loops, for many rows
"""
