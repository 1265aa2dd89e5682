"""Fusion: connected elementwise nodes become one (`fusing`), whose scalar op is a graph of theirs (`composite`)."""
