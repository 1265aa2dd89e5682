"""Casts for JAX and PyTorch: an empty module that says where to look. Casts are elementwise ops; `elemwise` lowers
them.
"""
