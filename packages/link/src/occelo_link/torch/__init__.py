"""The linker ``pytorch``, which makes an FX graph of a whole graph. Inductor compiles the FX graph.

A function is compiled by it if the function's mode names this linker.
"""
