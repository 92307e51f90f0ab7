"""Attacks on truism: odd input, damaged files, kills, faults, signals, hostile names, other surroundings.

``python -m attack`` in ``tests`` (or ``make attack``) tries every kind with fixed seeds and with one
from the clock, which it prints. An attempt is drawn from the seed, the kind and its number alone, so
each can be repeated by itself.
"""
