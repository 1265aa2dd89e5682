"""The tensor ops and their functions: one file or folder for each family; imports between families have no cycles.

The other modules are shared by families: arguments, batching, lengths, linear ops, specialization, properties of reductions.
"""
