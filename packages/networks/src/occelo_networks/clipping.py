"""Clipping of trees of gradients, before an update rule."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, TypeVar

from occelo_graph import tensor as ot
from occelo_graph.ir import trees
from occelo_networks.arguments import as_float

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = ["clip_by_global_norm", "clip_by_norm", "clip_by_value", "global_norm"]

T = TypeVar("T")


def global_norm(tree: Any) -> TensorVariable:
    """The Euclidean norm of all elements of a tree together. ValueError for a tree without leaves."""
    leaves = trees.leaves(tree)
    if not leaves:
        raise ValueError("A tree without leaves has no norm")
    total = _squares(leaves[0])
    for leaf in leaves[1:]:
        total = total + _squares(leaf)
    return ot.sqrt(total)


def clip_by_value(gradients: T, limit: Any) -> T:
    """The tree ``gradients`` with each element at least -limit and at most ``limit``."""
    limit = _limit(limit)

    def clip(gradient: Any) -> TensorVariable:
        g = as_float(gradient)
        return ot.clip(g, _in(g, -limit), _in(g, limit))

    clipped: T = trees.map(clip, gradients)
    return clipped


def clip_by_norm(gradients: T, limit: Any) -> T:
    """The tree ``gradients`` with each leaf scaled down to the norm ``limit`` if its norm is larger."""
    limit = _limit(limit)
    clipped: T = trees.map(lambda g: _scaled(g, ot.sqrt(_squares(g)), limit), gradients)
    return clipped


def clip_by_global_norm(gradients: T, limit: Any) -> T:
    """The tree ``gradients`` scaled down by one factor, to the `global_norm` ``limit``, if its norm is larger."""
    limit = _limit(limit)
    norm = global_norm(gradients)
    clipped: T = trees.map(lambda g: _scaled(g, norm, limit), gradients)
    return clipped


def _squares(leaf: Any) -> TensorVariable:
    leaf = as_float(leaf)
    return (leaf.real**2 + leaf.imag**2 if leaf.type.is_complex else leaf**2).sum()


def _limit(limit: Any) -> TensorVariable:
    """A positive number or a scalar variable."""
    scalar = ot.as_tensor_variable(limit)
    if scalar.type.ndim or scalar.type.is_complex:
        raise TypeError(f"The limit of clipping is a real scalar, got {scalar.type}")
    if isinstance(limit, int | float) and limit < 0:
        raise ValueError(f"The limit of clipping is not negative, got {limit}")
    return scalar


def _scaled(gradient: Any, norm: TensorVariable, limit: Any) -> TensorVariable:
    """The gradient, times limit / norm unless the norm is within the limit. So a norm of NaN makes the gradient NaN."""
    gradient = as_float(gradient)
    within = norm <= limit
    factor = ot.switch(within, 1, limit / ot.switch(within, 1, norm))
    return gradient * _in(gradient, factor)


def _in(gradient: Any, value: Any) -> TensorVariable:
    """A number in the dtype of a gradient, the real one if it is complex."""
    dtype = str(gradient.dtype).replace("complex128", "float64").replace("complex64", "float32")
    return ot.cast(value, dtype)
