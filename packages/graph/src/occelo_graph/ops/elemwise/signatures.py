"""Static types of the arguments of `elementwise`: derivatives, formulas and options.

Type checkers read them. A test compares the options with the fields of scalar functions. A function may have one to six
inputs. So `Formula` and `DerivativeOfTensors` are unions of six function types, one for each number of inputs.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from occelo_graph.ir.nodes import Variable
    from occelo_graph.ops.elemwise.scalar import Monotone, Sign
    from occelo_graph.tensors.variable import TensorVariable

_Tensor: TypeAlias = "TensorVariable"
Formula: TypeAlias = """
    Callable[[_Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
"""
"""A formula builds the result by other elementwise functions. It returns None for dtypes for which it is not valid."""

DerivativeOfTensors: TypeAlias = """
    Callable[[_Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | None
"""
"""A function ``(cotangent, *inputs, output)`` that returns the cotangent of one input. None means a derivative of 0."""


class ScalarTraits(TypedDict, total=False):
    """The options of `elementwise`: the traits of `ScalarOp`, and `partial_at` and `formula` of `ScalarFunction`."""

    partial_at: Callable[[int], Callable[..., Variable] | None]
    commutative: bool
    holomorphic: bool | None
    complex_pullback: Sequence[DerivativeOfTensors] | None
    formula: Formula | None
    linear: Literal["all", "each", "first"] | None
    arithmetic: bool
    compares: bool
    sign: Sign | None
    keeps_sign: tuple[Sign, ...]
    monotone: Monotone | None
    moves: slice | None
    infix: tuple[str, int] | None
    python_only: str | None
