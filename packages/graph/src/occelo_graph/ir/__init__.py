"""The intermediate representation of graphs: types, variables, ops, apply nodes, and functions that traverse graphs.

All other folders and packages import it.
"""
