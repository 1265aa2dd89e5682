"""Families that are imported at their first use: in several threads at once, and after users took the names of their rules."""

from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import importlib, sys, threading
from occelo_graph import FunctionGraph, tensor as ot
from occelo_graph.ops.reduce import Softmax
from occelo_rewrite import call, optdb, register_canonicalize, rewrite_graph, rule, wild
from occelo_rewrite.pipeline import canonicalize_db

assert len(canonicalize_db.names()) > 50  # so it is filled

@register_canonicalize
@rule(call(Softmax, wild("x")), name="inverse_of_inverse")
def own(x): ...

@register_canonicalize("product_with_inverse")
@rule(call(Softmax, wild("x")))
def tagged(x): ...

sys.setswitchinterval(1e-6)
names = "loops.ops loops.ops.scan_op linalg.functions linalg.ops.inverse random.functions loops.ops.iterate".split()
failed, together = [], threading.Barrier(len(names))

def load(name):
    together.wait()
    try:
        importlib.import_module(f"occelo_{name}")
        # no rule is imported before rewrites are looked up
        if name == "loops.ops":
            assert "occelo_loops.rules" not in sys.modules
        together.wait()
        assert "expand_scans" in optdb.names()
    except BaseException as error:
        failed.append((name, error))
        together.abort()

threads = [threading.Thread(target=load, args=(name,)) for name in names]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join(60)
assert not failed, failed
found = canonicalize_db.names()
assert {"inverse_of_inverse", "inverse_of_inverse of Occelo", "product_with_inverse of Occelo"} <= {*found}
x = ot.dmatrix("x")
from occelo_linalg import functions as linalg
twice = rewrite_graph(linalg.inv(linalg.inv(x)), include=("canonicalize",))
assert "Inv" not in str(twice.owner), twice
"""


def test_families_are_imported_from_several_threads_and_beside_rules_of_users() -> None:
    done = subprocess.run(
        [sys.executable, "-c", SCRIPT], capture_output=True, text=True, check=False, timeout=120
    )
    assert not done.returncode, done.stderr


INNER_GRAPHS = """
import sys
from occelo_graph import tensor as ot
from occelo_rewrite import optdb, rewrite_graph
from occelo_rewrite.pipeline import expand_db, inline_db

x = ot.dvector("x")
rewrite_graph(ot.exp(x) * 2.0, ("fast_run",), exclude=("fusion", "inplace"))
late = ["occelo_graph.inner_graph", "occelo_rewrite.fusion.fusing", "occelo_rewrite.inplace"]
late += [f"occelo_rewrite.assumptions.{name}" for name in ("elemwise", "reduce", "blas")]
imported = set(late) & set(sys.modules)
assert not imported, imported
assert not inline_db.names() and not expand_db.names()
assert {"inline_graphs", "expand_graphs", "elemwise_fusion", "inplace_elemwise"} <= set(optdb.names())

from occelo_graph.inner_graph import OpFromGraph

for inline in (False, True):
    inside = ot.dvector("inside")
    y = OpFromGraph([inside], [ot.exp(inside) * 2.0], inline=inline)(x)
    assert isinstance(y.owner.op, OpFromGraph)
    rewritten = rewrite_graph(y, ("minimum_compile",))
    assert not isinstance(rewritten.owner.op, OpFromGraph), rewritten.owner
assert inline_db.names() == ["inline_graph"] and expand_db.names() == ["expand_graph"]
"""


def test_rules_for_inner_graphs_and_stages_of_some_modes_are_imported_when_they_are_needed() -> (
    None
):
    done = subprocess.run(
        [sys.executable, "-c", INNER_GRAPHS], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr


FACTS = """
import sys
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.assumptions import infers
from occelo_rewrite.assumptions.inference import inferred_from_node

assert "occelo_rewrite.assumptions.elemwise" not in sys.modules
x = ot.dmatrix("x")
y = ot.exp(x)
if {own}:
    asked = []

    @infers("nonnegative", Elemwise)
    def own(node, ask):
        asked.append(node)
        return False

assert inferred_from_node(y, y.owner, "nonnegative", lambda v, fact: None) is True
assert "occelo_rewrite.assumptions.elemwise" in sys.modules
if {own}:
    assert not asked  # Occelo's functions decide first
    z = x + 1.0
    assert inferred_from_node(z, z.owner, "nonnegative", lambda v, fact: None) is False
    assert asked == [z.owner]
"""


@pytest.mark.parametrize("own", [False, True])
def test_inferences_of_facts_are_registered_before_those_of_users(own: bool) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FACTS.format(own=own)], capture_output=True, text=True, check=False
    )
    assert not done.returncode, done.stderr


AFTER_A_FUNCTION = """
import occelo as oc, occelo.tensor as ot

x, a = ot.dvector("x"), ot.dmatrix("a")
oc.function([x], ot.log(x).sum())
f = oc.function([a, x], ot.linalg.inv(a) @ x)
assert "Solve" in str([node.op for node in f.maker.fgraph.apply_nodes])
"""


def test_rules_of_a_family_apply_after_a_function_was_compiled_without_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The rewriter of a mode is kept from function to function, and made anew when a family is imported between them."""
    # a function from the compile directory is not rewritten
    monkeypatch.setenv("OCCELO_FLAGS", "cache=False")
    done = subprocess.run(
        [sys.executable, "-c", AFTER_A_FUNCTION], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
