"""Explanations: clues against rows, in words, and incidents made of them.

- `checker`: the `Checker`, a model at work on tables; every face uses it
- `clues`, `investigation`, `nodes`: the evidence against a row piece by piece, and how it is found
- `words`: clues in words, in full and in a few, and when something happened
- `blames`, `explanations`: which variables to blame for a row, and why
- `incidents`: what happened in rows that belong together, with a sentence: the value, which is its JSON
- `listings`, `patterns`: incidents made of events when they are looked at, and what repeats
- `findings`: all that a check found, and what differs from training now
- `states`: jobs that go on where they stopped
"""
