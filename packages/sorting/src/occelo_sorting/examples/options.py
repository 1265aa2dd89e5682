"""Examples of keywords of reductions that ignore NaN and of quantiles: masks, first values, dtypes, weights.

They have the names of the functions' other examples, so that samples of the table take one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.examples.example import Example, draw
from occelo_sorting import functions as sorting

if TYPE_CHECKING:
    from collections.abc import Callable

_M = draw((-2.0, 2.0), (3, 5), salt=41)
_MASK = draw("bool", (3, 5), salt=42)
_MASK[:, :2] = True
_NAN = np.where(draw("bool", (3, 5), salt=43), _M, np.nan)
_NAN[:, :2] = _M[:, :2]
_COMPLEX = np.where(
    _MASK, draw("int", (3, 5), "float64", salt=45) + 1j * _M, complex(np.nan, -np.inf)
)
_WEIGHTS = draw("nonzero int", (5,), "float64", salt=44)
_Q = np.array([0.2, 0.7])


def _row(name: str, *arguments: Any, mask: bool = False, **options: Any) -> Example:
    """An example of the function of this name here and in NumPy, with the same keywords, and with ``mask`` of chosen elements."""

    def side(module: Any) -> Callable[..., Any]:
        def reduced(x: Any, *chosen: Any) -> Any:
            masks = {"where": chosen[0]} if mask else {}
            own = x.copy() if module is np else x  # which NumPy may overwrite
            return getattr(module, name)(own, **masks, **options)

        return reduced

    grad = () if np.isnan(arguments[0]).any() or "dtype" in options else (0,)
    own = (*arguments, _MASK) if mask else arguments
    return Example(name, "sorting", side(sorting), side(np), own, grad, 1e-6, (0,))


def _weighted(name: str, x: Any, q: Any, **options: Any) -> Example:
    def side(module: Any) -> Callable[..., Any]:
        def weighted(x: Any, w: Any) -> Any:
            return getattr(module, name)(x, q, weights=w, method="inverted_cdf", **options)

        return weighted

    # NumPy's functions that ignore NaN read a weight for each element
    weights = np.tile(_WEIGHTS, (3, 1)) if name.startswith("nan") else _WEIGHTS
    return Example(name, "sorting", side(sorting), side(np), (x, weights))


EXAMPLES: list[Example] = [
    _row("nansum", _NAN, mask=True, axis=1, initial=0.5),
    _row("nansum", _NAN, axis=0, dtype="float32"),
    _row("nanprod", _NAN, mask=True, axis=1, initial=-2.0, keepdims=True),
    _row("nanmax", _COMPLEX, axis=1),
    _row("nanmin", _COMPLEX, axis=0),
    _row("nanmax", _NAN, mask=True, axis=1, initial=-9.0),
    _row("nanmin", _NAN, mask=True, axis=(0, 1), initial=0.5),
    _row("nanmean", _NAN, mask=True, axis=1),
    _row("nanmean", _NAN, axis=1, dtype="float32"),
    _row("nanvar", _M, mask=True, axis=1, correction=1),
    _row("nanvar", _NAN, axis=1, mean=np.nanmean(_NAN, axis=1, keepdims=True)),
    _row("nanstd", _NAN, mask=True, axis=1, ddof=1),
    _row("nancumsum", _NAN, axis=1, dtype="float32"),
    _row("median", _M, axis=1, overwrite_input=True),
    _weighted("quantile", _M, _Q, axis=1),
    _weighted("percentile", _M, 40.0, axis=1, keepdims=True),
    _weighted("nanquantile", _NAN, _Q, axis=1),
    _weighted("nanpercentile", _NAN, 70.0, axis=1),
]
