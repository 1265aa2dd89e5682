"""The namespace of sorting: it collects the functions of `occelo_sorting.ops`, such as ``sort`` and ``argsort``.

Users reach them in `occelo.tensor`, which imports this module at the first use of one of its names. It is also the
part of the family that stands for NumPy's functions (`occelo_graph.ops.arguments`).
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_sorting.ops.counting import *
from occelo_sorting.ops.interpolation import *
from occelo_sorting.ops.nan_reductions import *
from occelo_sorting.ops.orders import *
from occelo_sorting.ops.orders import ArgSort as _ArgSort
from occelo_sorting.ops.orders import Sort as _Sort
from occelo_sorting.ops.quantiles import *
from occelo_sorting.ops.searching import *
from occelo_sorting.ops.selecting import *
from occelo_sorting.ops.sets import *

# PyTensor's names of classes of ops
ArgSortOp = _ArgSort
SortOp = _Sort
_explain_errors(globals(), "arguments")
