"""Lowerings of indexing ops."""
