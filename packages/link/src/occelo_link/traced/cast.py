"""Lowering of casts for JAX and PyTorch. The module is empty: a cast is an elementwise op, which `elemwise` lowers."""
