"""Padded tensors, for libraries whose shapes are static."""
