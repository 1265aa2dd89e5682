"""Elementwise functions: a table of scalar ops (`scalar`), and the op that applies them (`op.Elemwise`).

Fusion combines several scalar ops to one (`composite`). Users call the functions in `occelo.tensor`.
"""
