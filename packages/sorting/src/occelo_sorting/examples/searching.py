"""Example calls of `searchsorted`, `topk` and their relatives."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting
from occelo_sorting.ops.searching import SearchSorted

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

_M = draw((-2.0, 2.0), (3, 5))
_ROW = np.array([-1.0, 0.5, 0.5, 0.5, 2.0, np.nan])
_AT = np.array([[0.5, np.nan, -5.0], [np.inf, -np.inf, 1.0]])
_ROWS = np.sort(draw((-2.0, 2.0), (3, 4)))
_INTEGERS = np.sort(draw("int", (9,), "int32"))
_FALLING = np.array([3.0, 1.0, 1.0, -2.0])


def _of_rows(a: Array, v: Array) -> Any:
    positions: list[Any] = [np.searchsorted(a[i], v[i], "right") for i in range(len(a))]
    return np.array(positions)


EXAMPLES: list[Example] = [
    Example(
        "searchsorted",
        "sorting",
        sorting.searchsorted,
        np.searchsorted,
        (_ROW, _AT),
        batched=(1,),
    ),
    Example(
        "searchsorted_right",
        "sorting",
        lambda a, v: sorting.searchsorted(a, v, "right"),
        lambda a, v: np.searchsorted(a, v, "right"),
        (_ROW, _AT),
    ),
    Example(
        "searchsorted_integers",
        "sorting",
        sorting.searchsorted,
        np.searchsorted,
        (_INTEGERS, draw("int", (4,), "int32", 1)),
    ),
    Example(
        "searchsorted_complex",
        "sorting",
        sorting.searchsorted,
        np.searchsorted,
        (np.sort(draw((-1.0, 1.0), (5,), "complex128")), draw((-1.0, 1.0), (3,), "complex128", 1)),
    ),
    Example(
        "searchsorted_by_order",
        "sorting",
        lambda a, v: sorting.searchsorted(a, v, sorter=sorting.argsort(a)),
        lambda a, v: np.searchsorted(a, v, sorter=np.argsort(a)),
        (_M[0], _M[1]),
    ),
    Example(
        "searchsorted_in_rows",
        "sorting",
        lambda a, v: SearchSorted("right")(a, v),
        _of_rows,
        (_ROWS, _M[:, :3]),
        batched=(0, 1),
    ),
    Example("digitize", "sorting", sorting.digitize, np.digitize, (_AT, _ROW[:5])),
    Example(
        "digitize_falling",
        "sorting",
        lambda x, bins: sorting.digitize(x, bins, right=True),
        lambda x, bins: np.digitize(x, bins, right=True),
        (_AT[:, ::2], _FALLING),
    ),
    Example(
        "topk",
        "sorting",
        lambda x: sorting.topk(x, 2),
        lambda x: np.sort(x)[:, :-3:-1],
        (_M,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "topk_smallest",
        "sorting",
        lambda x: sorting.topk(x, -2, axis=0),
        lambda x: np.sort(x, axis=0)[:2],
        (_M,),
        gradient=(0,),
    ),
    Example(
        "argtopk",
        "sorting",
        lambda x: sorting.argtopk(x, 3, axis=None),
        lambda x: np.argsort(-x.ravel())[:3],
        (_M,),
    ),
    Example(
        "top_k",
        "sorting",
        lambda x: sorting.top_k(x, 2, mode="smallest")[0],
        lambda x: np.sort(x)[..., :2],
        (_M,),
    ),
    Example(
        "topk_and_argtopk",
        "sorting",
        lambda x: sorting.topk_and_argtopk(x, 1)[1],
        lambda x: np.argmax(x, axis=-1, keepdims=True),
        (_M,),
    ),
    Example(
        "partition",
        "sorting",
        lambda x: sorting.partition(x, 2)[..., 2],
        lambda x: np.partition(x, 2)[..., 2],
        (_M,),
        gradient=(0,),
    ),
    Example(
        "argpartition",
        "sorting",
        lambda x: sorting.argpartition(x, 1, axis=0)[1],
        lambda x: np.argsort(x, axis=0)[1],
        (_M,),
    ),
    Example(
        "lexsort",
        "sorting",
        lambda x, y: sorting.lexsort((x, y)),
        lambda x, y: np.lexsort((x, y)),
        (draw("int", (3, 6), "int64", 4), draw("int", (3, 6), "int64", 5) // 4),
    ),
]
