"""The paper's experiments and today's alternatives, measured in one command.

`python -m benchmarks run` measures, `page` renders `docs/benchmarks.md` from what was measured,
`compare` says what a change did, `smoke` proves in under a minute that all of this still works.
"""
