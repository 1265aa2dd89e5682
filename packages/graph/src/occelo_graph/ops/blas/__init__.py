"""Products of matrices, vectors and tensors (dot, matmul, tensordot), and updates such as ``beta z + alpha x y``.

Users call the products from `occelo.tensor`. Rewriting makes the updates; BLAS computes each update in one call.
"""
