"""The documented behaviour of the compilation pipeline, sentence by sentence."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import Container, FunctionGraph
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ir.op import Op, op
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_link import VMLinker, make_linker
from occelo_link.cache.directory import compile_directory
from occelo_link.cache.lock import force_unlock, lock_ctx, set_lock_status
from occelo_rewrite.features.protection import Supervisor

# step 1: clone the graph and collect shared variables


def test_inputs_are_validated_first() -> None:
    x = ot.dscalar("x")
    with pytest.raises(TypeError, match="The inputs must be a list"):
        oc.function(x, x)  # type: ignore[arg-type]


def test_shared_variables_are_discovered_givens_applied_and_updates_wired() -> None:
    x, y = ot.dscalars("x", "y")
    w, v = oc.shared(1.0, "w"), oc.shared(2.0, "v")
    inputs, outputs = oc.construct_function_ins_and_outs(
        [y], [x * w], updates={w: w + v}, givens={x: y + 1}
    )
    assert [i.variable for i in inputs] == [y, w, v]
    assert [i.implicit for i in inputs] == [False, True, True]
    assert [i.update is not None for i in inputs] == [False, True, False]
    assert (inputs[1].mutable, inputs[1].borrow) == (True, True)
    assert (inputs[2].mutable, inputs[2].borrow) == (False, True)
    assert inputs[1].value is w.container
    assert all(isinstance(i, oc.SymbolicInput) for i in inputs)
    assert og.evaluate(outputs[0].variable, {y: 4.0}) == 5.0


def test_the_users_graph_is_cloned(mode: str) -> None:
    x = ot.dscalar("x")
    y = ot.log(1 + x)
    before = og.debugprint(y, file="str")
    f = oc.function([x], y, mode=mode)
    assert og.debugprint(y, file="str") == before
    nodes = set(f.maker.fgraph.apply_nodes)
    assert y.owner not in nodes


# step 2: the function graph, rewritten


def test_the_maker_comes_from_the_modes_function_maker() -> None:
    x = ot.dscalar("x")
    maker = oc.FunctionMaker([oc.In(x)], [oc.Out(x + 1)], oc.get_mode("vm"))
    assert isinstance(maker.create_fgraph(), FunctionGraph)
    assert maker.create()(1.0) == 2.0
    assert isinstance(oc.function([x], x + 1, mode="vm").maker, oc.FunctionMaker)


def test_raw_inputs_and_outputs_are_wrapped(mode: str) -> None:
    x, k = ot.dscalars("x", "k")
    maker = oc.FunctionMaker([x, (k, k + x)], [x * k], oc.get_mode(mode), unpack_single=False)
    assert all(isinstance(i, oc.SymbolicInput) for i in maker.inputs)
    assert all(isinstance(o, oc.SymbolicOutput) for o in maker.outputs)
    f = maker.create()
    assert f(2.0, 3.0) == [6.0]
    assert f[k] == 5.0


def test_update_outputs_and_update_mapping_are_set_up(mode: str) -> None:
    x = ot.dscalar("x")
    w = oc.shared(1.0, "w")
    f = oc.function([x], [x, x + 1], updates={w: w + x}, mode=mode)
    fgraph = f.maker.fgraph
    assert len(fgraph.outputs) == 3
    assert fgraph.update_mapping == {2: 1}


def test_an_existing_fgraph_is_augmented_with_update_outputs(mode: str) -> None:
    x = ot.dscalar("x")
    w = oc.shared(1.0, "w")
    inner = FunctionGraph([x, w], [x * w], clone=False)
    update = inner.inputs[1] + inner.inputs[0]
    inputs = [
        oc.In(inner.inputs[0]),
        oc.In(inner.inputs[1], value=w.container, update=update, implicit=True, shared=True),
    ]
    outputs = [oc.Out(inner.outputs[0])]
    maker = oc.FunctionMaker(inputs, outputs, oc.get_mode(mode), fgraph=inner)
    f = maker.create()
    assert maker.fgraph is inner
    assert inner.update_mapping == {1: 1}
    assert f(3.0) == 3.0
    assert w.get_value() == 4.0


def test_the_rewriter_is_applied_by_prepare_fgraph() -> None:
    x = ot.dscalar("x")
    maker = oc.FunctionMaker([oc.In(x)], [oc.Out(ot.log(1 + x))], oc.get_mode("vm"))
    fgraph = maker.create_fgraph()
    assert {str(n.op) for n in fgraph.apply_nodes} == {"log", "add"}
    rewritten = maker.prepare_fgraph(fgraph)
    assert {str(n.op) for n in rewritten.fgraph.apply_nodes} == {"log1p"}


def test_features_prevent_overwriting_inputs_declared_immutable() -> None:
    x = ot.dvector("x")
    maker = oc.FunctionMaker([oc.In(x)], [oc.Out(ot.exp(x) + x)], oc.get_mode("vm"))
    fgraph = maker.create_fgraph()
    assert any(isinstance(f, Supervisor) for f in fgraph.features)


def test_in_place_ops_of_the_user_need_accept_inplace(mode: str) -> None:
    x = ot.dvector("x")
    write = Elemwise(ot.exp.scalar_op, ((0, 0),))
    with pytest.raises(TypeError, match="accept_inplace=True"):
        oc.function([oc.In(x, mutable=True)], write(x), mode=mode)


@op
class AddOne(Op):
    """Over what it is given."""

    destroy_map = {0: [0]}

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        x += 1
        return x


INNER: dict[str, Callable[[Any, Any], Any]] = {
    "inner graph": lambda x, y: OpFromGraph([x, y], [AddOne()(x) + y])(x, y),
    "batch": lambda x, y: og.Blockwise(AddOne(), "(n)->(n)")(ot.stack([x, y])).sum(axis=0),
}


@pytest.mark.parametrize("kind", INNER)
def test_inner_graphs_may_have_no_in_place_ops(kind: str) -> None:
    x, y = ot.dvectors("x", "y")
    out = INNER[kind](x, y)
    for accept in (False, True):
        with pytest.raises(TypeError, match="has the in-place op AddOne"):
            oc.function([x, y], out, accept_inplace=accept)


def test_the_interpreter_overwrites_no_values() -> None:
    x, y = ot.dvectors("x", "y")
    for kind, added in (("inner graph", 1), ("batch", 2)):
        a, b = np.arange(3.0), np.ones(3)
        found = og.evaluate([INNER[kind](x, y), x * 1, y * 1], {x: a, y: b})
        np.testing.assert_array_equal(a, np.arange(3.0))
        np.testing.assert_array_equal(b, np.ones(3))
        np.testing.assert_array_equal(found[0], a + b + added)
        np.testing.assert_array_equal(found[1], a)


# step 3: link


def test_the_linker_takes_the_graph_and_gives_a_thunk_and_containers(mode: str) -> None:
    x = ot.dvector("x")
    fgraph = FunctionGraph([x], [x * 2], clone=False)
    linker = make_linker(mode).accept(fgraph)
    thunk, inputs, outputs = linker.make_thunk()
    inputs[0].value = [1, 2]  # a container casts
    assert thunk() is None
    np.testing.assert_array_equal(outputs[0].value, [2.0, 4.0])


def test_containers_of_shared_variables_share_their_storage(mode: str) -> None:
    w = oc.shared(1.0, "w")
    f = oc.function([], w * 2, mode=mode)
    assert f.container[w] is w.container
    w.set_value(5.0)
    assert f() == 10.0


def test_the_linker_orders_by_toposort_unless_told_otherwise() -> None:
    orders: list[int] = []

    def backwards(fgraph: FunctionGraph) -> Any:
        orders.append(1)
        return fgraph.toposort()

    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode=oc.Mode(VMLinker(scheduler=backwards)))
    assert f([1.0]) == [2.0]
    assert orders


def test_strict_makes_the_container_check_types(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([oc.In(x, strict=True)], x * 2, mode=mode)
    assert f.container[x].strict
    with pytest.raises(TypeError):
        f.container[x].value = [1, 2]


def test_outputs_that_are_not_borrowed_are_never_recycled(mode: str) -> None:
    x = ot.dvector("x")
    f = oc.function([x], x * 2, mode=mode)
    first = f([1.0])
    second = f([5.0])
    assert (first, second) == ([2.0], [10.0])
    assert not np.may_share_memory(first, second)


def test_compiled_code_lies_in_the_compile_directory(tmp_path: Path) -> None:
    with config.change_flags(base_compiledir=str(tmp_path)):
        assert compile_directory().parent == tmp_path
        assert compile_directory().name.startswith("compiledir_")
        x = ot.dscalar("x")
        oc.function([x], ot.exp(x) * 1.0625, mode="native")(1.0)
        assert any(p.is_file() for p in compile_directory().rglob("*"))
    with config.change_flags(compiledir=str(tmp_path / "own")):
        assert compile_directory() == tmp_path / "own"


def test_changed_configuration_never_needs_the_cache_cleared() -> None:
    x = ot.dvector("x")

    def compiled() -> Any:
        return oc.function([x], (x * 1.03125).sum(), mode="native")

    compiled()([1.0])
    with config.change_flags(check_bounds=True):
        assert not compiled().maker.from_cache
    assert compiled().maker.from_cache


def test_the_lock_of_the_compile_directory(tmp_path: Path) -> None:
    with lock_ctx(tmp_path, timeout=5), lock_ctx(tmp_path, timeout=5):
        pass
    force_unlock(tmp_path)
    set_lock_status(False)
    try:
        with lock_ctx(tmp_path):
            pass
    finally:
        set_lock_status(True)


# step 4: wrap


def test_vm_and_containers_are_wrapped_in_a_function(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode)
    assert isinstance(f, oc.Function)
    assert callable(f.vm)
    assert all(isinstance(c, Container) for c in (*f.input_storage, *f.output_storage))


def test_a_call_fills_runs_copies_updates_back_and_returns(mode: str) -> None:
    x = ot.dscalar("x")
    w = oc.shared(1.0, "w")
    f = oc.function([x], w * 10, updates={w: w + x}, mode=mode)
    assert f(2.0) == 10.0
    assert w.get_value() == 3.0
    assert f(2.0) == 30.0


def test_maker_fgraph_mode_profile_and_vm_can_be_inspected(mode: str) -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x + 1, mode=mode, profile=True)
    assert isinstance(f.maker.fgraph, FunctionGraph)
    assert f.maker.mode.name == mode
    assert f.maker.profile is f.profile
    assert f.vm is not None
    assert "add" in f.dprint(file="str")
