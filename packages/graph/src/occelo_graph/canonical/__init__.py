"""The canonical form of graphs: equal graphs have the same form. Graphs are hashed, compared and saved in this form.

Users call `digest`, `save` and `load`. The cache of compiled functions and frozen graphs compare graphs by this form.
"""
