"""A `Model` and rows become scores."""
