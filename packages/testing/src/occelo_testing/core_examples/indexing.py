"""Examples of the family index: reads, writes, `take` and functions composed of them.

`structure` includes them, so they are part of the table in `examples`.
"""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.examples.example import Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction
    from occelo_graph.tensors.variable import TensorVariable

REAL = (-2.5, 2.5)
A = draw(REAL, (2, 3))
V = draw(REAL, (3,), salt=2)
T = draw(REAL, (2, 3, 4), salt=3)
M = draw("bool", (2, 3))
IDX = np.array([2, 0, 2, -1])
WITH_ZEROS = np.array([[1.5, 0.0, 2.0], [0.0, -1.0, 0.0]])


def _index() -> list[Example]:
    def make(
        name: str,
        function: TensorFunction,
        reference: ArrayFunction,
        *args: Array,
        grad: tuple[int, ...] = (0,),
        batched: tuple[int, ...] = (0,),
    ) -> Example:
        return Example(name, "index", function, reference, args, grad, 1e-12, batched)

    one, idx2 = np.array(1), np.array([[0, 1], [1, 1]])
    y = draw(REAL, (4,), salt=9)

    def setter(key: Any, value: Any, inc: bool = False) -> Any:
        def run(x: Any) -> Any:
            x = x.copy()
            if inc:
                np.add.at(x, key, np.broadcast_to(value, x[key].shape))
            else:
                x[key] = value
            return x

        return run

    keys: list[Any] = [
        (0,),
        (-1, slice(None)),
        (slice(None, None, -1),),
        (slice(1, None), slice(None, 2)),
        (Ellipsis, 1),
        (None, 0),
        (slice(None), None, slice(0, 3, 2)),
        (slice(5, 1, -2),),
        ([1, 0, 1],),
        (slice(None), [0, 2, 2]),
        ([0, 1], slice(None), [1, 3]),
        ([[0, 1], [1, 1]], slice(1, None)),
        (0, slice(None), [1, 3, 3]),
        (slice(None), [0, 2], 1),
        (None, [1, 0], slice(None), None),
    ]
    by_key = [make("getitem", partial(_read, key=key), partial(_read, key=key), T) for key in keys]
    for key in keys[:4] + keys[8:14]:
        by_key.append(make("set", partial(_set_number, key=key), setter(key, 2.5), T))
        by_key.append(make("inc", partial(_increased, key=key), setter(key, 1.5, True), T))
    return [
        *by_key,
        make("getitem", lambda x, i: x[i], lambda x, i: x[int(i)], T, one, batched=(0, 1)),
        make("getitem", lambda x, i: x[:, i:], lambda x, i: x[:, int(i) :], T, one),
        make("getitem", lambda x, i: x[i::-1], lambda x, i: x[int(i) :: -1], V, one),
        make("getitem", lambda x, i: x[::i], lambda x, i: x[:: int(i)], V, np.array(-2)),
        make(
            "getitem",
            lambda x, i: x[:, i],
            lambda x, i: x[:, i],
            T,
            np.array([0, 2, 1]),
            batched=(0, 1),
        ),
        make("getitem", lambda x, i: x[i], lambda x, i: x[i], T, idx2, batched=(0, 1)),
        make(
            "getitem",
            lambda x, i: x[i, :, i],
            lambda x, i: x[i, :, i],
            T,
            np.array([0, 1]),
            batched=(0, 1),
        ),
        make("getitem", lambda x, m: x[m], lambda x, m: x[m], A, M, batched=()),
        make(
            "getitem",
            lambda x, m: x[:, m],
            lambda x, m: x[:, m],
            A,
            np.array([True, False, True]),
            batched=(),
        ),
        make(
            "set",
            lambda x, y, i: x[i].set(y),
            lambda x, y, i: setter(i, y)(x),
            draw(REAL, (5,)),
            y[:3],
            np.array([4, 0, 1]),
            grad=(0, 1),
            batched=(0, 1, 2),
        ),
        make(
            "inc",
            lambda x, y, i: x[i].inc(y),
            lambda x, y, i: setter(i, y, True)(x),
            V,
            y,
            IDX,
            grad=(0, 1),
            batched=(0, 1, 2),
        ),
        make(
            "inc",
            lambda x, y, i: x[:, i].inc(y),
            lambda x, y, i: setter((slice(None), i), y, True)(x),
            A,
            draw(REAL, (2, 4)),
            IDX,
            grad=(0, 1),
            batched=(0, 1, 2),
        ),
        make(
            "set",
            lambda x, y: x[1:].set(y),
            lambda x, y: setter(slice(1, None), y)(x),
            A,
            V,
            grad=(0, 1),
            batched=(0, 1),
        ),
        make("set", lambda x, m: x[m].set(0.5), lambda x, m: setter(m, 0.5)(x), A, M, batched=()),
        make(
            "inc",
            lambda x, i: x[i].inc(2.0),
            lambda x, i: setter(int(i), 2.0, True)(x),
            A,
            one,
            batched=(0, 1),
        ),
        make(
            "take",
            lambda x, i: ot.take(x, i, 1),
            lambda x, i: np.take(x, i, 1),
            A,
            IDX,
            batched=(0, 1),
        ),
        make(
            "take",
            lambda x, i: ot.take(x, i, mode="wrap"),
            lambda x, i: np.take(x, i, mode="wrap"),
            A,
            np.array([7, -8]),
        ),
        make(
            "take",
            lambda x, i: ot.take(x, i, 0, "clip"),
            lambda x, i: np.take(x, i, 0, mode="clip"),
            A,
            np.array([7, 0]),
        ),
        make(
            "take_along_axis",
            lambda x, i: ot.take_along_axis(x, i, 1),
            lambda x, i: np.take_along_axis(x, i, 1),
            A,
            np.array([[0, 2], [1, 1]]),
            batched=(0, 1),
        ),
        make(
            "nonzero",
            lambda m: ot.nonzero(m, size=4, fill_value=(8, 9))[1],
            lambda m: np.append(np.nonzero(m)[1], [9] * 4)[:4],
            M,
            grad=(),
            batched=(0,),
        ),
        make(
            "nonzero",
            lambda m: ot.nonzero(m)[1],
            lambda m: np.nonzero(m)[1],
            M,
            grad=(),
            batched=(),
        ),
        make("flatnonzero", ot.flatnonzero, np.flatnonzero, M, grad=(), batched=()),
        make(
            "nonzero_values",
            ot.nonzero_values,
            lambda x: x[x != 0],
            WITH_ZEROS,
            grad=(),
            batched=(),
        ),
        make("diagonal", lambda x: ot.diagonal(x, 1), lambda x: np.diagonal(x, 1), A),
        make("diagonal", lambda x: ot.diagonal(x, -1, 0, 2), lambda x: np.diagonal(x, -1, 0, 2), T),
        make("diag", lambda x: ot.diag(x, 1), lambda x: np.diag(x, 1), V),
        make("diag", ot.diag, np.diag, A),
    ]


def _read(x: Any, key: Any) -> Any:
    return x[key]


def _set_number(x: TensorVariable, key: Any) -> TensorVariable:
    return x[key].set(2.5)


def _increased(x: TensorVariable, key: Any) -> TensorVariable:
    return x[key].inc(1.5)


EXAMPLES: list[Example] = _index()
