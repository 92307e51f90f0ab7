"""What was learned or found, told to people."""
