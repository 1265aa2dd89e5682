"""Tests of what ``inspect.signature`` and ``help`` say of elementwise functions."""

from __future__ import annotations

import inspect

import occelo_graph.tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise


def parameters(function: Elemwise) -> str:
    return str(inspect.signature(function).replace(return_annotation=inspect.Signature.empty))


def test_inputs_have_names_and_no_more_than_the_function_takes() -> None:
    assert parameters(ot.softplus) == "(x, /)"
    assert parameters(ot.arctan2) == "(y, x, /)"
    assert parameters(ot.complex) == "(re, im, /)"
    assert parameters(ot.add) == "(*inputs)"
    for function in vars(ot).values():
        if isinstance(function, Elemwise) and function.scalar_op.nin is not None:
            assert len(inspect.signature(function).parameters) == function.scalar_op.nin


def test_names_of_a_users_code_stay() -> None:
    area = ot.elementwise("area_of_sides", 2, lambda d: d[0], lambda width, height: width * height)
    assert parameters(area) == "(width, height, /)"
    many = ot.elementwise("first_of_many", 2, lambda d: d[0], lambda *arrays: arrays[0] + 0)
    assert parameters(many) == "(x, y, /)"


def test_the_class_keeps_the_signature_of_its_fields() -> None:
    assert list(inspect.signature(Elemwise).parameters) == ["scalar_op", "inplace"]
