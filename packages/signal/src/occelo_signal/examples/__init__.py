"""Examples of the family: calls of its ops, and cases for its rules."""
