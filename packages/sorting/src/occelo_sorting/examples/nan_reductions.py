"""Example calls of reductions that ignore NaN."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting

_M = draw((-2.0, 2.0), (3, 5))
_NAN = np.where(draw("bool", (3, 5), salt=2), _M, np.nan)
_NAN[:, 0] = _M[:, 0]
_INTEGERS = draw("int", (3, 5), "int64", 9)


def _rows_of(name: str, ours: Any, theirs: Any) -> list[Example]:
    def along(function: Any) -> Any:
        return functools.partial(function, axis=1)

    return [
        Example(name, "sorting", along(ours), along(theirs), (_NAN,), batched=(0,)),
        Example(f"{name}_of_numbers", "sorting", along(ours), along(theirs), (_M,), gradient=(0,)),
        Example(f"{name}_of_integers", "sorting", ours, theirs, (_INTEGERS,)),
    ]


EXAMPLES: list[Example] = [
    *_rows_of("nansum", sorting.nansum, np.nansum),
    *_rows_of("nanprod", sorting.nanprod, np.nanprod),
    *_rows_of("nanmax", sorting.nanmax, np.nanmax),
    *_rows_of("nanmin", sorting.nanmin, np.nanmin),
    *_rows_of("nanmean", sorting.nanmean, np.nanmean),
    *_rows_of("nanvar", sorting.nanvar, np.nanvar),
    *_rows_of("nanstd", sorting.nanstd, np.nanstd),
    *_rows_of("nancumsum", sorting.nancumsum, np.nancumsum),
    *_rows_of("nancumprod", sorting.nancumprod, np.nancumprod),
    Example("nanargmax", "sorting", sorting.nanargmax, np.nanargmax, (_NAN,)),
    Example(
        "nanargmin",
        "sorting",
        lambda x: sorting.nanargmin(x, axis=0),
        lambda x: np.nanargmin(x, axis=0),
        (_NAN[:, :1],),
    ),
]
