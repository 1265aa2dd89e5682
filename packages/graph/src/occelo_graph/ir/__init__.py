"""The intermediate representation: types, variables, ops, apply nodes, and walks over graphs.

All layers are built on it.
"""
