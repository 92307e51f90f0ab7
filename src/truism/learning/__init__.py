"""A `Table` becomes a `Model`."""
