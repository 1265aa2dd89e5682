"""Example calls of medians, quantiles and percentiles."""

from __future__ import annotations

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting

_M = draw((-2.0, 2.0), (3, 5))
_T = draw((-2.0, 2.0), (2, 3, 4))
_NAN = np.array([[0.5, np.nan, -1.0, 2.0], [np.nan, 2.0, np.nan, 0.5], [1.0, 4.0, 2.5, -3.0]])
_WEIGHTS = draw("nonzero int", (3, 5), "float64")
_Q = np.array([0.1, 0.5, 0.95])

EXAMPLES: list[Example] = [
    Example("median", "sorting", sorting.median, np.median, (_M,), gradient=(0,)),
    Example(
        "median_over_axes",
        "sorting",
        lambda x: sorting.median(x, axis=(0, 2), keepdims=True),
        lambda x: np.median(x, axis=(0, 2), keepdims=True),
        (_T,),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "median_nan",
        "sorting",
        lambda x: sorting.median(x, axis=-1),
        lambda x: np.median(x, axis=-1),
        (_NAN,),
    ),
    Example(
        "nanmedian",
        "sorting",
        lambda x: sorting.nanmedian(x, axis=1),
        lambda x: np.nanmedian(x, axis=1),
        (_NAN,),
        batched=(0,),
    ),
    Example(
        "quantile",
        "sorting",
        lambda x, q: sorting.quantile(x, q, axis=1),
        lambda x, q: np.quantile(x, q, axis=1),
        (_M, _Q),
        gradient=(0,),
        batched=(0,),
    ),
    Example(
        "percentile",
        "sorting",
        lambda x: sorting.percentile(x, 30, axis=0, method="hazen"),
        lambda x: np.percentile(x, 30, axis=0, method="hazen"),
        (_M,),
        gradient=(0,),
    ),
    Example(
        "quantile_weighted",
        "sorting",
        lambda x, w: sorting.quantile(x, 0.4, axis=1, method="inverted_cdf", weights=w),
        lambda x, w: np.quantile(x, 0.4, axis=1, method="inverted_cdf", weights=w),
        (_M, _WEIGHTS),
    ),
    Example(
        "nanquantile",
        "sorting",
        lambda x: sorting.nanquantile(x, np.array([0.25, 0.5]), axis=1),
        lambda x: np.nanquantile(x, np.array([0.25, 0.5]), axis=1),
        (_NAN,),
    ),
    Example(
        "nanpercentile",
        "sorting",
        lambda x: sorting.nanpercentile(x, 60, method="nearest"),
        lambda x: np.nanpercentile(x, 60, method="nearest"),
        (_NAN,),
    ),
]
