"""The documented table of the ops that each backend compiles, and the command that prints it."""

from __future__ import annotations

import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from occelo_graph import Op, TensorType, op
from occelo_graph import tensor as ot
from occelo_link.capabilities import BACKENDS, is_installed, supports

ROOT = Path(__file__).parents[2]


@op
class Halved(Op):
    """An op that only NumPy computes."""

    def infer(self, x: TensorType) -> TensorType:
        return x

    def evaluate(self, x: Any) -> Any:
        return x / 2


def test_the_table_in_the_docs_and_that_of_the_command_are_computed() -> None:
    pytest.importorskip("occelo.command.backends", reason="the command line is not installed")
    if not all(map(is_installed, BACKENDS)):
        pytest.skip("not all libraries are installed")
    from occelo.command.backends import STORED, op_table, published, stored_text

    table = op_table()
    assert (ROOT / "docs" / "backends.md").read_text() == published(table)
    assert STORED.read_text() == stored_text(table)
    told: dict[str, list[str]] = {}
    for backends, ops in re.findall(r"^- ([\w|, ]+): .+: ([\w, ]+)\.$", published(table), re.M):
        for backend in backends.split(", "):
            told.setdefault(backend, []).extend(ops.split(", "))
    for backend in ("native", "c", "numba", "jax", "pytorch"):
        in_python = sorted(label for label, row in table.items() if not row[backend])
        assert sorted(told[backend]) == in_python, "each has one reason"


def test_what_the_libraries_have_is_known_without_them() -> None:
    """The names of scalar functions, beside those that the library was asked for one by one when it was imported."""
    pytest.importorskip(
        "occelo_special.traced.functions", reason="it has the names that libraries lack"
    )
    table = importlib.import_module("occelo_link.traced.functions")
    assert {"erfcx", "dawsn", "owens_t"} <= table.CALLED.keys()
    for backend, library in (("jax", "jax"), ("pytorch", "torch")):
        if is_installed(backend):
            scalars = importlib.import_module(f"occelo_link.{library}.functions").SCALARS
            has = {name for name in table.CALLED if table.library_has(backend, name)}
            assert has == set(scalars)
            assert len(has) > 70
            assert not table.library_has(backend, "no_such_function")


def test_what_a_backend_lacks_is_told_with_the_users_line() -> None:
    x, z = ot.dvector("x"), ot.zvector("z")
    good, bad = ot.exp(x).sum(), Halved()(z)
    assert supports("native", good) == []
    (lack,) = supports("native", [good, bad])
    assert (lack.op, lack.dtypes) == ("Halved", ("complex128",))
    assert __file__ in lack.source
    assert supports("vm", bad) == []
    with pytest.raises(ValueError, match="There is no backend 'odd'"):
        supports("odd", good)
    for backend in BACKENDS:
        if not is_installed(backend):
            with pytest.raises(ModuleNotFoundError, match="not installed"):
                supports(backend, good)
