"""Tests of names of higher modules that lower ones use: one object for each package, filled in one place."""

from __future__ import annotations

import ast
import dataclasses
import importlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph.facade import facade as graph_facade
from occelo_graph.ir.op import set_default_converter

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize("package", ["occelo_graph", "occelo_compile"])
def test_every_field_is_filled(package: str) -> None:
    facade: Any = importlib.import_module(f"{package}.facade").facade
    for field in dataclasses.fields(facade):
        assert callable(getattr(facade, field.name)), field.name


def _filled(tree: ast.AST) -> list[str]:
    """The fields of a facade that a module sets."""
    targets: list[Any] = []
    for node in ast.walk(tree):
        targets += node.targets if isinstance(node, ast.Assign) else []
    return [
        t.attr
        for t in targets
        if isinstance(t, ast.Attribute)
        and isinstance(t.value, ast.Name)
        and t.value.id in ("facade", "graph_facade")
    ]


def test_only_the_wiring_fills_them() -> None:
    found: dict[str, list[str]] = {}
    for path in ROOT.glob("packages/*/src/**/*.py"):
        found.setdefault(path.stem, []).extend(_filled(ast.parse(path.read_text())))
    # `set_default_converter` is a public function
    assert {name: f for name, f in found.items() if f and name != "wiring"} == {"op": ["convert"]}
    assert (
        len(found["wiring"]) == len(set(found["wiring"])) + 1
    )  # a compiler is the second evaluator


def test_arguments_of_ops_are_converted_by_who_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graph_facade, "convert", graph_facade.convert)  # put back afterwards
    x = ot.dvector("x")

    class Twice(og.Op):
        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            return 2 * x

    seen: list[Any] = []

    def convert(value: Any) -> Any:
        seen.append(value)
        return x

    set_default_converter(convert)
    assert Twice()("mine").owner.inputs == [x]
    assert seen == ["mine"]


def test_a_compiler_evaluates_variables_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = ot.dvector("x")
    assert (x * 2).eval({x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
    given: list[Any] = []
    monkeypatch.setattr(
        graph_facade, "evaluator", lambda v, values, **options: given.append((v, values, options))
    )
    y = x + 1
    value = np.ones(3)
    y.eval({"x": value}, mode="anything")
    assert given == [(y, {x: value}, {"mode": "anything"})]
