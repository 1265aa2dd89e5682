"""Functions of arrays whose lengths are of a batch: all equal, or there is an error when the graph runs."""

from __future__ import annotations

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot


@pytest.mark.parametrize("mode", ["py", "native", "vm"])
def test_lengths_of_linspace(mode: str) -> None:
    start, count = ot.dscalar("start"), ot.lscalar("count")
    starts, counts = ot.dvector("starts"), ot.lvector("counts")
    made = og.vectorize_graph(arrays.linspace(start, 4.0, count), {start: starts, count: counts})
    weights = ot.sqrt(1.0 + ot.arange(made.size)).reshape(made.shape)
    f = oc.function([starts, counts], [made, og.grad((made * weights).sum(), starts)], mode=mode)
    one = np.linspace(1.0, 0.0, 3)
    for batch in (4, 1):
        values = np.array([0.5, 2.0, -1.0, 3.0])[:batch]
        rows, slopes = f(values, np.full(batch, 3))
        np.testing.assert_allclose(rows, [np.linspace(v, 4.0, 3) for v in values], rtol=1e-14)
        sizes = np.sqrt(1.0 + np.arange(rows.size)).reshape(rows.shape)
        np.testing.assert_allclose(slopes, sizes @ one, rtol=1e-12)
    with pytest.raises(ValueError, match="ARange"):
        f([0.5, 2.0], [3, 2])
