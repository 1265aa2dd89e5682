"""Examples of the family: calls of its functions, with SciPy's as references."""
