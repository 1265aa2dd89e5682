"""The base of linkers to libraries that trace and compile whole graphs: JAX and PyTorch.

The linkers ``jax`` and ``pytorch`` build on it.
"""
