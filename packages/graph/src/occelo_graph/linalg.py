"""The namespace of linear algebra, `occelo.tensor.linalg`; it is imported when it is first used."""

from numpy.linalg import LinAlgError as LinAlgError

from occelo_graph.ops.linalg.cholesky import *
from occelo_graph.ops.linalg.triangular import *
