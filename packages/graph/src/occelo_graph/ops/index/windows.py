"""Pickles of the version before name `SlidingWindow` here."""

from occelo_graph.canonical.names import moved_op

__getattr__ = moved_op
