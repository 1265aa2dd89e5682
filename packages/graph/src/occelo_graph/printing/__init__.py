"""Printing of graphs: as trees, formulas, Python source and dot."""
