"""Products of matrices, vectors and tensors (dot, matmul, einsum, cross), and updates such as ``beta z + alpha x y``.

Users find the products in `occelo.tensor`. Rewriting makes the updates, each of which BLAS computes in one call.
"""
