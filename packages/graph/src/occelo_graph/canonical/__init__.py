"""The canonical form of graphs: equal graphs have the same form. Graphs are hashed, compared and saved in this form.

Users call `digest`, `save` and `load`. The keys of the function cache contain digests. `FrozenFunctionGraph` compares
graphs by their canonical forms.
"""
