"""Anything with columns becomes a `Table` of NumPy columns."""
