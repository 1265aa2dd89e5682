"""Example calls of `sort` and `argsort`: equal elements, NaN, rows of several lengths, other axes than the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting
from occelo_sorting.ops.order_statistics import ArgOrderStatistics, OrderStatistics

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

_M = draw((-2.0, 2.0), (3, 5))
_T = draw((-2.0, 2.0), (2, 4, 3))
_NAN = np.array([[np.inf, np.nan, -1.0, -np.inf], [np.nan, 2.0, np.nan, 0.5]])
_TIES = draw("int", (3, 7), "int32")
_LONG = draw((-2.0, 2.0), (2, 70))
_MIDDLE = draw("int", (2, 40), "int16", 3)


def _stable(x: Array, axis: int = -1) -> Any:
    return np.argsort(x, axis=axis, kind="stable")


def _downward(x: Array) -> Any:
    return np.flip(np.sort(x))


def _stable_downward(x: Array) -> Any:
    return np.argsort(-x, axis=-1, kind="stable")


def _named(name: str, function: Any, reference: Any, *values: Any, **options: Any) -> list[Example]:
    return [
        Example(f"{name}_{i}", "sorting", function, reference, (v,), batched=(0,), **options)
        for i, v in enumerate(values)
    ]


_AT = np.array([3, 0, 3])


def _some_of(order: Any) -> Any:
    def some(x: Any, at: Any) -> Any:
        return order(x)[..., at]

    return some


EXAMPLES: list[Example] = [
    *(
        Example(
            f"{name}_{i}",
            "sorting",
            op(),
            _some_of(order),
            (v, _AT),
            batched=(0,),
            gradient=(0,) if op is OrderStatistics and v.dtype == "float64" and i < 2 else (),
        )
        for name, op, order in (
            ("order_statistics", OrderStatistics, np.sort),
            ("arg_order_statistics", ArgOrderStatistics, _stable),
        )
        for i, v in enumerate((_M, _LONG, _NAN, _TIES, draw("int", (2, 80), "uint8", 1)))
    ),
    *_named("sort", sorting.sort, np.sort, _M, _T, _M[0], _LONG, gradient=(0,)),
    *_named("sort_of", sorting.sort, np.sort, _NAN, _TIES, _MIDDLE, _TIES > 0, np.zeros((2, 0))),
    *_named("sort_of_long", sorting.sort, np.sort, draw("int", (2, 80), "uint8", 1)),
    *_named("sort_complex", sorting.sort, np.sort, draw((-1.0, 1.0), (2, 6), "complex128")),
    *_named("sort_float16", sorting.sort, np.sort, draw((-1.0, 1.0), (2, 6), "float16")),
    *_named("argsort", sorting.argsort, _stable, _M, _T, _NAN, _TIES, _MIDDLE, _LONG, _TIES > 0),
    *_named("argsort_complex", sorting.argsort, _stable, draw((-1.0, 1.0), (2, 6), "complex64")),
    Example(
        "sort_first_axis",
        "sorting",
        lambda x: sorting.sort(x, axis=0),
        lambda x: np.sort(x, axis=0),
        (_T,),
        gradient=(0,),
    ),
    Example(
        "sort_all",
        "sorting",
        lambda x: sorting.sort(x, axis=None, descending=True),
        lambda x: _downward(x.ravel()),
        (_M,),
        gradient=(0,),
    ),
    Example(
        "argsort_middle_axis",
        "sorting",
        lambda x: sorting.argsort(x, axis=1),
        lambda x: _stable(x, 1),
        (_T,),
    ),
    Example(
        "argsort_descending",
        "sorting",
        lambda x: sorting.argsort(x, descending=True),
        _stable_downward,
        (_TIES,),
    ),
]
