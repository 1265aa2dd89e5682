"""Example calls of functions that join, cut, turn and index arrays, with NumPy's functions as references."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_graph.examples.example import Example, draw
from occelo_graph.tensor import exp, outer, sin, specify_shape, triu

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

Function = Callable[[Any], Any] | Callable[[Any, Any], Any] | Callable[[Any, Any, Any], Any]
"""A function of so many tensors or arrays; type checkers take the arguments of lambdas from it."""

_NUMPY: Any = np
A = draw((-1.0, 1.0), (2, 3), salt=31)
B = draw((-1.0, 1.0), (2, 3), salt=32)
S = draw((-1.0, 1.0), (3, 3), salt=33)
T = draw((-1.0, 1.0), (2, 4, 2), salt=34)
V = draw((-1.0, 1.0), (4,), salt=35)
W = draw((-1.0, 1.0), (3,), salt=36)
PLACES = np.array([2, 0, 1])
ONE = np.array(1)


def make(
    name: str,
    reference: Function,
    *args: Array,
    batched: bool = True,
    ours: Function | None = None,
    differentiated: tuple[int, ...] | None = None,
    **options: Any,
) -> Example:
    """An example that is differentiated by all arguments if they are float64, and vectorized over all arguments."""
    every = tuple(range(len(args)))
    gradient = every if all(a.dtype == np.float64 for a in args) else ()
    gradient = gradient if differentiated is None else differentiated
    function = partial(ours or getattr(arrays, name), **options)
    theirs = partial(reference, **options)
    return Example(
        name, "arrays", function, theirs, args, gradient, batched=every if batched else ()
    )


def _of_list(name: str, reference: Any, *args: Array) -> Example:
    def ours(*tensors: Any) -> Any:
        return getattr(arrays, name)(list(tensors))

    def theirs(*tensors: Any) -> Any:
        return reference(list(tensors))

    return make(name, theirs, *args, ours=ours)


def _part(name: str, reference: Any, x: Array, *arguments: Any, **options: Any) -> Example:
    """An example of a function with several results, of which the last is taken."""

    def ours(v: Any) -> Any:
        return getattr(arrays, name)(v, *arguments, **options)[-1]

    def theirs(v: Any) -> Any:
        return reference(v, *arguments, **options)[-1]

    return make(name, theirs, x, ours=ours)


def _blocks(of: Any) -> Callable[[Any, Any], Any]:
    return lambda x, y: of([[x, y], [y, x]])


def _packed(x: Any, y: Any) -> Any:
    return np.concatenate([x.ravel(), y.ravel()])


def _unpacked(x: Any) -> Any:
    return x[1:].reshape(1, 3)


def _changed(function: Any, x: Any, *arguments: Any) -> Any:
    """A copy of ``x`` that NumPy's function has written to."""
    function(copied := x.copy(), *arguments)
    return copied


def _with_reversed(v: Any) -> Any:
    return outer(v, v[::-1])


def _over_axes(x: Any) -> Any:
    return arrays.apply_over_axes(lambda v, axis: v.sum(axis), x, (0, 2))


_REDUCTIONS: list[tuple[str, np.ufunc, float]] = [
    ("segment_sum", np.add, 0.0),
    ("segment_prod", np.multiply, 1.0),
    ("segment_max", np.maximum, -np.inf),
    ("segment_min", np.minimum, np.inf),
]
IDS = np.array([2, 0, 2, 0])


def _in_segments(name: str) -> Callable[[Any], Any]:
    return lambda x: getattr(arrays, name)(x, IDS, 3)


def _segments(name: str, ufunc: np.ufunc, of_none: float) -> Example:
    """An example with an empty segment, whose result is left out, since it may be infinite."""

    def theirs(x: Any) -> Any:
        return np.array([ufunc.reduce(x[k == IDS], initial=of_none) for k in (0, 2)])

    return make(name, theirs, V, ours=lambda x: _in_segments(name)(x)[::2])


def _logsumexp_of_segments(x: Any) -> Any:
    return np.log([np.exp(x[k == IDS]).sum() if k in IDS else 1.0 for k in range(3)])


def _softmax_of_segments(x: Any) -> Any:
    return np.exp(x) / np.array([np.exp(x[k == IDS]).sum() for k in IDS])


EXAMPLES: list[Example] = [
    *(
        _of_list(name, getattr(np, name), *args)
        for name in ("hstack", "vstack", "dstack", "column_stack")
        for args in ((A, B), (V, V))
    ),
    _of_list("row_stack", np.vstack, A, W),
    _of_list("concat", np.concatenate, A, B),
    make("block", _blocks(np.block), A, B, ours=_blocks(arrays.block)),
    make("append", np.append, A, W),
    make("append", np.append, A, B, axis=1),
    make(
        "insert",
        lambda x, v: np.insert(x, 1, v, 1),
        A,
        draw((-1.0, 1.0), (2,), salt=37),
        ours=lambda x, v: arrays.insert(x, 1, v, 1),
    ),
    make(
        "insert",
        lambda x, v: np.insert(x, [2, 0, 2], v),
        V,
        W,
        ours=lambda x, v: arrays.insert(x, [2, 0, 2], v),
        batched=False,
    ),
    make(
        "insert",
        lambda x, i, v: np.insert(x, i, v, 1),
        A,
        ONE,
        draw((-1.0, 1.0), (2, 2), salt=38),
        ours=lambda x, i, v: arrays.insert(x, i, v, 1),
        differentiated=(0, 2),
    ),
    make(
        "insert",
        lambda x, i, v: np.insert(x, i, v),
        V,
        PLACES[:1],
        W,
        ours=lambda x, i, v: arrays.insert(x, i, v),
        differentiated=(0, 2),
        batched=False,
    ),
    make(
        "delete",
        lambda x, i: np.delete(x, i, 1),
        A,
        ONE,
        ours=lambda x, i: arrays.delete(x, i, 1),
        differentiated=(0,),
    ),
    make("roll", np.roll, A, shift=2, axis=1),
    make("roll", np.roll, A, shift=-1),
    make(
        "roll",
        lambda x, k: np.roll(x, k, 1),
        T,
        -ONE,
        ours=lambda x, k: arrays.roll(x, k, 1),
        differentiated=(0,),
    ),
    make("delete", lambda x: np.delete(x, 1, 1), A, ours=lambda x: arrays.delete(x, 1, 1)),
    make("delete", lambda x: np.delete(x, [0, -1]), V, ours=lambda x: arrays.delete(x, [0, -1])),
    *(
        _part(name, getattr(np, name), T, 2)
        for name in ("array_split", "hsplit", "vsplit", "dsplit")
    ),
    _part("array_split", np.array_split, V, 3),
    make(
        "unstack",
        lambda x: x[:, -1],
        A,
        ours=lambda x: arrays.unstack(specify_shape(x, (2, 3)), axis=1)[-1],
        batched=False,
    ),
    *(make("rot90", np.rot90, A, k=k) for k in (1, 2, 3)),
    make("fliplr", np.fliplr, A),
    make("flipud", np.flipud, A),
    make("permute_dims", np.transpose, T, axes=(2, 0, 1)),
    make("rollaxis", np.rollaxis, T, axis=2),
    make("resize", np.resize, A, new_shape=(2, 4)),
    Example(
        "trim_zeros",
        "arrays",
        arrays.trim_zeros,
        np.trim_zeros,
        (np.array([0.0, 0.0, 1.5, 0.0, 2.0, 0.0]),),
    ),
    make(
        "meshgrid",
        lambda x, y: _NUMPY.meshgrid(x, y)[0],
        V,
        W,
        ours=lambda x, y: arrays.meshgrid(x, y)[0],
    ),
    make(
        "indices",
        lambda x: x * np.indices((2, 3))[1],
        A,
        ours=lambda x: arrays.indices((2, 3))[1] * x,
    ),
    make(
        "ix_",
        lambda x: x[np.ix_([0, 2], [1, 2, 0])],
        S,
        ours=lambda x: x[arrays.ix_([0, 2], [1, 2, 0])],
    ),
    make(
        "diag_indices", lambda x: x[np.diag_indices(3)], S, ours=lambda x: x[arrays.diag_indices(3)]
    ),
    make(
        "diag_indices_from",
        lambda x: x[np.diag_indices_from(x)],
        S,
        ours=lambda x: x[arrays.diag_indices_from(x)],
    ),
    make("identity_like", lambda x: np.eye(*x.shape), A),
    make(
        "tril_indices",
        lambda k: np.tril_indices(int(k))[0],
        np.array(4),
        batched=False,
        ours=lambda k: arrays.tril_indices(k)[0],
    ),
    make(
        "triu_indices",
        lambda k: np.triu_indices(int(k), 1)[1],
        np.array(4),
        batched=False,
        ours=lambda k: arrays.triu_indices(k, 1)[1],
    ),
    make(
        "mask_indices",
        lambda x: x[np.triu_indices(3)],
        S,
        ours=lambda x: x[arrays.mask_indices(3, triu)],
    ),
    make("diagflat", np.diagflat, A, k=1),
    make("vander", np.vander, W, N=4),
    make("to_one_hot", lambda y: np.eye(3)[y], PLACES, ours=lambda y: arrays.to_one_hot(y, 3)),
    make("pack", _packed, A, W, ours=lambda x, y: arrays.pack(x, y)[0]),
    make("unpack", _unpacked, V, ours=lambda x: arrays.unpack(x, [(1, 1), (1, 3)])[1]),
    make(
        "select",
        lambda x, y: np.select([x > 0.2, y > 0], [x, x * y], 2.0),
        A,
        B,
        ours=lambda x, y: arrays.select([x > 0.2, y > 0], [x, x * y], 2.0),
    ),
    make(
        "piecewise",
        lambda x: np.piecewise(x, [x > 0.2, x < -0.2], [np.exp, 3.0, np.sin]),
        A,
        ours=lambda x: arrays.piecewise(x, [x > 0.2, x < -0.2], [exp, 3.0, sin]),
    ),
    make(
        "extract",
        lambda x: np.extract(S > 0, x),
        S,
        ours=lambda x: arrays.extract(S > 0, x),
    ),
    make(
        "put",
        lambda x, v: _changed(np.put, x, [5, 0], v),
        A,
        W,
        ours=lambda x, v: arrays.put(x, [5, 0], v, inplace=False),
    ),
    make(
        "place",
        lambda x, v: _changed(np.place, x, S > 0, v),
        S,
        W,
        ours=lambda x, v: arrays.place(x, S > 0, v, inplace=False),
    ),
    make(
        "put_along_axis",
        lambda x, v: _changed(np.put_along_axis, x, PLACES[None], v, 1),
        S,
        W,
        ours=lambda x, v: arrays.put_along_axis(x, PLACES[None], v, 1, inplace=False),
        batched=False,
    ),
    make(
        "apply_along_axis",
        lambda x: np.apply_along_axis(lambda v: np.outer(v, v[::-1]), 1, x),
        T,
        ours=lambda x: arrays.apply_along_axis(_with_reversed, 1, x),
    ),
    make("apply_over_axes", lambda x: x.sum((0, 2), keepdims=True), T, ours=_over_axes),
    make(
        "view_as_blocks",
        lambda x: x.reshape(1, 2, 2, 2, 1, 2).transpose(0, 2, 4, 1, 3, 5),
        T,
        ours=lambda x: arrays.view_as_blocks(x, (2, 2, 2)),
    ),
    make(
        "view_as_windows",
        lambda x: np.lib.stride_tricks.sliding_window_view(x, (2, 3))[:, ::2],
        S,
        ours=lambda x: arrays.view_as_windows(x, (2, 3), (1, 2)),
    ),
    make("array_equal", np.array_equal, PLACES, PLACES),
    *(_segments(name, ufunc, of_none) for name, ufunc, of_none in _REDUCTIONS),
    make(
        "segment_logsumexp",
        lambda x: _logsumexp_of_segments(x)[::2],
        V,
        ours=lambda x: _in_segments("segment_logsumexp")(x)[::2],
    ),
    make("segment_softmax", _softmax_of_segments, V, ours=_in_segments("segment_softmax")),
]
