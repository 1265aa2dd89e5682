"""Examples of keywords that change what a function of the core computes: dtypes, masks, first values, several axes.

They have the names of the functions' other examples, so that samples of the table take one of them.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw

if TYPE_CHECKING:
    from collections.abc import Callable

    from occelo_graph.tensors.signatures import Array

_REAL = (-2.5, 2.5)
_A = draw(_REAL, (2, 3), salt=31)
_V = draw(_REAL, (3,), salt=32)
_T = draw(_REAL, (2, 3, 4), salt=33)
_C = draw(_REAL, (2, 3), "complex128", salt=34)
_BYTES = draw("int", (2, 3), "int8", salt=35)
_MASK = draw("bool", (2, 3, 4), salt=36)
_TWICE = np.array([2, 0, 2])


def _row(
    family: str, name: str, *arguments: Array, differentiated: bool = True, **options: Any
) -> Example:
    """An example of the function of this name here and in NumPy, with the same keywords."""
    grad = (0,) if differentiated and arguments[0].dtype == np.float64 else ()
    ours, theirs = (partial(getattr(module, name), **options) for module in (ot, np))
    batched = () if family == "create" else (0,)
    return Example(name, family, ours, theirs, arguments, grad, 1e-6, batched)


def _summed(name: str, subscripts: str, dtype: str, x: Array, y: Array) -> Example:
    """A product of matrices and vectors in another dtype."""

    def reference(x: Array, y: Array) -> Any:
        x = x.astype(dtype)
        return np.einsum(subscripts, x.conj() if name.startswith("vec") else x, y.astype(dtype))

    function = partial(getattr(ot, name), dtype=dtype)
    return Example(name, "blas", function, reference, (x, y), (), 1e-5, (0, 1))


def _joined(name: str, dtype: str, casting: str, **options: Any) -> Example:
    """Arrays of floats and of small integers, joined in another dtype."""

    def side(module: Any) -> Callable[..., Any]:
        def joined(x: Any, y: Any) -> Any:
            return getattr(module, name)([x, y], dtype=dtype, casting=casting, **options)

        return joined

    return Example(name, "join", side(ot), side(np), (_A, _BYTES), (), 1e-6, (0, 1))


def _masked(name: str, **options: Any) -> Example:
    """A reduction of the elements that a second argument chooses."""

    def side(module: Any) -> Callable[..., Any]:
        def reduced(x: Any, chosen: Any) -> Any:
            return getattr(module, name)(x, where=chosen, **options)

        return reduced

    return Example(name, "reduce", side(ot), side(np), (_T, _MASK), (0,), 1e-10, (0,))


def _first_of(name: str, axes: tuple[int, ...]) -> Example:
    """The position of an extremum among the elements along several axes."""

    def reference(x: Array) -> Any:
        others = [i for i in range(x.ndim) if i not in axes]
        rows = x.transpose([*others, *axes]).reshape(*(x.shape[i] for i in others), -1)
        return getattr(np, name)(rows, axis=-1)

    return Example(
        name, "reduce", partial(getattr(ot, name), axis=axes), reference, (_T,), (), 0.0, (0,)
    )


def _increased_once(x: Array, y: Array) -> Array:
    increased = x.copy()
    increased[_TWICE] += y
    return increased


EXAMPLES: list[Example] = [
    _summed("matvec", "...ij,j->...i", "float32", _T[:, :, :3], _V),
    _summed("vecmat", "i,...ij->...j", "complex128", _V, _T),
    _summed("vecdot", "...i,i->...", "complex64", _C, _V),
    _summed("matmul", "...ij,...jk->...ik", "float64", _BYTES, _T.astype("float32")),
    _joined("concatenate", "float32", "same_kind", axis=1),
    _joined("concatenate", "int16", "unsafe"),
    _joined("stack", "complex64", "same_kind", axis=-1),
    _row("create", "zeros_like", _A, dtype="int16", shape=(2, 2), differentiated=False),
    _row("create", "ones_like", _BYTES, shape=(4,)),
    _row("create", "full_like", _A, fill_value=3, shape=(3, 1), differentiated=False),
    _masked("sum", axis=(0, 2), initial=1.5),
    _masked("prod", axis=1, initial=2.0, keepdims=True),
    _masked("max", axis=1, initial=-9.0),
    _masked("min", initial=0.25),
    _masked("mean", axis=(1, 2)),
    _masked("var", axis=(1, 2)),
    _masked("std", axis=(1, 2), ddof=1),
    _row("elemwise", "angle", _C, deg=True),
    _row("reduce", "max", np.zeros((2, 0)), axis=1, initial=-1.0),
    _row("reduce", "sum", _BYTES, axis=0, dtype="float32", initial=0.5),
    _row("reduce", "mean", _BYTES, axis=1, dtype="float32"),
    _row("reduce", "var", _BYTES, axis=1, dtype="float32"),
    _row("reduce", "any", _MASK, axis=1, where=_MASK[:, :, :1]),
    _row("reduce", "all", _MASK, axis=(0, 2), where=~_MASK[:1]),
    Example(
        "var",
        "reduce",
        lambda x, m: ot.var(x, 1, mean=m, correction=1),
        lambda x, m: ((x - m) ** 2).sum(1) / (x.shape[1] - 1),
        (_T, _T.mean(1, keepdims=True)),
        (0, 1),
        1e-10,
        (0,),
    ),
    _first_of("argmax", (0, 2)),
    _first_of("argmin", (1, 2)),
    Example(
        "inc_once",
        "index",
        lambda x, y: x[_TWICE].inc(y, ignore_duplicates=True),
        _increased_once,
        (_V, _V + 1.0),
        (0, 1),
        1e-12,
        (0, 1),
    ),
]
