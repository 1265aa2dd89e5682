"""Families of ops: the core works without any, and importing one changes no function that has none of its ops."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest
from workspace import FAMILIES, modules

WITHOUT = """
import sys

class Away:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in {families!r}:
            raise AssertionError(f"{{name}} is asked for")

sys.meta_path.insert(0, Away())
import numpy as np
import occelo_graph as og
from occelo_printing import pprint
from occelo_compile import function
from occelo_graph import tensor as ot

x, w = ot.dmatrix("x"), ot.dvector("w")
loss = ot.softplus(-(x @ w)).mean() + ot.logsumexp(x[1:] * 2.0, axis=0).sum()
f = function([x, w], [loss, og.grad(loss, w), og.grad(loss, x)], mode={mode!r})
point = np.array([[0.5, -1.0], [2.0, 0.25], [1.0, 3.0]]), np.array([0.3, -0.2])
scores = -point[0] @ point[1]
assert np.isclose(f(*point)[0], np.log1p(np.exp(scores)).mean() + np.log(np.exp(2 * point[0][1:]).sum(0)).sum())
slope = -(point[0] / (1 + np.exp(-scores))[:, None]).mean(0)
assert np.allclose(f(*point)[1], slope)
og.vectorize_graph(loss, {{x: ot.dtensor3("b")}})
og.evaluate(loss, {{x: point[0], w: point[1]}})
print(pprint(loss), og.digest([loss]))
"""


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "DebugMode"])
def test_functions_of_the_core_ask_for_no_family(mode: str) -> None:
    program = WITHOUT.format(families=modules(FAMILIES), mode=mode)
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300
    )
    assert not done.returncode, done.stderr


KEYS = """
import importlib, json, sys
from occelo_graph import tensor as ot
from occelo_compile import function
import occelo_graph as og

for name in {order!r}:
    importlib.import_module(name)
x, y = ot.dmatrix("x"), ot.dmatrix("y")
f = function([x, y], [og.grad(ot.sum((x @ y) @ y.T), x), ot.diagonal(x).sum() + ot.log(abs(x)).sum()])
code = f.maker.fgraph
print(json.dumps([f.maker.cache_key, og.digest(code.outputs, code.inputs)]))
"""


@pytest.mark.skipif(
    importlib.util.find_spec("occelo_random") is None, reason="the families are not installed"
)
def test_a_function_has_the_same_key_and_graph_whichever_families_are_imported() -> None:
    first = [
        f"{name}.functions"
        for name in modules(FAMILIES)
        if importlib.util.find_spec(f"{name}.functions")
    ]
    turned = [*first[4:], *first[:4]]
    orders = [(), tuple(first), tuple(first[::-1]), tuple(turned), ("occelo_stats.functions",)]
    found = {
        subprocess.run(
            [sys.executable, "-c", KEYS.format(order=order)],
            capture_output=True, text=True, check=True, timeout=300,
        ).stdout
        for order in orders
    }  # fmt: skip
    assert len(found) == 1, found
