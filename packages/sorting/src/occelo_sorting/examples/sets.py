"""Example calls of `unique`, the functions of sets, counts and histograms."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_graph.tensor import specify_shape
from occelo_sorting import functions as sorting

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array

_I = draw("int", (3, 4), "int64", 7)
_J = draw("int", (6,), "int64", 8)
_F = np.array([0.5, np.nan, 2.0, 0.5, np.nan, -1.0])
_M = draw((-2.0, 2.0), (4, 5))
_WIDE = draw("bool", (4, 3, 4)).astype("float64")
_AT = np.array([1, 0, 4, 1, 1])
_W = draw((-2.0, 2.0), (5,))
_BITS = draw("bool", (5, 2)).astype("float64")


def _padded(x: Array) -> Any:
    values = np.unique(x)
    return np.append(values, np.full(10 - len(values), -7.0))


def _modes(x: Array) -> Any:
    rows: Any = x
    return np.array([min(row, key=lambda v: (-list(row).count(v), v)) for row in rows.tolist()])


EXAMPLES: list[Example] = [
    Example("unique", "sorting", sorting.unique, np.unique, (_F,), gradient=()),
    Example(
        "unique_positions",
        "sorting",
        lambda x: sorting.unique(x, return_index=True)[1],
        lambda x: np.unique(x, return_index=True)[1],
        (_I,),
    ),
    Example(
        "unique_rows",
        "sorting",
        lambda x: sorting.unique(specify_shape(x, (None, 2)), axis=0),
        lambda x: np.unique(x, axis=0),
        (_BITS,),
    ),
    Example(
        "unique_wide_rows",
        "sorting",
        lambda x: sorting.unique(x, axis=0, return_inverse=True)[0],
        lambda x: np.unique(x, axis=0),
        (_WIDE,),
    ),
    Example(
        "unique_of_size",
        "sorting",
        lambda x: sorting.unique(x, size=10, fill_value=-7.0),
        _padded,
        (_F,),
    ),
    Example(
        "unique_all",
        "sorting",
        lambda x: sorting.unique_all(x)[3],
        lambda x: np.unique(x, return_counts=True)[1],
        (_I,),
    ),
    Example(
        "unique_counts",
        "sorting",
        lambda x: sorting.unique_counts(x).counts,
        lambda x: np.unique(x, return_counts=True)[1],
        (_J,),
    ),
    Example(
        "unique_inverse",
        "sorting",
        lambda x: sorting.unique_inverse(x)[1],
        lambda x: np.unique(x, return_inverse=True)[1],
        (_I,),
    ),
    Example("unique_values", "sorting", sorting.unique_values, np.unique, (_I,)),
    Example("isin", "sorting", sorting.isin, np.isin, (_I, _J)),
    Example("union1d", "sorting", sorting.union1d, np.union1d, (_I, _F)),
    Example("intersect1d", "sorting", sorting.intersect1d, np.intersect1d, (_I, _J)),
    Example("setdiff1d", "sorting", sorting.setdiff1d, np.setdiff1d, (_I, _J)),
    Example("setxor1d", "sorting", sorting.setxor1d, np.setxor1d, (_I, _J)),
    Example(
        "bincount",
        "sorting",
        lambda x: sorting.bincount(x, minlength=3),
        lambda x: np.bincount(x, minlength=3),
        (_AT,),
    ),
    Example("bincount_weights", "sorting", sorting.bincount, np.bincount, (_AT, _W), gradient=(1,)),
    Example(
        "histogram",
        "sorting",
        lambda x: sorting.histogram(x, 4)[0],
        lambda x: np.histogram(x, 4)[0],
        (_M,),
    ),
    Example(
        "histogram_density",
        "sorting",
        lambda x, e: sorting.histogram(x, e, density=True)[0],
        lambda x, e: np.histogram(x, e, density=True)[0],
        (_M, np.array([-1.0, 0.0, 0.5, 2.0])),
    ),
    Example(
        "histogram_bin_edges",
        "sorting",
        lambda x: sorting.histogram_bin_edges(x, 4),
        lambda x: np.histogram_bin_edges(x, 4),
        (_M,),
    ),
    Example(
        "histogram2d",
        "sorting",
        lambda x, y: sorting.histogram2d(x, y, [3, 2])[0],
        lambda x, y: np.histogram2d(x, y, [3, 2])[0],
        (_M[0], _M[1]),
    ),
    Example(
        "histogramdd",
        "sorting",
        lambda x, y: sorting.histogramdd([x, y], 3, range=[(-1, 1), (0, 1)])[0],
        lambda x, y: np.histogramdd(np.stack([x, y], 1), 3, range=[(-1, 1), (0, 1)])[0],
        (_M[0], _M[1]),
    ),
    Example("mode", "sorting", lambda x: sorting.mode(x, axis=1).mode, _modes, (_I,)),
    Example(
        "count_nonzero",
        "sorting",
        lambda x: sorting.count_nonzero(x, axis=0),
        lambda x: np.count_nonzero(x, axis=0),
        (_I,),
    ),
    Example("argwhere", "sorting", sorting.argwhere, np.argwhere, (_I,)),
    Example(
        "argwhere",
        "sorting",
        lambda x: sorting.argwhere(x, size=3, fill_value=-1),
        lambda x: np.vstack([np.argwhere(x), [[-1, -1]] * 3])[:3],
        (_I,),
        batched=(0,),
    ),
]
