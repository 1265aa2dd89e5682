"""Examples of the family: calls of its functions."""
