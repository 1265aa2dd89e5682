"""What definitions of special functions have in common: dtypes, SciPy's function of a name, and missing derivatives."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.ir.types import NullType
from occelo_graph.ops.elemwise.op import Elemwise, elementwise
from occelo_graph.ops.elemwise.scalar import special_float
from occelo_graph.optional_scipy import special_function
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import is_complex

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.ir.nodes import Variable
    from occelo_graph.ops.elemwise.signatures import DerivativeOfTensors, ScalarTraits
    from occelo_graph.tensors.signatures import ArrayFunction
    from occelo_graph.tensors.variable import TensorVariable


def _with_dtype(function: Callable[..., Any]) -> Callable[..., Any]:
    """Wrap ``function``, so that its arguments and result are cast to the dtype that `special_float` returns."""

    def computing(*arrays: Any) -> Any:
        dtype = special_float([a.dtype.name for a in arrays])
        return np.asarray(function(*(np.asarray(a, dtype=dtype) for a in arrays)), dtype=dtype)

    return computing


def of_scipy(name: str, position: int | None = None) -> Callable[..., Any]:
    """SciPy's function of a name, or one of its results. SciPy is imported at the first call."""

    def computing(*arrays: Any) -> Any:
        results = special_function(name)(*arrays)
        return results if position is None else results[position]

    return computing


def special(
    name: str,
    derivatives: Sequence[DerivativeOfTensors],
    doc: str,
    function: ArrayFunction | None = None,
    **options: Unpack[ScalarTraits],
) -> Elemwise:
    """The elementwise function of a name, which SciPy computes unless a ``function`` of arrays is given.

    Float dtypes stay, and integers become floats (`special_float`). There is a derivative for each argument.
    """
    computing = _with_dtype(of_scipy(name) if function is None else function)
    return elementwise(
        name, len(derivatives), special_float, computing, derivatives, doc, **options
    )


def converted(*variables: TensorVariable) -> list[TensorVariable]:
    """The operands of a formula in the dtype that `special_float` returns for them."""
    dtype = special_float([x.dtype for x in variables])
    return [x if x.dtype == dtype else x.astype(dtype) for x in variables]


def reals(name: str, *values: Any) -> list[TensorVariable]:
    """The arguments of a function as variables. TypeError, which names the function, if one is complex."""
    variables = [as_tensor_variable(v) for v in values]
    for v in variables:
        if is_complex(v.dtype):
            raise TypeError(f"{name} is for real numbers, got {v} of type {v.type}")
    return variables


def floats(name: str, *values: Any) -> list[TensorVariable]:
    """The arguments of a function as float variables of their common dtype. TypeError if one is complex."""
    return converted(*reals(name, *values))


def undefined(why: str) -> DerivativeOfTensors:
    """The derivative that nobody has defined: an error if it is needed, which says ``why``."""

    def derivative(ct: TensorVariable, *rest: TensorVariable) -> Variable:
        return NullType(why)()

    return derivative


def in_float64(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function of variables or arrays, computed in float64, as SciPy does; its result has the dtype of `special_float`."""

    def computed(*xs: Any) -> Any:
        doubles = function(*(x.astype("float64") for x in xs))
        return doubles.astype(special_float([str(x.dtype) for x in xs]))

    return computed
