"""The namespace of special functions: it collects those of `occelo_special.ops`, such as ``gammaln``.

Users reach the functions in `occelo.tensor`, which imports this module at the first use of one of them. It also registers them
for SciPy's functions of their names.
"""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.ops.arguments import stands_for as _stands_for
from occelo_graph.ops.elemwise.op import Elemwise as _Elemwise
from occelo_special.ops.bessel import *
from occelo_special.ops.combinations import *
from occelo_special.ops.confluent import *
from occelo_special.ops.elliptic import *
from occelo_special.ops.entropies import *
from occelo_special.ops.faddeeva import *
from occelo_special.ops.formulas import *
from occelo_special.ops.integrals import *
from occelo_special.ops.legendre import *
from occelo_special.ops.power_transformations import *
from occelo_special.ops.special_functions import *

for _name, _function in tuple(globals().items()):
    if isinstance(_function, _Elemwise):
        _stands_for(f"scipy.special.{_name}", "*")(_function)

_explain_errors(globals(), "arguments")
