"""Rules that are written as patterns, or as functions of a node."""
