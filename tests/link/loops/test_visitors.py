"""Visitors of loop programs have a method for each kind of statement."""

from __future__ import annotations

import ast
import importlib
from pathlib import Path
from types import new_class
from typing import Any, get_args

import pytest

import occelo_link
import occelo_link.loops.ir.visitor as visitor_module
from occelo_link.loops.ir.program import Block, Check, Statement, Value
from occelo_link.loops.ir.visitor import Visitor

FOLDER = Path(occelo_link.__file__).parent
SOURCES = [
    p for name in ("c", "numba", "native", "loops/ir") for p in (FOLDER / name).rglob("*.py")
]
WALKERS = (
    "occelo_link.c.printer",
    "occelo_link.loops.ir.bounds_checked",
    "occelo_link.loops.ir.reused_loads",
    "occelo_link.loops.ir.text",
    "occelo_link.loops.ir.verify",
    "occelo_link.native.llvm.printer",
    "occelo_link.native.llvm.vector_iteration",
    "occelo_link.numba.printer",
    "occelo_testing.loop_interpreter",
)
"""Modules that do something with each statement of a program."""
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


def test_all_who_go_through_programs_are_visitors_and_inherit_from_nothing_else() -> None:
    for name in WALKERS:
        importlib.import_module(name)
    found = Visitor.__subclasses__()
    assert set(WALKERS) <= {kind.__module__ for kind in found}
    for kind in found:
        # printers that only add something: long blocks as several C functions, readings of the clock, loops over rows
        added = ("DividedPrinter", "TimedPrinter", "RowsIteration")
        below = [each for each in kind.__subclasses__() if each.__name__ not in added]
        assert not below, f"{kind} has subclasses"


def test_no_function_tells_kinds_of_statements_apart_one_by_one() -> None:
    kinds = {kind.__name__ for kind in get_args(Statement)} - {"Value"}
    for path in SOURCES:
        for function in ast.walk(ast.parse(path.read_text())):
            if isinstance(function, ast.FunctionDef):
                asked = [
                    name.id
                    for call in ast.walk(function)
                    if isinstance(call, ast.Call) and getattr(call.func, "id", "") == "isinstance"
                    for name in ast.walk(call.args[1])
                    if isinstance(name, ast.Name) and name.id in kinds
                ]
                where = f"{function.name} of {path.relative_to(FOLDER)}"
                assert len(asked) < 2, f"{where} asks for {asked}: let it be a visitor"
