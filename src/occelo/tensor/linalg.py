"""Linear algebra over batches of matrices: the functions of `numpy.linalg` and `scipy.linalg` on symbolic tensors."""

from occelo_graph.linalg import *
from occelo_graph.linalg import LinAlgError as LinAlgError
