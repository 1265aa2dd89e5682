"""Tests of the lines that nodes of derivatives name: that of the call of `grad`, or one within a user's pullback."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import pytest

import occelo_graph.tensor as ot
from occelo_graph import provenance
from occelo_graph.gradient.reverse import grad
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ir.op import Op
from occelo_graph.ir.traversal import apply_ancestors
from occelo_graph.ops.elemwise.scalar import promoted


class _Tripled(Op):
    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x * 3

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        return [cotangents[0] * 3.0]  # of the op


def _of_rule(cotangent: Any, x: Any, out: Any) -> Any:
    return cotangent * 3.0  # of the scalar function


def _of_graph(inputs: Any, outputs: Any, cotangents: Any) -> Any:
    return [cotangents[0] * 3.0]  # of the inner graph


_v = ot.dvector()
_tripled: Any = ot.elementwise("tripled_here", 1, promoted, lambda x: x * 3, [_of_rule])
FUNCTIONS: dict[str, Callable[[Any], Any]] = {
    "of the op": _Tripled(),
    "of the scalar function": _tripled,
    "of the inner graph": OpFromGraph([_v], [_v * 3.0], pullback=_of_graph),
}


def _lines(x: Any, y: Any, result: Any) -> set[str]:
    """The texts of the lines that made the nodes of a result but not those of ``y``."""
    sources = [
        node.outputs[0].source
        for node in apply_ancestors([result])
        if node not in set(apply_ancestors([y]))
    ]
    return {"none" if source is None else source.text for source in sources}


@pytest.mark.parametrize("where", FUNCTIONS)
def test_a_pullback_of_the_user_keeps_its_lines(where: str) -> None:
    x = ot.dvector("x")
    y = ot.exp(FUNCTIONS[where](ot.sin(x))).sum()
    lines = _lines(x, y, grad(y, x))
    assert "lines = _lines(x, y, grad(y, x))" in lines
    own = lines - {"lines = _lines(x, y, grad(y, x))"}
    assert own
    assert all(line.endswith(f"# {where}") for line in own)


def test_nodes_after_a_gradient_have_lines_of_their_own() -> None:
    x = ot.dvector("x")
    gradient: Any = grad(ot.exp(x).sum(), x)
    later: Any = gradient * 2.0
    assert gradient.source.text == "gradient: Any = grad(ot.exp(x).sum(), x)"
    assert later.source.text == "later: Any = gradient * 2.0"


class _Broken(_Tripled):
    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        raise ValueError("it has none")


def test_a_pullback_that_fails_leaves_no_line_behind() -> None:
    x = ot.dvector("x")
    with pytest.raises(ValueError, match="it has none"):
        grad(ot.sin(_Broken()(x)).sum(), x)
    later: Any = x * 2.0
    assert later.source.text == "later: Any = x * 2.0"


def test_another_thread_that_builds_meanwhile_has_its_own_lines() -> None:
    x = ot.dvector("x")
    built: list[Any] = []

    class Waiting(_Tripled):
        def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
            thread = threading.Thread(target=lambda: built.append(ot.cos(x)))
            thread.start()
            thread.join()
            return [ot.sum(cotangents[0]) * inputs[0]]

    frame = provenance.user_frame()
    with provenance.at_line(frame):
        grad(Waiting()(x).sum(), x)
    assert "thread = threading.Thread" in built[0].source.text
