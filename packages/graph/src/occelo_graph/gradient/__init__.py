"""Derivatives of graphs: reverse and forward mode, Jacobians, barriers, finite differences, and stable forms of expressions.

Users find the functions in `occelo`.
"""
