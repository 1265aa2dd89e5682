"""Factorizations of matrices and what is computed from them."""
