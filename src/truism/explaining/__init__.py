"""Explanations of rows: weighed rows come in; explanations and incidents go out.

- `checker`: the `Checker`, a model at work on tables; every face uses it
- `clues`, `expectations`: the evidence against a row piece by piece, and where a number usually lies
- `reasons`: clues in words
- `explanations`: which variables to blame for a row
- `incidents`: which rows belong together, and which variables to blame for them
"""
