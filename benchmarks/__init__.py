"""The paper's experiments and today's alternatives, measured with one command.

`python -m benchmarks run` measures, `page` writes `docs/benchmarks.md` from the results,
`compare` lists what a change did, and `smoke` checks in under a minute that all of this works.
Results are JSON lines in `benchmarks/results`; `benchmarks.lab` holds experiments for developers.
"""
