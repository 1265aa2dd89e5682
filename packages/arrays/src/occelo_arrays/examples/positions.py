"""Example calls of functions of positions, of padding, of spaced numbers and of covariances, with NumPy's as references."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_graph.examples.example import Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

_NUMPY: Any = np
_REAL = (-2.5, 2.5)
A = draw(_REAL, (2, 3))
V = draw(_REAL, (3,), salt=2)
S = draw(_REAL, (), salt=4)
M = draw("bool", (2, 3))
N = np.array(3)
ORDER = np.array([2, 0, 1])


def _make(
    name: str,
    function: TensorFunction,
    reference: ArrayFunction,
    *args: Array,
    grad: tuple[int, ...] = (0,),
    batched: tuple[int, ...] = (0,),
) -> Example:
    return Example(name, "arrays", function, reference, args, grad, batched=batched)


def _filled_diagonal(x: Any) -> Any:
    result = x.copy()
    np.fill_diagonal(result, 9)
    return result


EXAMPLES: list[Example] = [
    _make("fill_diagonal", lambda x: arrays.fill_diagonal(x, 9), _filled_diagonal, A),
    _make(
        "compress",
        lambda m, x: arrays.compress(m, x, axis=1),
        lambda m, x: np.compress(m, x, axis=1),
        np.array([True, False, True]),
        A,
        grad=(1,),
        batched=(),
    ),
    _make(
        "compress",
        lambda m, x: arrays.compress(m, x, axis=1, size=4, fill_value=9),
        lambda m, x: np.hstack([np.compress(m, x, axis=1), [[9.0, 9.0], [9.0, 9.0]]]),
        np.array([True, False, True]),
        A,
        grad=(1,),
        batched=(0, 1),
    ),
    _make(
        "extract",
        lambda m, x: arrays.extract(m, x, size=2),
        lambda m, x: np.append(np.extract(m, x), [0.0, 0.0])[:2],
        M,
        A,
        grad=(1,),
        batched=(0, 1),
    ),
    _make(
        "choose",
        lambda i, x, z: arrays.choose(i, [x, z]),
        lambda i, x, z: np.choose(i, [x, z]),
        M.astype("int64"),
        A,
        2 * A,
        grad=(1, 2),
    ),
    _make("inverse_permutation", arrays.inverse_permutation, np.argsort, ORDER, grad=()),
    _make("permute_row_elements", arrays.permute_row_elements, lambda x, p: x[:, p], A, ORDER),
    _make(
        "unravel_index",
        lambda i: arrays.unravel_index(i, (2, 3))[1],
        lambda i: np.unravel_index(i, (2, 3))[1],
        np.array([0, 4, 5]),
        grad=(),
    ),
    _make(
        "ravel_multi_index",
        lambda i: arrays.ravel_multi_index((i, i), (2, 3)),
        lambda i: np.ravel_multi_index((i, i), (2, 3)),
        np.array([0, 1]),
        grad=(),
    ),
    *(
        _make(
            "pad",
            partial(arrays.pad, pad_width=((1, 2), (2, 1)), mode=mode),
            partial(_NUMPY.pad, pad_width=((1, 2), (2, 1)), mode=mode),
            draw(_REAL, (4, 3)),
        )
        for mode in ("constant", "edge", "reflect", "symmetric", "wrap")
    ),
    *(
        _make(
            "pad",
            arrays.pad,
            np.pad,
            A,
            np.array(widths),
        )
        for widths in ([[1, 0], [0, 2]], [[2, 1]], [[1], [2]], [0, 1], [2])
    ),
    _make(
        "vertical_stack", arrays.vertical_stack, lambda x, z: np.vstack([x, z]), A, V, grad=(0, 1)
    ),
    _make(
        "horizontal_stack",
        arrays.horizontal_stack,
        lambda x, z: np.hstack([x, z]),
        A,
        A,
        grad=(0, 1),
    ),
    _make("cov", arrays.cov, np.cov, A),
    _make(
        "cov",
        lambda x: arrays.cov(x, x[:1], bias=True),
        lambda x: np.cov(x, x[:1], bias=True),
        A,
    ),
    _make(
        "linspace",
        lambda a, b: arrays.linspace(a, b, 5),
        lambda a, b: np.linspace(a, b, 5),
        S,
        np.array(4.0),
        grad=(0, 1),
        batched=(),
    ),
    _make(
        "linspace",
        lambda a: arrays.linspace(a, 2.0, 4, endpoint=False),
        lambda a: np.linspace(a, 2.0, 4, endpoint=False),
        V,
        grad=(),
        batched=(),
    ),
    _make(
        "logspace",
        lambda a: arrays.logspace(a, 2.0, 4),
        lambda a: np.logspace(a, 2.0, 4),
        np.array(0.5),
        batched=(),
    ),
    _make(
        "geomspace",
        lambda a: arrays.geomspace(a, 16.0, 4),
        lambda a: np.geomspace(a, 16.0, 4),
        np.array(2.0),
        grad=(),
        batched=(),
    ),
    _make("bartlett", arrays.bartlett, lambda k: np.bartlett(int(k)), N, grad=(), batched=()),
    _make(
        "mgrid",
        lambda k: arrays.mgrid[0:k, 1:3][1],
        lambda k: np.mgrid[0 : int(k), 1:3][1],
        N,
        grad=(),
        batched=(),
    ),
    _make(
        "ogrid",
        lambda k: arrays.ogrid[0:k, 1:3][0],
        lambda k: np.ogrid[0 : int(k), 1:3][0],
        N,
        grad=(),
        batched=(),
    ),
]
