"""Elementwise functions: a table of scalar ops (`scalar`), and the op that applies them (`op.Elemwise`).

Fusion makes one scalar op of several (`composite`).

Users call the functions in `occelo.tensor`.
"""
