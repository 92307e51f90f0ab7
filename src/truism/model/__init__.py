"""What was learned, as immutable values."""
