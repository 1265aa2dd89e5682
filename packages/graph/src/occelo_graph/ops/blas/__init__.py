"""Products of matrices and vectors, and updates such as ``beta z + alpha x y``, which BLAS computes in one call.

Rewriting makes the updates.
"""
