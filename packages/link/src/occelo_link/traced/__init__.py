"""What the linkers ``jax`` and ``pytorch`` have in common: the base class, the tracer, and lowerings to array
functions.

These linkers run a graph on symbolic arrays of a library, which traces the graph and compiles it as a whole.
"""
