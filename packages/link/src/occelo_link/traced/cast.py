"""Casts are elementwise; see `elemwise`."""
