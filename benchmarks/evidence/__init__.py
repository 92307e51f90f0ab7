"""Judging the default score on many tables."""
