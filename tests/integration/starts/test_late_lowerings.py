"""The lowerings that a new process imports for its first function."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

FIRST = """
import json, sys
import numpy as np, occelo as oc, occelo.tensor as ot

oc.config.cache = False
x = ot.dvector("x")
results = {results}
f = oc.function([x], results)
expected = {expected}
np.testing.assert_allclose(f(np.arange(1.0, 4.0)), expected)
print(json.dumps([m for m in sys.modules if m.startswith(("occelo_link.loops.", "occelo_special."))]))
"""


@pytest.mark.parametrize(
    ("results", "expected", "needed", "others"),
    [
        (
            "(x * x * 2.0).sum()",
            "28.0",
            ("elemwise.arithmetic", "reduce"),
            ("elemwise.transcendental", "elementary", "blas", "index.subtensor", "float16"),
        ),
        (
            "ot.exp(x).sum()",
            "np.exp([1.0, 2.0, 3.0]).sum()",
            ("elemwise.transcendental", "elementary.exponential"),
            ("blas", "regions"),
        ),
        ("ot.dot(x, x)", "14.0", ("blas",), ("regions", "callbacks", "join")),
        (
            "oc.loop(lambda s: (s * x[0], ()), 1.0, length=x.shape[0])[0] + x[1]",
            "3.0",
            ("regions",),
            ("blas", "callbacks"),
        ),
        (
            "abs(ot.exp(x * 1j)) * ot.gammaln(x)",
            "[0.0, 0.0, np.log(2.0)]",
            ("elemwise.transcendental", "occelo_special.lowerings"),
            ("blas", "regions"),
        ),
        ("x.astype('float16') * 2", "[2.0, 4.0, 6.0]", ("float16",), ("blas", "regions")),
    ],
)
def test_a_process_imports_what_its_graphs_need(
    results: str, expected: str, needed: tuple[str, ...], others: tuple[str, ...]
) -> None:
    code = FIRST.format(results=results, expected=expected)
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    imported = {
        name.removeprefix("occelo_link.loops.").removeprefix("lowerings.")
        for name in json.loads(done.stdout)
    }
    assert imported >= set(needed)
    assert imported.isdisjoint(others)
