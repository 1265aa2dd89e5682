"""Types for annotations: arrays (`Array`), and parameters that are functions of arrays (`ArrayFunction`) or of tensors
(`TensorFunction`).

The modules of `ops.elemwise`, `occelo_linalg.ops` and `occelo_random.ops`, lowerings of linear algebra, and the tables with examples
of ops and rules use these types.

`ArrayFunction` and `TensorFunction` are unions of function types, for one to six arguments. With the type
``Callable[..., Any]``, type checkers would not know the types of a lambda's arguments.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Callable

    import numpy.typing as npt

    from occelo_graph.tensors.variable import TensorVariable

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
"""A function of one to six arrays, which computes with NumPy."""

TensorFunction: TypeAlias = """
    Callable[[_Tensor], Any]
    | Callable[[_Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Any]
    | Callable[[_Tensor, _Tensor, _Tensor, _Tensor, _Tensor, _Tensor], Any]
"""
"""A function of one to six symbolic tensors, which builds a graph."""
