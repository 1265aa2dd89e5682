"""Linkers that hand the whole graph to another library, which traces and compiles it: JAX, PyTorch."""
