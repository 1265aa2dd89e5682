"""The namespace of optimization: it collects the functions of `occelo_optimize.ops`."""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_optimize.ops.equations_in_time import *
from occelo_optimize.ops.fixed_points import *
from occelo_optimize.ops.least_squares import *
from occelo_optimize.ops.linear_systems import *
from occelo_optimize.ops.minimizing import *
from occelo_optimize.ops.quadrature import *
from occelo_optimize.ops.results import *
from occelo_optimize.ops.rooting import *
from occelo_optimize.ops.scalar_minimizing import *
from occelo_optimize.ops.scalar_rooting import *

_explain_errors(globals(), "arguments")
