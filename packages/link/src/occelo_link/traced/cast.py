"""Placeholder for casts: they are elementwise ops, lowered in `elemwise`."""
