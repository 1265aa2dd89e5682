"""Symbolic tensors: types, variables, constants, constructors, conversion of arguments, and calls of NumPy's functions.

All packages use the types and variables. Users find the constructors in `occelo.tensor`.
"""
