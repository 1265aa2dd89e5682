"""Types of derivatives, formulas and options of `elementwise`, for scalar ops of one to six inputs.

Type checkers use these types, and so do tests that compare the options with the fields of scalar ops. As in
`occelo_graph.tensors.signatures`, each alias is a union of function types, one for each number of arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal, TypeAlias, TypedDict

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from occelo_graph.ir.nodes import Variable
    from occelo_graph.ops.elemwise.scalar import Monotone, Sign
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["DerivativeOfTensors", "Formula", "ScalarTraits"]

_Tensor: TypeAlias = "TensorVariable"
Formula: TypeAlias = """
    Callable[[_Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], TensorVariable | None]
"""
"""The result as an expression of other elementwise functions; None for dtypes for which it is not valid."""

DerivativeOfTensors: TypeAlias = """
    Callable[[_Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Variable]
    | None
"""
"""``(cotangent, *inputs, output) -> cotangent of one input``; None stands for a derivative of 0."""


class ScalarTraits(TypedDict, total=False):
    """The options of `elementwise`: the traits of `ScalarOp`, and those that only `ScalarFunction` has."""

    partial_at: Callable[[int], Callable[..., Variable] | None]
    commutative: bool
    holomorphic: bool | None
    complex_pullback: Sequence[DerivativeOfTensors] | None
    formula: Formula | None
    linear: Literal["all", "each", "first"] | None
    arithmetic: bool
    sign: Sign | None
    keeps_sign: tuple[Sign, ...]
    monotone: Monotone | None
    moves: slice | None
    infix: tuple[str, int] | None
    python_only: str | None
