"""The linker ``numba``: the bits of ``native``, and functions for other code of Numba's."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot

numba = pytest.importorskip("numba", reason="numba is not installed")

from occelo_link.numba.linker import as_numba  # noqa: E402


def model(mode: str) -> tuple[Any, Any]:
    """A training step and its weights."""
    x, target = ot.dmatrix("x"), ot.dvector("target")
    w = oc.shared(np.linspace(-1.0, 1.0, 5), "w")
    cost = ot.log(1 + ot.exp(-target * (x @ w))).mean() + 0.1 * (ot.tanh(w) ** 2).sum()
    return oc.function([x, target], cost, updates={w: w - 0.1 * grad(cost, w)}, mode=mode), w


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))


def test_results_have_the_bits_of_native() -> None:
    mine, its = model("numba"), model("native")
    for _ in range(5):
        assert mine[0](*data()).tobytes() == its[0](*data()).tobytes()
    assert mine[1].get_value().tobytes() == its[1].get_value().tobytes()


def test_a_function_can_be_called_by_other_code_of_numba() -> None:
    x, k = ot.dvector("x"), ot.lscalar("k")
    w = oc.shared(np.array([1.0, 2.0, 3.0]), "w")
    f = oc.function([x, k], [(ot.exp(x) * w).sum(), x[k]], mode="numba")
    inner = as_numba(f)

    @numba.njit  # type: ignore[untyped-decorator]
    def total(rows: Any) -> Any:
        found = 0.0
        for i in range(rows.shape[0]):
            one, two = inner(rows[i], np.array(1))
            found += one[()] + two[()]
        return found

    rows = np.arange(6.0).reshape(2, 3)
    expected = sum(float(f(r, 1)[0] + f(r, 1)[1]) for r in rows)
    np.testing.assert_allclose(total(rows), expected)
    with pytest.raises(ValueError, match="A check of a compiled function failed"):
        inner(rows[0], np.array(7))
    with pytest.raises(TypeError, match="not one block compiled by Numba"):
        as_numba(oc.function([x], x * 2, mode="vm"))


def test_threads() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x).sum(), mode="numba")
    f(np.zeros(1))
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(50):
            value = np.full(seed + 1, i / 50)
            if not np.isclose(f(value), np.exp(value).sum()):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


def test_what_has_no_loops_runs_between_blocks() -> None:
    z = ot.zvector("z")
    with pytest.warns(UserWarning, match="numba has no .*: it runs in Python") as told:
        f = oc.function([z], abs(z * 2).sum(), mode="numba")
    assert len({str(t.message) for t in told}) == len(told)
    assert f(np.array([3 + 4j])) == 10.0
    with pytest.raises(NotImplementedError, match="it runs in Python"):
        oc.function([z], abs(z * 2), mode=oc.Mode("numba", strict=True))
