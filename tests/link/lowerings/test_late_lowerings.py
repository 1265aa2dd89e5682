"""Lowerings are imported when an op of their family is first lowered."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Any

import pytest

from occelo_graph import Op
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_link.loops import build, registry
from occelo_link.loops.lowerings.elemwise import complex as complexes
from occelo_link.loops.lowerings.elemwise import scalar
from occelo_link.lowering_table import LateLowerings


def test_each_class_of_ops_belongs_to_the_family_whose_module_lowers_it() -> None:
    for module in build.FAMILIES.values():
        importlib.import_module(f"occelo_link.loops.{module}")
    modules = {f"occelo_link.loops.{module}" for module in build.FAMILIES.values()}
    tables: tuple[Any, ...] = (registry._lowerings, registry._complex, registry._parts)
    lowered = [(cls, f.__module__) for table in tables for cls, (f, _) in table._entries.items()]
    lowered = [(cls, module) for cls, module in lowered if module in modules]
    assert (
        len({module for _, module in lowered}) == len(modules) - 1
    )  # regions have no class of ops
    for cls, module in lowered:
        families = [f for f in build.FAMILIES if f"{cls.__module__}.".startswith(f"{f}.")]
        own = build.FAMILIES[max(families, key=len)]
        assert f"occelo_link.loops.{own}" == module, cls


def test_names_of_scalar_functions_include_those_of_late_modules() -> None:
    code = (
        "from occelo_link.loops.lowerings.elemwise import op, scalar\n"
        "assert scalar.find_scalar('no such function', ['float64'], 'float64') is None\n"
        "print('exp' in scalar.scalars(), 'add' in scalar.scalars())"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["True", "True"]
    assert {"exp", "add", "erfcx"} <= set(scalar.scalars())
    assert complexes.find_complex("exp") is not None
    assert complexes.find_complex("add") is not None


def test_sums_and_products_are_lowered_without_importing_the_late_module() -> None:
    scalar.scalars()  # imports them
    late = [n for n, each in scalar._lowerings.items() if each.lowering.__module__ == scalar.LATE]
    assert len(late) > 25
    for name in late:
        declared = ScalarFunction.named(name)
        assert declared is None or not declared.arithmetic, name


class Own(Op):
    """An op of this module."""


class Derived(Own):
    """An op of this module, too."""


def test_a_family_is_imported_before_the_first_look_up_and_once() -> None:
    late, calls = LateLowerings(), list[str]()
    late.follow("other", lambda: calls.append("other"))
    late.follow(__name__, lambda: calls.append("own"))
    late.follow(f"{__name__}s", lambda: calls.append("longer name"))
    late.import_for(Derived)
    late.import_for(Own)
    late.import_family(__name__)
    assert calls == ["own"]
    late.import_family("other")
    assert calls == ["own", "other"]


def test_a_family_that_failed_to_import_is_tried_again() -> None:
    late, calls = LateLowerings(), list[int]()

    def load() -> None:
        calls.append(1)
        if len(calls) == 1:
            raise ImportError

    late.follow(__name__, load)
    with pytest.raises(ImportError):
        late.import_for(Own)
    late.import_for(Own)
    late.import_for(Own)
    assert len(calls) == 2
