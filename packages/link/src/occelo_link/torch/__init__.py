"""The linker ``pytorch``, which makes an FX graph of a whole graph. Inductor compiles the FX graph.

The linker compiles each function whose mode names it.
"""
