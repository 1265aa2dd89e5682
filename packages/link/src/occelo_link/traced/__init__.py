"""Modules that the linkers ``jax`` and ``pytorch`` share: their base class, the tracer and the lowerings.

These linkers run a graph on symbolic arrays of a library, which traces the run and compiles the graph as a whole.
"""
