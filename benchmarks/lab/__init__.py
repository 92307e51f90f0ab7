"""A lab: experiments for developers, on many tables, that decided what the default score is.

Nothing here is part of the benchmarks. The scripts print figures and write no results, need tables from
several packages (`benchmarks.lab.panel`), and may reach into truism's internals, so they follow its
code and may change or go with it. `docs/experiments.md` says what was learned.
"""
