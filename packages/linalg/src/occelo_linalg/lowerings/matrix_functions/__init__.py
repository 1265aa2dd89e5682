"""Functions of matrices."""
