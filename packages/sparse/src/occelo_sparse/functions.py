"""The namespace of sparse matrices, with the names of `pytensor.sparse`. Users reach it as `occelo.sparse`."""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_sparse.ops import variable
from occelo_sparse.ops.arithmetic import *
from occelo_sparse.ops.assembling import *
from occelo_sparse.ops.conversions import *
from occelo_sparse.ops.determinants import *
from occelo_sparse.ops.elementwise import *
from occelo_sparse.ops.indexing import *
from occelo_sparse.ops.multiplying import *
from occelo_sparse.ops.solving import *
from occelo_sparse.ops.splu import *
from occelo_sparse.ops.stacking import *
from occelo_sparse.ops.stated import *
from occelo_sparse.ops.types import *
from occelo_sparse.ops.variable import *

shared = variable.sparse_constructor

_explain_errors(globals(), "arguments")
