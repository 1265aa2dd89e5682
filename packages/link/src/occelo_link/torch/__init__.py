"""The linker ``pytorch``: whole graphs as FX graphs, compiled by Inductor or run as they are.

A mode of that name chooses it.
"""
