"""Types of functions of arrays (`ArrayFunction`) and of tensors (`TensorFunction`), for type checkers alone.

Each is a union of function types, one for each number of arguments from one to six. If the types left the number of
arguments open, type checkers would not know the types of the arguments of a lambda. The modules of `ops.elemwise` and
`ops.linalg` use these types, and so do the tables of examples of ops and of rules.
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
