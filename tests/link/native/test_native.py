"""The compiling linkers on the whole op table: values, layouts, errors, nodes that run in Python."""

from __future__ import annotations

import importlib
import itertools
import os
import platform
import re
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.examples.example import Example
from occelo_graph.ops.blas.products import Dot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_link import make_linker
from occelo_link.blocks.vm import BlockVM
from occelo_link.c.source import print_c
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.cost import work_memory
from occelo_link.loops.ir.program import Alloc, Value
from occelo_link.loops.ir.text import program_text
from occelo_link.loops.ir.verify import verify
from occelo_link.loops.lowerings.elemwise.complex import find_complex
from occelo_link.loops.lowerings.elemwise.scalar import scalars
from occelo_link.loops.python_only import reason_for_python
from occelo_link.loops.registry import find_lowering
from occelo_link.native.llvm import print_llvm
from occelo_link.units import python_entry
from occelo_link.units.engine import assembly
from occelo_link.units.interface import UnitFailure
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES, SCALAR_FUNCTIONS
from occelo_testing.loop_interpreter import run_program
from occelo_testing.loop_programs import Compiled, has_compiler

HAS_COMPILER = has_compiler()
UNIQUE = list({e.name: e for e in EXAMPLES}.values())
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
LOOSE = {"float32": 5e-6, "float16": 2e-3, "complex64": 1e-5}


@pytest.fixture(autouse=True)
def own_directory(tmp_path_factory: pytest.TempPathFactory) -> Any:
    with config.change_flags(compiledir=str(tmp_path_factory.mktemp("compiled"))):
        yield


def linked(name: str, inputs: list[Any], outputs: list[Any]) -> Any:
    """The VM and a callable of arrays for a graph."""
    linker = make_linker(name).accept(og.FunctionGraph(inputs, outputs))
    vm, containers, results = linker.make_thunk()

    def call(*arrays: Any) -> list[Any]:
        for container, array in zip(containers, arrays, strict=True):
            container.value = array
        vm()
        return [r.value for r in results]

    return vm, call


def agree(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    rtol = max(tolerance, LOOSE.get(found.dtype.name, 0.0))
    np.testing.assert_allclose(found, expected, rtol=rtol, atol=rtol * 1e-2)


@pytest.mark.sampled(1)
@pytest.mark.measured(1)
@pytest.mark.parametrize("known", [True, False], ids=["static", "dynamic"])
@pytest.mark.parametrize("family", sorted({e.family for e in EXAMPLES}))
def test_every_example_gives_the_interpreters_value(family: str, known: bool) -> None:
    every = [e for e in EXAMPLES if e.family == family]
    # the first of each op, and of the others, which have other dtypes and shapes, one in five
    firsts = {id(e) for e in {e.name: e for e in reversed(every)}.values()}
    own = [e for k, e in enumerate(every) if THOROUGH or k % 5 == 0 or id(e) in firsts]
    # a third of them with known lengths, the others without
    for position, example in enumerate(own):
        if not THOROUGH and known != (position % 3 == 0):
            continue
        inputs, output = symbolic(example, known)
        vm, call = linked("native", inputs, [output])
        expected = og.evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
        agree(call(*example.arguments)[0], expected)
        for node in vm.python_nodes:
            assert reason_for_python(node), (
                f"{example}: {node.op} runs in Python for no known reason"
            )


@pytest.mark.parametrize("example", UNIQUE, ids=str)
def test_programs_are_well_formed_and_in_bounds(example: Example) -> None:
    inputs, output = symbolic(example, known_shapes=False)
    order = og.toposort([output])
    if not all(find_lowering(node) for node in order):
        assert any(reason_for_python(node) for node in order)
        return
    program = lower_graph(inputs, [output], order)
    verify(program)
    if any(":" in name for name in program.table):
        return  # calls of libraries are the machine's
    (found,) = run_program(program, example.arguments)
    given = map(np.ascontiguousarray, example.arguments)
    np.testing.assert_array_equal(found, Compiled(program)(*given)[0])


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler on this machine")
@pytest.mark.parametrize("name", ["c", "c|py"])
def test_c_gives_the_bits_of_native(name: str) -> None:
    inputs: list[Any] = []
    outputs: list[Any] = []
    arguments: list[Any] = []
    chosen: list[Example] = []
    for example in UNIQUE if THOROUGH else UNIQUE[:: 24 if name == "c" else 32]:
        made, output = symbolic(example, known_shapes=False)
        if not all(find_lowering(node) for node in og.toposort([output])):
            continue
        chosen.append(example)
        inputs += made
        outputs.append(output)
        arguments += example.arguments
    _, native = linked("native", inputs, outputs)
    vm, call = linked(name, inputs, outputs)
    for example, found, expected in zip(chosen, call(*arguments), native(*arguments), strict=True):
        assert found.dtype == expected.dtype
        if name == "c|py" and example.family == "linalg":
            agree(found, expected)  # a node alone may have another algorithm than among others
        else:
            np.testing.assert_array_equal(found, expected, str(example))
    if name == "c":
        assert isinstance(vm, BlockVM)


def test_layouts() -> None:
    x, y = ot.dmatrix("x"), ot.dvector("y")
    _, call = linked("native", [x, y], [ot.exp(x) * y, x.sum(axis=0), ot.dot(x, y)])
    a, b = np.arange(12.0).reshape(3, 4) / 7, np.arange(4.0)
    expected = [np.exp(a) * b, a.sum(axis=0), a @ b]
    wide = np.zeros((6, 8))
    wide[::2, ::2] = a
    unaligned = np.zeros(a.nbytes + 1, np.uint8)[1:].view(np.float64).reshape(3, 4)
    unaligned[...] = a
    readonly = a.copy()
    readonly.flags.writeable = False
    for same in (a, np.asfortranarray(a), wide[::2, ::2], unaligned, readonly, a[::-1][::-1]):
        for found, wanted in zip(call(same, b), expected, strict=True):
            np.testing.assert_allclose(found, wanted, rtol=1e-15)
    stretched = np.broadcast_to(np.array(2.0), (4,))
    np.testing.assert_allclose(call(a, stretched)[1], a.sum(axis=0))
    np.testing.assert_allclose(call(a.astype(">f8"), b)[0], expected[0], rtol=1e-15)
    np.testing.assert_allclose(call(a, b[::-1])[2], a @ b[::-1])
    overlapping = np.lib.stride_tricks.sliding_window_view(np.arange(6.0), 4)
    np.testing.assert_allclose(call(overlapping, b)[2], overlapping @ b)


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (0, 0), (1, 1)])
def test_empty_tensors(shape: tuple[int, int]) -> None:
    x = ot.dmatrix("x")
    outputs = [
        x.sum(),
        x.sum(axis=0),
        x.prod(axis=1),
        ot.exp(x).T,
        ot.dot(x, x.T),
        ot.softmax(x, 1),
    ]
    _, call = linked("native", [x], outputs)
    a = np.ones(shape)
    soft = a / max(1, shape[1])
    expected = [a.sum(), a.sum(axis=0), a.prod(axis=1), np.exp(a).T, a @ a.T, soft]
    for found, wanted in zip(call(a), expected, strict=True):
        np.testing.assert_allclose(found, wanted)


def failing() -> list[tuple[Any, list[Any]]]:
    x, y, i = ot.dvector("x"), ot.dvector("y"), ot.lscalar("i")
    indices = ot.lvector("indices")
    return [
        (lambda: ([x, y], ot.exp(x) + y), [np.ones(2), np.ones(3)]),
        (lambda: ([x, i], x[i] * 2), [np.ones(2), 5]),
        (lambda: ([x, indices], x[indices]), [np.ones(2), np.array([0, -3])]),
        (lambda: ([x], (x * 2).max()), [np.ones(0)]),
        (lambda: ([x, i], x.reshape((i, 2))), [np.ones(5), 2]),
        (lambda: ([x, i], ot.zeros((i,)) + x.sum()), [np.ones(2), -1]),
        (lambda: ([x, y], ot.concatenate([x[None], y[None]])), [np.ones(2), np.ones(3)]),
        (lambda: ([x], ot.assert_op(x, x.sum() > 0, msg="not positive")), [-np.ones(2)]),
        (lambda: ([x, y], ot.dot(x, y)), [np.ones(2), np.ones(3)]),
    ]


@pytest.mark.parametrize("case", failing(), ids=range(len(failing())))
def test_errors_are_those_of_the_python_linkers(case: Any) -> None:
    build, arrays = case
    inputs, output = build()
    seen: list[tuple[type, str]] = []
    for name in ("py", "native", "native"):
        _, call = linked(name, inputs, [output])
        with pytest.raises(Exception) as found:  # noqa: PT011 the class is compared below
            call(*arrays)
        seen.append((type(found.value), str(found.value)))
    assert seen[0] == seen[1] == seen[2]
    assert issubclass(seen[0][0], ValueError | IndexError | AssertionError)


def test_only_the_branch_that_is_taken_is_computed() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    risky = ot.exp(x)[i] * 2
    _, call = linked("native", [x, i], [ot.ifelse(ot.lt(i, 3), risky, x.sum())])
    np.testing.assert_allclose(call(np.zeros(3), 1)[0], 2.0)
    np.testing.assert_allclose(call(np.ones(3), 7)[0], 3.0)
    nested = ot.ifelse(ot.lt(i, 0), x, ot.ifelse(ot.lt(i, 10), x[i:], risky * x))
    _, call = linked("native", [x, i], [nested])
    np.testing.assert_allclose(call(np.arange(3.0), -1)[0], [0, 1, 2])
    np.testing.assert_allclose(call(np.arange(3.0), 1)[0], [1, 2])
    with pytest.raises(IndexError):
        call(np.arange(3.0), 11)


class Doubled(og.Op):
    """An op that only Python knows."""

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x * 2


class Echo(Doubled):
    """An op with an effect, which must not be run twice, and so runs between blocks."""

    pure = False


def test_branches_stay_lazy_beside_ops_that_only_python_knows() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    twice = Echo()(x + 1)  # needed in any case
    shared = ot.sin(x)  # both branches need it
    risky = (ot.exp(shared) * twice)[i]  # fails where i is too large
    out = ot.ifelse(ot.lt(i, 3), risky + shared[0], shared.sum())
    vm, call = linked("native", [x, i], [out, twice.sum()])
    assert [part.compiled for part in vm.parts] == [True, False, True]
    value = np.arange(3.0)
    np.testing.assert_allclose(call(value, 1)[0], np.exp(np.sin(1.0)) * 4)
    np.testing.assert_allclose(call(value, 7), [np.sin(value).sum(), 12.0])
    # a branch that is partly Python's
    inside = ot.ifelse(ot.lt(i, 3), Echo()(ot.exp(x)[i]), x.sum())
    vm, call = linked("native", [x, i], [inside])
    assert [part.compiled for part in vm.parts] == [True]
    np.testing.assert_allclose(call(value, 7)[0], 3.0)
    # nested: the inner node's branches belong to the outer one's
    nested = ot.ifelse(ot.lt(i, 0), x[i:], ot.ifelse(ot.lt(i, 3), x[i] * twice, twice))
    vm, call = linked("native", [x, i], [nested, twice.sum()])
    assert [part.compiled for part in vm.parts] == [True, False, True]
    np.testing.assert_allclose(call(value, 7)[0], [2.0, 4.0, 6.0])
    np.testing.assert_allclose(call(value, -1)[0], [2.0])


def test_python_ops_run_between_as_few_blocks_as_possible() -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    first, second = Echo()(ot.exp(x)), Echo()(ot.sin(y))
    vm, call = linked("native", [x, y], [first * second, first + ot.cos(x)])
    assert [part.compiled for part in vm.parts] == [True, False, True]
    assert [str(node.op) for node in vm.python_nodes] == ["Echo", "Echo"]
    a = np.arange(3.0)
    found = call(a, a)
    np.testing.assert_allclose(found[0], 4 * np.exp(a) * np.sin(a))
    np.testing.assert_allclose(found[1], 2 * np.exp(a) + np.cos(a))


def test_long_chains_compile_without_deep_recursion() -> None:
    x = ot.dvector("x")
    y = x
    for k in range(1500):
        y = y * 0.999 + (0.001 if k % 2 else -0.001)
    _, call = linked("native", [x], [y])
    a = np.linspace(0, 1, 5)
    expected = a
    for k in range(1500):
        expected = expected * 0.999 + (0.001 if k % 2 else -0.001)
    np.testing.assert_allclose(call(a)[0], expected, rtol=1e-12)


def test_sums_of_many_floats_are_precise() -> None:
    x = ot.fvector("x")
    _, call = linked("native", [x], [x.sum(), (x * x).sum()])
    a = np.random.default_rng(0).random(1_000_003).astype("float32")
    exact = a.astype("float64")
    found = call(a)
    np.testing.assert_allclose(found[0], exact.sum(), rtol=1e-7)
    np.testing.assert_allclose(found[1], (exact * exact).sum(), rtol=1e-7)
    big = np.full(5, 1e38, "float32")
    assert call(big)[0] == np.inf
    assert np.isnan(call(np.array([np.inf, -np.inf], "float32"))[0])


def test_a_missing_compiler_is_named_only_when_c_is_asked_for(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Any
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.delenv("CC", raising=False)
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    x = ot.dvector("x")
    _, call = linked("native", [x], [x * 2])
    assert call(np.ones(2))[0].tolist() == [2, 2]
    with pytest.raises(
        RuntimeError, match="install gcc or clang, set CC, or `pip install ziglang`"
    ):
        linked("c", [x], [x * 2])


@pytest.mark.sampled(2)
@pytest.mark.parametrize("family", sorted({e.family for e in EXAMPLES}))
def test_no_example_reads_or_writes_out_of_bounds(family: str) -> None:
    with config.change_flags(check_bounds=True):
        for example in (e for e in (EXAMPLES if THOROUGH else UNIQUE) if e.family == family):
            inputs, output = symbolic(example, known_shapes=False)
            _, call = linked("native", inputs, [output])
            expected = og.evaluate(output, dict(zip(inputs, example.arguments, strict=True)))
            agree(call(*example.arguments)[0], expected)


def test_the_checked_build_finds_an_access_out_of_bounds(monkeypatch: pytest.MonkeyPatch) -> None:
    # a lowering that forgets to check an index
    monkeypatch.setattr(
        "occelo_link.loops.lowerings.index.key._position", lambda context, value, length: value
    )
    x, i = ot.dvector("x"), ot.lscalar("i")
    with config.change_flags(check_bounds=True):
        _, call = linked("native", [x, i], [x[i] * 2])
        assert call(np.arange(3.0), 2)[0] == 4.0
        with pytest.raises(IndexError, match="out of bounds"):
            call(np.arange(3.0), 3)


def test_the_checked_build_names_the_op(monkeypatch: pytest.MonkeyPatch) -> None:
    # a lowering that reads beyond the end where NumPy does not
    monkeypatch.setattr(
        "occelo_link.loops.lowerings.index.subtensor._core_index",
        lambda builder, entries, index: [builder.add(i, builder.i64(7)) for i in index],
    )
    x = ot.dvector("x")
    with config.change_flags(check_bounds=True):
        _, call = linked("native", [x], [ot.exp((x * 2)[1:])])
        with pytest.raises(RuntimeError, match=r"failed \(site \d+; mul\)"):
            call(np.arange(3.0))


def _is_of_a_body(node: og.Apply) -> bool:
    return any(isinstance(v, og.NominalVariable) for v in og.ancestors(node.inputs))


@pytest.mark.parametrize("family", sorted({e.family for e in EXAMPLES}))
def test_every_statement_has_its_node(family: str) -> None:
    for example in (e for e in UNIQUE if e.family == family):
        inputs, output = symbolic(example, known_shapes=False)
        order = og.toposort([output])
        if not all(find_lowering(node) for node in order):
            continue
        program = lower_graph(inputs, [output], order)
        of_bodies = {n for n in program.nodes if n is not None and _is_of_a_body(n)}
        assert set(program.nodes) - of_bodies <= {*order, output.owner, None}
        for block in program.blocks():
            for statement in block:
                # lengths of inputs, and what is computed of them, belong to no node
                if isinstance(statement, Value) and statement.dtype == "int64":
                    assert statement.node < len(program.nodes)
                elif order:
                    assert 0 <= statement.node < len(program.nodes), statement


def test_programs_say_which_statements_are_for_which_node() -> None:
    x, i = ot.dvector("x"), ot.lscalar("i")
    outputs = [ot.exp(x).sum(), x[i] * 2]
    program = lower_graph([x, i], outputs, og.toposort(outputs))
    for text in (program_text(program), print_c([("unit", program)])):
        assert [name in text for name in (": exp", ": Sum", ": Subtensor", ": mul")] == [True] * 4


def test_every_scalar_function_is_lowered_or_has_a_reason() -> None:
    known = set(SCALAR_FUNCTIONS)  # tests of other files register more
    lowered = {name for name in known if name in scalars() or find_complex(name)}
    lowered |= {name for name in known if ScalarFunction(name).formula is not None}
    reasons = {name for name in known if ScalarFunction(name).python_only}
    # powers of floats have loops, and the formula of tri_gamma is such a function
    assert reasons - (known - lowered) == {"pow", "tri_gamma"} & known
    assert known - lowered <= reasons


REALS = ("bool", "int8", "uint64", "float32", "float64")
OWN_ROWS = [ScalarFunction(name) for name in sorted(SCALAR_FUNCTIONS)]


@pytest.mark.parametrize("row", OWN_ROWS, ids=str)
def test_reasons_for_python_are_true(row: ScalarFunction) -> None:
    """A function has one if and only if some dtypes of real numbers have no loops, or the other library lacks it."""
    lacking: list[tuple[str, ...]] = []
    nin = row.nin or 2
    for dtypes in itertools.product(REALS, repeat=nin) if nin < 3 else [(d,) * nin for d in REALS]:
        try:
            out = Elemwise(row)(*[og.TensorType(d, (None,))() for d in dtypes])
        except TypeError:
            continue  # it is not defined for these
        if find_lowering(out.owner) is None:
            lacking.append(dtypes)
    assert bool(lacking) == (row.python_only is not None), lacking
    if row.python_only and "exports no function" in row.python_only:
        exported = importlib.import_module("scipy.special.cython_special").__pyx_capi__
        assert not any(re.fullmatch(rf"(__pyx_fuse_\d+)?{row.name}", each) for each in exported)


class HalfDot(Dot):
    """A subclass that computes something else than its base."""

    def evaluate(self, x: Any, y: Any) -> Any:
        return np.asarray(np.dot(x, y) / 2)


def test_a_subclass_with_code_of_its_own_is_not_taken_for_its_base() -> None:
    x, y = ot.dmatrix("x"), ot.dmatrix("y")
    a = np.ones((2, 2))
    for name in ("native", "c|py") if HAS_COMPILER else ("native",):
        _, call = linked(name, [x, y], [HalfDot()(x, y) + 1])
        np.testing.assert_array_equal(call(a, a)[0], a @ a / 2 + 1)


def test_units_for_strided_inputs() -> None:
    x, y = ot.dmatrix("x"), ot.dvector("y")
    outputs = [ot.exp(x) * y, x.sum(axis=0), x.T[::-1]]
    order = og.toposort(outputs)
    unit = Compiled(lower_graph([x, y], outputs, order, contiguous=[False, False]))
    a, b = np.arange(24.0).reshape(4, 6) / 7, np.arange(12.0)
    for p, q in ((a, b[::2]), (a[::-1, ::2], b[2::-1]), (a.T[::2], b[:4]), (a[:0], b[:6])):
        found = unit(p, q)
        for one, expected in zip(found, [np.exp(p) * q, p.sum(axis=0), p.T[::-1]], strict=True):
            np.testing.assert_allclose(one, expected, rtol=1e-15)


@pytest.mark.parametrize("shape", [(3,), (8,), (2, 3), (1, 4), (0, 3), (7, 1)])
def test_small_constant_shapes_have_no_loops_and_the_same_bits(shape: tuple[int, ...]) -> None:
    known = ot.tensor("x", dtype="float64", shape=shape)
    unknown = ot.tensor("x", dtype="float64", shape=(None,) * len(shape))

    def outputs(x: Any) -> list[Any]:
        last = x.ndim - 1
        return [ot.exp(x) * 2, x.sum(), x.sum(axis=last), ot.cumsum(x, axis=last), x.sum(axis=0)]

    made = outputs(known)
    text = print_llvm(lower_graph([known], made, og.toposort(made)))
    assert "phi i64" not in text
    value = np.random.default_rng(0).normal(size=shape)
    few = linked("native", [known], made)[1](value)
    many = linked("native", [unknown], outputs(unknown))[1](value)
    for a, b in zip(few, many, strict=True):
        np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize("rows", [4, 1000])
def test_programs_state_how_much_memory_they_take(
    rows: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x = ot.tensor("x", dtype="float64", shape=(rows, 50))
    y = ot.softmax(ot.exp(x) @ x.T, axis=1)
    output = ot.dot(y, ot.tanh(y)).sum(axis=0) + ot.exp(y).max(axis=1)
    program = lower_graph([x], [output], og.toposort([output]))
    [(stated, value)] = work_memory(program)
    assert value is None
    assert f"work memory: {stated} bytes" in program_text(program)
    grown: list[int] = []
    plain = python_entry._GROW

    def noting(function: Any) -> Any:
        def grow(frame: int, size: int) -> Any:
            grown.append(size)
            return function(frame, size)

        return plain(grow)

    monkeypatch.setattr(python_entry, "_GROW", noting)
    compiled = Compiled(program)
    compiled(np.zeros((rows, 50)))
    buffers = sum(isinstance(s, Alloc) for block in program.blocks() for s in block)
    assert stated - 2048 <= sum(grown) <= stated + 64 * buffers
    assert stated > 8 * rows * rows
    unknown = ot.dmatrix("x")
    output = ot.dot(ot.exp(unknown), ot.sin(unknown).T).sum()
    text = program_text(lower_graph([unknown], [output], og.toposort([output])))
    assert "work memory: 8 * %" in text


def test_large_constant_shapes_keep_their_loops() -> None:
    x = ot.tensor("x", dtype="float64", shape=(1000,))
    y = ot.exp(x)
    assert "phi i64" in print_llvm(lower_graph([x], [y], og.toposort([y])))


@pytest.mark.skipif(platform.machine() not in ("x86_64", "AMD64"), reason="reads code of x86")
@pytest.mark.parametrize("count", [1, 4, 12])
def test_loops_find_addresses_in_registers_after_any_number_of_checks(count: int) -> None:
    rng = np.random.default_rng(0)
    index, weights = rng.integers(0, 9, 300), rng.normal(size=300)
    values = ot.tensor("values", dtype="float64", shape=(300,))
    inputs: list[Any] = [ot.dvector(f"x{i}") for i in range(count)]
    outputs = [
        ot.inc_subtensor(ot.exp(x)[index], values * (weights + i)) for i, x in enumerate(inputs)
    ]
    text = print_llvm(lower_graph([*inputs, values], outputs, og.toposort(outputs)))
    blocks = re.split(r"^(\.LBB\d+_\d+):", assembly(text), flags=re.M)
    loops = [
        body[: end.start()]
        for label, body in zip(blocks[1::2], blocks[2::2], strict=True)
        if (end := re.search(rf"\tj\w+\s+{re.escape(label)}$", body, re.M))
    ]
    assert len(loops) >= count
    assert not [loop for loop in loops if "(%rsp)" in loop]


def _products(count: int) -> tuple[Any, Any, Any, Any]:
    """A graph with working memory for each product, all of which is needed to the end, and the same with NumPy."""
    x, y = ot.dmatrix("x"), ot.dmatrix("y")

    def chain(a: Any, b: Any, dot: Any, tanh: Any) -> Any:
        kept: list[Any] = []
        for _ in range(count):
            a = tanh(dot(a, b))
            kept.append(a)
        return sum((c * d).sum() for c, d in zip(kept, kept[::-1], strict=True))

    return x, y, chain(x, y, ot.dot, ot.tanh), lambda a, b: chain(a, b, np.dot, np.tanh)


@pytest.mark.parametrize("count", [1, 4, 5, 9])
@pytest.mark.parametrize("rows", [0, 1, 3])
def test_any_number_of_buffers_is_allocated(count: int, rows: int) -> None:
    x, y, output, expected = _products(count)
    a, b = np.random.default_rng(0).normal(size=(rows, 7)), np.eye(7) + 0.1
    call = linked("native", [x, y], [output])[1]
    for _ in range(2):
        np.testing.assert_allclose(call(a, b)[0], expected(a, b), rtol=1e-13)


@pytest.mark.parametrize("failing", range(6))
def test_a_unit_ends_when_any_allocation_fails(
    failing: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    x, y, output, expected = _products(10)
    unit = Compiled(lower_graph([x, y], [output], og.toposort([output])))
    a, b = np.ones((3, 7)), np.eye(7)
    np.testing.assert_allclose(unit(a, b)[0], expected(a, b), rtol=1e-13)
    plain, sizes = python_entry._GROW, list[int]()

    def refusing(function: Any) -> Any:
        def grow(frame: int, size: int) -> Any:
            sizes.append(size)
            return None if len(sizes) == failing + 1 else function(frame, size)

        return plain(grow)

    monkeypatch.setattr(python_entry, "_GROW", refusing)
    with pytest.raises(UnitFailure) as caught:
        unit(a, b)
    assert caught.value.site == -1
    assert len(sizes) == failing + 1


def test_functions_are_printed_once_outside_of_loops_with_the_same_bits() -> None:
    scalars, x = [ot.dscalar(n) for n in "abc"], ot.dvector("x")
    outputs: list[Any] = [f(s) for f in (ot.exp, ot.softplus) for s in scalars]
    text = print_llvm(lower_graph(scalars, outputs, og.toposort(outputs)))
    defined = re.findall(r"^define internal double @([a-z_0-9]+)\.1\(", text, re.M)
    assert len(defined) == len(set(defined)) == 2
    assert text.count("call double @") - text.count("@llvm.") <= 6
    values = [0.3, -700.5, 12.0]
    alone = linked("native", scalars, outputs)[1](*map(np.asarray, values))
    wide: list[Any] = [ot.exp(x), ot.softplus(x)]
    together = np.concatenate(linked("native", [x], wide)[1](np.array(values)))
    np.testing.assert_array_equal(alone, together)
    # a function that is used once is inlined
    assert "@exp" not in print_llvm(lower_graph(scalars[:1], outputs[:1], og.toposort(outputs[:1])))
