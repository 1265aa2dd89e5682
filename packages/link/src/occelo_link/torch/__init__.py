"""The linker ``pytorch``, which makes an FX graph of a whole graph. Inductor compiles the FX graph.

It is used by functions whose mode names it.
"""
