"""Without SciPy: functions that need it name the extra to install, and all others work."""

from __future__ import annotations

import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from occelo_graph.interpret import evaluate
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger, _routine
from occelo_testing.checks import close, symbolic
from occelo_testing.examples import EXAMPLES

MESSAGE = "SciPy, which is not installed: pip install 'occelo-graph[special]'"


@pytest.fixture
def _no_scipy(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [n for n in sys.modules if n.startswith("scipy.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "scipy", None)
    _routine.cache_clear()


@pytest.mark.usefixtures("_no_scipy")
def test_every_op_works_or_names_what_to_install() -> None:
    refused: dict[str, str] = {}

    def evaluated() -> None:
        for example in EXAMPLES:
            inputs, output = symbolic(example)
            try:
                evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
            except ModuleNotFoundError as error:
                refused[example.name] = str(error)

    # in a thread that has kept no object of SciPy, such as the factors of a matrix
    with ThreadPoolExecutor(1) as pool:
        pool.submit(evaluated).result()
    assert {m for m in refused.values() if not m.endswith(MESSAGE)} == set()
    assert {"erf", "erfc", "erfcx"} <= set(refused)
    assert set(refused).isdisjoint({"exp", "sigmoid", "softplus", "dot", "sum"})


@pytest.mark.usefixtures("_no_scipy")
def test_updates_by_blas_are_computed_without_it() -> None:
    a, x = np.arange(6.0).reshape(2, 3), np.arange(3.0)
    z, y = np.ones((2, 2)), np.ones(2)
    close(evaluate(Gemm(False)(z, 2.0, a, a.T, 3.0), {}), 3 * z + 2 * a @ a.T, 1e-14)
    close(evaluate(Gemv(False)(y, 2.0, a, x, 3.0), {}), 3 * y + 2 * a @ x, 1e-14)
    close(evaluate(Ger(False)(a, 2.0, y, x), {}), a + 2 * np.outer(y, x), 1e-14)
    _routine.cache_clear()
