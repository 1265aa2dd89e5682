"""Working memory is kept from call to call, also that of loops, whose bodies allocate it when they first run."""

from __future__ import annotations

import importlib
import sys
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_testing.looping import again

CALLS = 6
LENGTH = 40_000


def _page_faults() -> int:
    """The pages of memory that the kernel has given to this process so far."""
    resource = importlib.import_module("resource")
    faults: int = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    return faults


@pytest.mark.skipif(sys.platform == "win32", reason="Windows does not count page faults this way")
def test_a_loop_gets_no_new_memory_in_later_calls(mode: str) -> None:
    if mode not in ("native", "c", "numba"):
        pytest.skip("this linker leaves memory to Python or to another library")
    n, x, w = ot.lscalar("n"), ot.dmatrix("x"), ot.dmatrix("w")
    # each call reads its result alone, so the rest of the memory is working memory

    def step(x: Any, w: Any) -> list[Any]:
        return [w @ (w @ x) + x[:, ::-1], w]

    results = again(n, [x, w], step)
    f = oc.function([n, x, w], results[0].sum(), mode=mode)
    given = np.linspace(0.0, 1.0, 2 * LENGTH).reshape(2, LENGTH), np.full((2, 2), 0.5)
    expected = given[0]
    for _ in range(3):
        expected = given[1] @ (given[1] @ expected) + expected[:, ::-1]
    for _ in range(3):
        np.testing.assert_allclose(f(3, *given), expected.sum(), rtol=1e-10)
    before = _page_faults()
    for _ in range(CALLS):
        f(3, *given)
    pages_of_a_state = 2 * LENGTH * 8 // 4096
    assert _page_faults() - before < pages_of_a_state
