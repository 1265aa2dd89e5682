"""Linkers that compile blocks of nodes, and run the rest as Python thunks."""
