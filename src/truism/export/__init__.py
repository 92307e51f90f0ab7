"""Models in the forms that other people and programs read."""
