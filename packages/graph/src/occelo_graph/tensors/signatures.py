"""Types of functions of arrays and of tensors, as tables of lambdas have them.

A function of any number of arguments would say nothing of the arguments of a lambda, so each alias lists the functions of one
to six. They are for type checkers alone.

The ops in `ops.elemwise` and `ops.linalg` and the tables of examples, of ops and of rules, are annotated with them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Array", "ArrayFunction", "TensorFunction"]

Array: TypeAlias = "npt.NDArray[Any]"
"""An array of any dtype."""

_Tensor: TypeAlias = "TensorVariable"

ArrayFunction: TypeAlias = """
    Callable[[Array], Any]
    | Callable[[Array, Array], Any]
    | Callable[[Array, Array, Array], Any]
    | Callable[[Array, Array, Array, Array], Any]
    | Callable[[Array, Array, Array, Array, Array], Any]
    | Callable[[Array, Array, Array, Array, Array, Array], Any]
"""
"""NumPy code, with arrays as arguments."""

TensorFunction: TypeAlias = """
    Callable[[_Tensor], Any]
    | Callable[[_Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Any]
"""
"""A function that builds graphs, with tensors as arguments."""
