"""Examples of the family: calls of its ops."""
