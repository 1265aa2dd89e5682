"""Whoever goes through loop programs has a method for each kind of statement."""

from __future__ import annotations

from types import new_class
from typing import Any, get_args

import pytest

import occelo_link.loops.ir.visitor as visitor_module
from occelo_link.loops.ir.program import Block, Check, Statement, Value
from occelo_link.loops.ir.visitor import Visitor

METHODS = {
    "Value": "value",
    "Store": "store",
    "For": "loop",
    "While": "while_loop",
    "If": "branch",
    "Check": "check",
    "Alloc": "alloc",
    "Swap": "swap",
    "Invoke": "invoke",
}


def define(*without: str) -> Any:
    """A visitor that gives the name of the method that was called, without some of its methods."""

    def fill(namespace: dict[str, Any]) -> None:
        for name in METHODS.values():
            if name not in without:
                namespace[name] = lambda self, statement, name=name: name

    return new_class("Names", (Visitor,), {}, fill)


def test_all_kinds_of_statements_are_tried_here() -> None:
    assert {kind.__name__ for kind in get_args(Statement)} == set(METHODS)


@pytest.mark.parametrize("kind", METHODS)
def test_a_visitor_that_lacks_a_statement_cannot_be_defined(kind: str) -> None:
    with pytest.raises(TypeError, match=rf"Names has no method for the statement {kind}$"):
        define(METHODS[kind])


def test_a_kind_of_statement_that_no_visitor_knows_is_refused(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    class Prefetch:
        pass

    define()
    monkeypatch.setattr(visitor_module, "Statement", Statement | Prefetch)
    with pytest.raises(TypeError, match=r"Names has no method for the statement Prefetch$"):
        define()


def test_statements_go_to_the_method_of_their_kind() -> None:
    block = Block(None)
    value = Value(0, "bool", "param", (), block)
    names = define()()
    assert names.statement(value) == "value"
    assert names.statement(Check(value, 0)) == "check"
    for kind in get_args(Statement):
        made = kind.__new__(kind)
        assert names.statement(made) == METHODS[kind.__name__]
