"""Experiments on scoring: a prototype, and the tables it was judged on."""
