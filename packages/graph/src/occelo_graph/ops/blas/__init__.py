"""Products of matrices and vectors, and the updates that BLAS computes in one call."""
