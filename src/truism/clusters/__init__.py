"""Crews of clusters: jobs go in, and what they add up to comes out, whoever does them.

- `daskcrew`: the workers of Dask
- `sparkcrew`: the executors of Spark
"""
