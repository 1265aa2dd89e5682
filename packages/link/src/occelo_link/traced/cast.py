"""Casts for JAX and PyTorch: nothing here, since a cast is an elementwise op, lowered in `elemwise`."""
