"""Negative lengths: refused as NumPy refuses them, also where a rule reads no element of the tensor."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from occelo_compile import Mode, function
from occelo_graph import tensor as ot

CASES: dict[str, tuple[Callable[..., Any], Callable[..., Any]]] = {
    "sum": (lambda x, n: ot.alloc(x, n).sum(), lambda x, n: np.full(n, x).sum()),
    "mean": (lambda x, n: ot.alloc(x, n, 2).mean(), lambda x, n: np.full((n, 2), x).mean()),
    "product": (lambda x, n: ot.alloc(x, n).prod(), lambda x, n: np.full(n, x).prod()),
    "broadcast": (
        lambda x, n: ot.broadcast_to(x, (n,)).sum(),
        lambda x, n: np.broadcast_to(x, (n,)).sum(),
    ),
    "eye": (lambda x, n: ot.eye(n).sum() + x, lambda x, n: np.eye(n).sum() + x),
}


@pytest.mark.parametrize("linker", ["py", "vm", "native", "c", "numba"])
@pytest.mark.parametrize("rewritten", [True, False])
@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("case", CASES)
def test_negative_lengths_are_refused_and_others_are_not(
    case: str, known: bool, rewritten: bool, linker: str
) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")
    symbolic, by_numpy = CASES[case]
    mode = Mode(linker, "fast_run" if rewritten else None)
    x, n = ot.dscalar("x"), ot.lscalar("n")
    for length in (-3, 0, 1, 4):
        if length == 0 and case == "mean":
            continue
        if known:
            given = {n: ot.constant(length)}
            f = function([x], symbolic(x, n), mode=mode, givens=given, on_unused_input="ignore")
            arguments: tuple[Any, ...] = (1.5,)
        else:
            f = function([x, n], symbolic(x, n), mode=mode)
            arguments = (1.5, length)
        if length < 0:
            with pytest.raises(ValueError, match="negative dimensions are not allowed"):
                f(*arguments)
        else:
            np.testing.assert_allclose(f(*arguments), by_numpy(1.5, length), rtol=1e-14)
