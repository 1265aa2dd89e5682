"""The scalar op `Cast` and the function `cast`, which convert tensors to a dtype, and `quotient`, the operator ``/``.

Users call `cast` from `occelo.tensor`. Gradients, rules and functions of all families call it, too. All linkers have a
lowering of `Cast`. The method ``__truediv__`` of tensors calls `quotient`.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import describe, explained
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import trait
from occelo_graph.ops.elemwise.arithmetic import true_div
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import Derivative, ScalarOp
from occelo_graph.tensors.constant import as_tensor_variable, is_python_number, promote_arguments
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Cast", "cast"]


@frozen_dataclass(eq=False, repr=False)
class Cast(ScalarOp):
    """Converts its input to ``dtype``. TypeError if the input is complex and ``dtype`` is real."""

    dtype: str
    holomorphic = True

    @trait
    def name(self) -> str:
        return f"cast{{{self.dtype}}}"

    @property
    def nin(self) -> int:
        return 1

    def fields(self) -> dict[str, Any]:
        return {"dtype": self.dtype}

    def output_dtypes(self, dtypes: Sequence[str]) -> tuple[str, ...]:
        if is_complex(dtypes[0]) and not is_complex(self.dtype):
            raise TypeError(
                "a complex tensor cannot be cast to a real dtype; take real(x) or abs(x)"
            )
        return (self.dtype,)

    def written(self, operands: Sequence[str]) -> Term:
        return called("cast", *operands, repr(self.dtype))

    def evaluate(self, *arrays: Any) -> Any:
        with np.errstate(all="ignore"):
            return arrays[0].astype(self.dtype)

    def derivatives(self, nin: int) -> Sequence[Derivative]:
        return [None if is_discrete(self.dtype) else _identity]


def _identity(ct: Any, x: Any, out: Any) -> Any:
    return ct


@lru_cache(32)
def _cast_op(dtype: str) -> Elemwise:
    return Elemwise(Cast(dtype))


def cast(x: Any, dtype: Any) -> TensorVariable:
    """Convert ``x`` to a tensor of ``dtype``. A variable that has this dtype already is returned itself."""
    variable = as_tensor_variable(x)
    if isinstance(dtype, str) and variable.type.dtype == dtype:
        return variable
    name = TensorType(dtype, ()).dtype
    return variable if variable.type.dtype == name else _cast_op(name)(variable)


def converted(value: Any, dtype: Any) -> TensorVariable:
    """Cast ``value`` to ``dtype``. OverflowError if a number of Python in it does not fit, where `cast` wraps around."""
    return cast(as_tensor_variable(value, dtype=None if hasattr(value, "dtype") else dtype), dtype)


def cast_by(dtype: Any, casting: Any, parts: Sequence[Any]) -> Sequence[Any]:
    """Cast ``parts`` to one ``dtype``; None is the dtype to which NumPy promotes theirs.

    TypeError if ``casting``, a word of `numpy.can_cast`, does not allow it.
    """
    if dtype is None and casting == "same_kind":
        return parts
    if dtype is not None:  # of which Python numbers are
        zero = TensorType(dtype, ()).numpy_dtype.type(0)
        parts = [promote_arguments([zero, v])[1] if is_python_number(v) else v for v in parts]
    parts = promote_arguments(parts)
    kinds: list[Any] = [v.type.numpy_dtype for v in parts]
    target = np.result_type(*kinds) if dtype is None else TensorType(dtype, ()).numpy_dtype
    for v, kind in zip(parts, kinds, strict=True):
        if not np.can_cast(kind, target, casting):
            text = f"{describe(v)}: it is not cast to {target} by the rule casting={casting!r}"
            raise explained(TypeError(text), "dtypes")
    return [cast(v, target) for v in parts]


def quotient(x: Any, y: Any) -> TensorVariable:
    """``x / y`` as in `true_div`, but a quotient of integers or booleans has the dtype floatX.

    Quotients of integers are computed in float64, as in NumPy, and then rounded once to floatX.
    """
    ratio: Any = true_div(x, y)
    if all(is_discrete(v.type.dtype) for v in ratio.owner.inputs):
        return cast(ratio, "floatX")
    return ratio
