"""Graphs as text: trees, formulas, Python source, dot."""
