"""Checks of how functions take arguments: numbers of Python, constants that are replaced, forms that NumPy takes."""
