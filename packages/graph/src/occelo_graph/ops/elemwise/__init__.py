"""Elementwise functions: a table of scalar ops (`scalar`), and the op that applies them (`op.Elemwise`).

Users call the functions in `occelo.tensor`.
"""
