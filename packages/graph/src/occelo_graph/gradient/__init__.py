"""Derivatives of graphs: reverse and forward mode, Jacobians, barriers, finite differences, and stable forms of expressions.

Users find most functions in `occelo`; those for authors of ops are in `occelo_graph`.
"""
