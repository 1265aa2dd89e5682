"""The linker ``pytorch``, which turns whole graphs into FX graphs, compiled by Inductor or run as they are.

A mode of that name chooses it.
"""
