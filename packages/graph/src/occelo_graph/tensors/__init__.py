"""Tensors: types, variables, constants, constructors, conversion of arguments, and dispatch of NumPy's functions.

All layers use the types and variables. Users find the constructors in `occelo.tensor`.
"""
