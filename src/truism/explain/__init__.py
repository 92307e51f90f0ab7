"""Explanations of rows: weighed rows come in; explanations and incidents go out.

- `checker`: the `Checker`, a model at work on tables; every face uses it
- `clues`, `investigation`: the evidence against a row piece by piece, and how it is found
- `circumstances`, `expectations`: what similar rows have in common, and where a number usually lies
- `reasons`, `statements`: clues in words, in full and in a few
- `stories`, `moments`: an incident in one sentence, who was first, and when
- `explanations`: which variables to blame for a row
- `incidents`: which rows belong together, and which variables to blame for them
"""
