"""The namespace of functions of arrays: it collects the functions of `occelo_arrays.ops`, such as ``einsum``.

Users reach them in `occelo.tensor`, which imports this module at the first use of one of its names. It is also the
part of the family that stands for NumPy's functions (`occelo_graph.ops.arguments`), ufuncs among them.
"""

from occelo_arrays.ops.aliases import *
from occelo_arrays.ops.bits import *
from occelo_arrays.ops.bits import __all__ as _bits
from occelo_arrays.ops.calculus import *
from occelo_arrays.ops.choosing import *
from occelo_arrays.ops.cross import *
from occelo_arrays.ops.dtypes import *
from occelo_arrays.ops.einsum import *
from occelo_arrays.ops.floats import *
from occelo_arrays.ops.floats import __all__ as _floats
from occelo_arrays.ops.grids import *
from occelo_arrays.ops.joining import *
from occelo_arrays.ops.matrices import *
from occelo_arrays.ops.packing import *
from occelo_arrays.ops.padding import *
from occelo_arrays.ops.parts.modes import Within as _Within
from occelo_arrays.ops.parts.scatter import combine_subtensor as _combine_subtensor
from occelo_arrays.ops.parts.segments import *
from occelo_arrays.ops.parts.subscripted import *
from occelo_arrays.ops.parts.windows import *
from occelo_arrays.ops.polynomials import *
from occelo_arrays.ops.positions import *
from occelo_arrays.ops.rearranging import *
from occelo_arrays.ops.rows import *
from occelo_arrays.ops.statistics import *
from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.ops.arguments import stands_for as _stands_for
from occelo_graph.ops.cast import cast as _cast
from occelo_graph.ops.elemwise.op import Elemwise as _Elemwise

for _name in (*_bits, *_floats):
    _function = globals()[_name]
    if isinstance(_function, _Elemwise):
        _stands_for(_function.scalar_op.name, "*")(_function)
_stands_for("ldexp", "*")(globals()["ldexp"])
for _name, _parameters in (
    ("can_cast", "*"),
    ("copy", "* -order=K -subok=False"),
    ("fix", "* -out"),
    ("result_type", "*"),
):
    _stands_for(_name, _parameters)(globals()[_name])
# what `x.at[key]` calls
_stands_for("x.at[key] with a mode", "")(_Within)
_stands_for("x.at[key] by a function of two numbers", "")(_combine_subtensor)
_stands_for("astype", "x dtype -copy=True -device")(_cast)

_explain_errors(globals(), "arguments")
