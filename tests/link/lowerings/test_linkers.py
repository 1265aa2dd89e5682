"""The linker interface, the Python linkers, laziness, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.examples.example import Example
from occelo_link import (
    Linker,
    Linking,
    NativeLinker,
    PerformLinker,
    VMLinker,
    WrapLinker,
    available_linkers,
    make_linker,
    register_linker,
)
from occelo_testing.checks import close, symbolic
from occelo_testing.examples import EXAMPLES

LINKERS = ["py", "vm", "vm_nogc"]


def graph_of(build: Any, count: int = 1) -> og.FunctionGraph:
    inputs = [ot.dvector(f"x{i}") for i in range(count)]
    outputs = build(*inputs)
    return og.FunctionGraph(inputs, outputs if isinstance(outputs, list) else [outputs])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("name", LINKERS)
@pytest.mark.parametrize("example", list({e.name: e for e in EXAMPLES}.values()), ids=str)
def test_every_op_gives_the_interpreters_value(example: Example, name: str) -> None:
    inputs, output = symbolic(example, known_shapes=False)
    call = make_linker(name).accept(og.FunctionGraph(inputs, [output])).make_function()
    expected = og.evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
    close(call(*example.arguments)[0], expected, 0.0)


class _Adding(Linker):
    """A linker of somebody else's: nodes by their kernels, from cells to cells."""

    name = "adding"

    def make_vm(self, linking: Linking) -> Any:
        self.linked = linking
        linker = self

        class Machine:
            storage_map = linking.storage_map
            allow_gc = linker.allow_gc

            def __call__(self, output_subset: Any = None) -> None:
                for node in linking.order:
                    cells = linking.storage_map
                    made = node.op.kernel(node)(*[cells[v][0] for v in node.inputs])
                    for variable, value in zip(node.outputs, made, strict=True):
                        cells[variable][0] = value

            def clear_storage(self) -> None: ...

        return Machine()


def test_a_linker_of_ones_own_gets_all_that_it_links() -> None:
    graph = graph_of(lambda x, y: [ot.exp(x) + y, x], 2)
    linker = _Adding()
    accepted = linker.accept(graph)
    call = accepted.make_function()
    linked = linker.linked
    assert linked.fgraph is graph
    assert list(linked.order) == graph.toposort()
    assert [linked.storage_map[v] for v in graph.inputs] == list(linked.inputs)
    assert all(
        linked.storage_map[v] is c for v, c in zip(graph.outputs, linked.outputs, strict=True)
    )
    assert linked.outputs[1] is linked.inputs[0]
    x, y = np.array([0.0, 1.0]), np.array([2.0, 3.0])
    np.testing.assert_allclose(call(x, y)[0], [3.0, np.e + 3])


def test_make_thunk_gives_a_vm_and_containers() -> None:
    graph = graph_of(lambda x: [ot.exp(x), x * 2])
    cell: list[Any] = [None]
    known: dict[Any, list[Any]] = {}
    vm, inputs, outputs = PerformLinker().accept(graph).make_thunk([cell], storage_map=known)
    inputs[0].value = [0.0, 1.0]
    assert cell[0] is inputs[0].value
    vm()
    np.testing.assert_allclose(outputs[0].value, [1.0, np.e])
    assert known[graph.outputs[1]][0] is outputs[1].value
    given = [[None], [None]]
    vm, inputs, outputs = PerformLinker().accept(graph).make_thunk(output_storage=given)
    inputs[0].value = [0.0]
    vm()
    assert given[0][0] is outputs[0].value
    with pytest.raises(ValueError, match="as many cells"):
        PerformLinker().accept(graph).make_thunk([])
    with pytest.raises(ValueError, match="as many cells"):
        PerformLinker().accept(graph).make_thunk(output_storage=[])
    with pytest.raises(ValueError, match="accepted no graph"):
        PerformLinker().make_thunk()


def test_a_linker_holds_one_graph() -> None:
    linker = VMLinker()
    first, second = graph_of(ot.exp), graph_of(ot.sin)
    assert linker.accept(first) is linker
    other = linker.accept(second)
    assert other is not linker
    assert linker.fgraph is first
    assert linker.clone(allow_gc=False).allow_gc is False
    assert linker.clone().fgraph is None


def test_the_scheduler_orders_the_nodes() -> None:
    seen: list[str] = []

    def backwards(fgraph: Any) -> Any:
        order = fgraph.toposort()
        seen.extend(str(n.op) for n in order)
        return [order[1], order[0], *order[2:]]

    graph = graph_of(lambda x: ot.exp(x) + ot.sin(x))
    call = VMLinker(scheduler=backwards).accept(graph).make_function()
    np.testing.assert_allclose(call([0.0])[0], [1.0])
    assert seen == ["exp", "sin", "add"]


def test_values_are_dropped_after_their_last_use_unless_told_otherwise() -> None:
    graph = graph_of(lambda x: ot.sin(ot.exp(x)))
    middle = graph.outputs[0].owner.inputs[0]
    for keep in (False, True):
        vm, inputs, _ = PerformLinker(allow_gc=not keep).accept(graph).make_thunk()
        inputs[0].value = [0.0]
        vm()
        assert (vm.storage_map[middle][0] is not None) is keep
        vm.clear_storage()
        assert vm.storage_map[middle][0] is None
    with config.change_flags(allow_gc=False):
        assert make_linker("vm").allow_gc is False


def test_cells_that_are_not_recycled_are_cleared_before_each_call() -> None:
    class Reuses(og.Op):
        __props__ = ()
        seen: list[Any] = []

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            Reuses.seen.append(cell[0])
            return x + 1

    graph = graph_of(lambda x: Reuses()(x))
    vm, inputs, outputs = VMLinker().accept(graph, no_recycling=graph.outputs).make_thunk()
    cell = outputs[0].storage
    inputs[0].value = [1.0]
    vm()
    first = outputs[0].value
    vm()
    assert Reuses.seen == [None, None]
    assert outputs[0].value is not first


class Counts(og.Op):
    """Counts how often it runs."""

    pure = False

    def __init__(self) -> None:
        self.calls = 0

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        self.calls += 1
        return x + 0


@pytest.mark.parametrize("name", LINKERS)
def test_ifelse_runs_one_branch(name: str) -> None:
    then, other, shared = Counts(), Counts(), Counts()
    c, x = ot.dscalar("c"), ot.dvector("x")
    both = shared(x)
    graph = og.FunctionGraph([c, x], [ot.ifelse(c > 0, then(both), other(both * 2))])
    call = make_linker(name).accept(graph).make_function()
    np.testing.assert_array_equal(call(1.0, [3.0])[0], [3.0])
    assert (then.calls, other.calls, shared.calls) == (1, 0, 1)
    np.testing.assert_array_equal(call(-1.0, [3.0])[0], [6.0])
    assert (then.calls, other.calls, shared.calls) == (1, 1, 2)


@pytest.mark.parametrize("name", LINKERS)
def test_a_subset_of_outputs_runs_what_it_needs(name: str) -> None:
    left, right = Counts(), Counts()
    graph = graph_of(lambda x: [left(x), right(x)])
    vm, inputs, outputs = make_linker(name).accept(graph).make_thunk()
    inputs[0].value = [1.0]
    vm(output_subset=[1])
    assert (left.calls, right.calls) == (0, 1)
    np.testing.assert_array_equal(outputs[1].value, [1.0])


def test_callbacks_see_each_node() -> None:
    seen: list[Any] = []
    given: list[Any] = []
    linker = VMLinker(
        callback=lambda node, thunk, storage, computed: seen.append(
            (str(node.op), thunk.outputs[0][0][0])
        ),
        callback_input=lambda variable, value: given.append(variable.name),
    )
    graph = graph_of(lambda x: ot.exp(x) * 2)
    linker.accept(graph).make_function()([0.0])
    assert seen == [("exp", 1.0), ("mul", 2.0)]
    assert given == ["x0"]


@pytest.mark.parametrize("name", LINKERS)
def test_errors_keep_their_class_and_end_in_the_cause(name: str) -> None:
    x, y = ot.dvectors("x", "y")
    z = x + y
    z.name = "z"
    call = make_linker(name).accept(og.FunctionGraph([x, y], [z])).make_function()
    with pytest.raises(ValueError, match="Input dimension mismatch") as caught:
        call([1.0], [1.0, 2.0])
    text = str(caught.value).splitlines()
    assert text[0].startswith(f"While computing `z` = add, made at {__file__}")
    assert text[1].strip() == "z = x + y"
    assert text[2] == "  input 0, x: float64 (1,)"
    assert text[-1].startswith("Input dimension mismatch")
    call([1.0], [2.0])


class Picky(Exception):
    def __init__(self, number: int, reason: str) -> None:
        super().__init__(number, reason)


def test_exceptions_that_take_more_than_a_text_get_a_note() -> None:
    class Fails(og.Op):
        __props__ = ()

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            raise Picky(3, "odd")

    call = VMLinker().accept(graph_of(lambda x: Fails()(x))).make_function()
    with pytest.raises(Picky) as caught:
        call([1.0])
    assert "While computing Fails" in caught.value.__notes__[0]


def test_wrap_linker_runs_linkers_in_lock_step() -> None:
    compared: list[str] = []

    def wrapper(fgraph: Any, i: int, node: Any, *thunks: Any) -> None:
        for thunk in thunks:
            thunk()
        values = [t.outputs[0][0] for t in thunks]
        np.testing.assert_array_equal(values[0], values[1])
        assert values[0] is not values[1]
        compared.append(str(node.op))

    linker = WrapLinker([PerformLinker(), VMLinker()], wrapper)
    graph = graph_of(lambda x: ot.exp(x) * 2)
    vm, inputs, outputs = linker.accept(graph).make_thunk()
    inputs[0].value = [0.0]
    vm()
    vm.clear_storage()
    assert compared == ["exp", "mul"]
    assert outputs[0].value[0] == 2.0
    with pytest.raises(ValueError, match="at least one"):
        WrapLinker([], wrapper)


def test_linkers_by_name() -> None:
    assert isinstance(make_linker("VM"), VMLinker)
    assert isinstance(make_linker(), NativeLinker)
    assert isinstance(make_linker("auto"), NativeLinker)
    assert isinstance(make_linker("cvm"), NativeLinker)
    assert not make_linker("cvm_nogc").allow_gc
    with pytest.raises(ValueError, match="There is no linker 'odd'; there are"):
        make_linker("odd")
    with pytest.raises(ValueError, match="already"):
        register_linker("py", PerformLinker)
    # names are found in lower and upper case
    for name in ("PY", "Native", "auto"):
        with pytest.raises(ValueError, match=f"named '{name.lower()}' already"):
            register_linker(name, PerformLinker)

    class Mine(PerformLinker):
        name = "mine"

    register_linker("mine", Mine)
    assert isinstance(make_linker("mine"), Mine)
    assert "mine" in available_linkers()
    assert PerformLinker.required_rewrites.include >= {"minimum_compile"}
    assert "cxx_only" in PerformLinker.incompatible_rewrites.include
    with pytest.raises(NotImplementedError):
        Linker().accept(graph_of(ot.exp)).make_thunk()
