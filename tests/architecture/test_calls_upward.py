"""Tests of functions of higher modules that lower ones call, and of those that higher layers replace."""

from __future__ import annotations

import importlib
import inspect
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
import occelo_graph.tensor as ot
from occelo_graph import upward
from occelo_graph.ir import op as op_module
from occelo_graph.ir.op import set_default_converter


def test_every_function_of_a_higher_module_is_there() -> None:
    names = [name for name, value in vars(upward).items() if inspect.isfunction(value)]
    assert "variable_eval" in names
    for name in set(names) - {"at_first_call", "evaluator", "set_evaluator"}:
        where = inspect.getclosurevars(getattr(upward, name)).nonlocals
        assert callable(getattr(importlib.import_module(where["module"]), where["name"])), name


def test_arguments_of_ops_are_converted_by_who_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(op_module, "_convert", op_module._convert)  # put back afterwards
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
    assert ot.maximum(x, "yours").owner.inputs == [
        x,
        x,
    ]  # an elementwise function converts its arguments together
    assert seen == ["mine", "yours"]


def test_a_compiler_evaluates_variables_where_there_is_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    x = ot.dvector("x")
    assert (x * 2).eval({x: [1.0, 2.0]}).tolist() == [2.0, 4.0]
    given: list[Any] = []
    monkeypatch.setattr(
        upward, "evaluator", lambda v, values, **options: given.append((v, values, options))
    )
    y = x + 1
    value = np.ones(3)
    y.eval({"x": value}, mode="anything")
    assert given == [(y, {x: value}, {"mode": "anything"})]
