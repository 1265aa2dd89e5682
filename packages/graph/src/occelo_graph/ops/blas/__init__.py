"""Products of matrices, vectors and tensors (dot, matmul, einsum, cross), and updates such as ``beta z + alpha x y``.

BLAS computes an update in one call; rewriting makes the updates.
"""
