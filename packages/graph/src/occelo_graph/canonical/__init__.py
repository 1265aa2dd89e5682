"""The canonical form of graphs, by which graphs are hashed, saved and loaded.

Users call `digest`, `save` and `load`. The cache of functions and frozen graphs compare graphs by this form.
"""
