"""Models reviewed: rows accepted as normal, two models compared, and whether one still fits.

- `accept`: variables that are no longer judged on a condition, and what that silences
- `ledgers`: the accepted rows themselves, for learning again
- `compare`: rules, what both report in the same rows, and which of them is better
- `status`: fresh, drifting or stale, and why
- `suspects`: training rows that the others contradict, in groups with reasons
"""
