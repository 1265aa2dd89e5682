"""Tensors: types, variables, constants, constructors, conversion of arguments, and dispatch of NumPy's functions."""
