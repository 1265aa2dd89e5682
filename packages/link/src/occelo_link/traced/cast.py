"""Casts are elementwise ops; their lowering is in `elemwise`."""
