"""What speaks against rows becomes explanations."""
