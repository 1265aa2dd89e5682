"""Elementwise functions: rows of a table (`scalar`), applied by one op (`op.Elemwise`)."""
