"""The linker ``numba``: the same bits as ``native``, and functions that other Numba code can call."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import Op, TensorType, grad, op, toposort
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_link.loops.build import find_lowering, lower_graph
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES

numba = pytest.importorskip("numba", reason="numba is not installed")

from occelo_link.numba.calling import as_numba  # noqa: E402
from occelo_link.numba.compiling import dispatcher_of  # noqa: E402
from occelo_link.numba.printer import print_numba  # noqa: E402

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def model(mode: str) -> tuple[Any, Any]:
    """A training step and its weights."""
    x, target = ot.dmatrix("x"), ot.dvector("target")
    w = oc.shared(np.linspace(-1.0, 1.0, 5), "w")
    cost = ot.log(1 + ot.exp(-target * (x @ w))).mean() + 0.1 * (ot.tanh(w) ** 2).sum()
    return oc.function([x, target], cost, updates={w: w - 0.1 * grad(cost, w)}, mode=mode), w


def data() -> tuple[Any, Any]:
    rng = np.random.default_rng(1)
    return rng.normal(size=(40, 5)), np.sign(rng.normal(size=40))


def test_results_have_the_bits_of_native() -> None:
    mine, its = model("numba"), model("native")
    for _ in range(5):
        assert mine[0](*data()).tobytes() == its[0](*data()).tobytes()
    assert mine[1].get_value().tobytes() == its[1].get_value().tobytes()


def test_blas_is_given_only_what_it_can_read() -> None:
    x, v, n = ot.dmatrix("x"), ot.dvector("v"), ot.lscalar("n")
    outputs = [ot.dot(x[::-1], v), ot.dot(v, x[::n].T), ot.dot(x[::n], x.T[::-1].T)]
    f = oc.function([x, v, n], outputs, mode="numba")
    a, b = np.random.default_rng(2).normal(size=(4, 4)), np.arange(4.0)
    for step in (1, -1, 2, -3):
        expected = [a[::-1] @ b, b @ a[::step].T, a[::step] @ a[:, ::-1]]
        for found, value in zip(f(a, b, step), expected, strict=True):
            np.testing.assert_allclose(found, value, rtol=1e-13)


def test_a_function_can_be_called_by_other_code_of_numba() -> None:
    x, k = ot.dvector("x"), ot.lscalar("k")
    w = oc.shared(np.array([1.0, 2.0, 3.0]), "w")
    f = oc.function([x, k], [(ot.exp(x) * w).sum(), x[k]], mode="numba")
    inner = as_numba(f)

    @numba.njit  # type: ignore[untyped-decorator]
    def total(rows: Any) -> Any:
        found = 0.0
        for i in range(rows.shape[0]):
            one, two = inner(rows[i], np.array(1))
            found += one[()] + two[()]
        return found

    rows = np.arange(6.0).reshape(2, 3)
    expected = sum(float(f(r, 1)[0] + f(r, 1)[1]) for r in rows)
    np.testing.assert_allclose(total(rows), expected)
    with pytest.raises(ValueError, match="A check of a compiled function failed"):
        inner(rows[0], np.array(7))
    with pytest.raises(TypeError, match="not one block compiled by Numba"):
        as_numba(oc.function([x], x * 2, mode="vm"))


def test_what_only_python_knows_is_called_lazily_by_one_compiled_function() -> None:
    runs: list[int] = []

    class Noting(og.Op):
        __props__ = ("number",)
        itypes = (og.TensorType("float64", (None,)),)
        otypes = (og.TensorType("float64", (None,)),)
        pure = False

        def __init__(self, number: int) -> None:
            self.number = number

        def perform(self, node: Any, inputs: Any, output_storage: Any) -> None:
            runs.append(self.number)
            output_storage[0][0] = inputs[0] * self.number

    x, k = ot.dvector("x"), ot.lscalar("k")
    inner = ot.ifelse(k > 1, Noting(2)(ot.exp(x)), Noting(3)(x) + 1)
    y = ot.ifelse(k > 2, Noting(5)(x) * x, inner)
    with pytest.warns(UserWarning, match="runs in Python, called by the compiled function"):
        f = oc.function([x, k], y.sum(), mode="numba")
    assert [part.compiled for part in f.vm.parts] == [True]
    v = np.linspace(0, 1, 4)
    for at, number, wanted in (
        (3, 5, (v * 5 * v).sum()),
        (2, 2, (np.exp(v) * 2).sum()),
        (1, 3, (v * 3 + 1).sum()),
    ):
        runs.clear()
        np.testing.assert_allclose(f(v, at), wanted, rtol=1e-14)
        assert runs == [number]
    with pytest.raises(TypeError, match="in Python"):
        as_numba(f)


def test_it_takes_numbers_rows_and_matrices_and_gives_memory_that_numba_frees() -> None:
    m, k = ot.TensorType("float64", (None, 3))("m"), ot.dscalar("k")
    ok = ot.bvector("ok")
    f = oc.function([m, k, ok], [ot.exp(m) * k, m.sum(), ~ok.astype("bool")], mode="numba")
    inner = as_numba(f)
    rows = np.arange(12.0).reshape(3, 4).T  # not in C order
    flags = np.array([1, 0], np.int8)
    scaled, total, negated = inner(rows, 2, flags)
    np.testing.assert_array_equal(scaled, f(rows, 2.0, flags)[0])
    assert total == rows.sum()
    np.testing.assert_array_equal(negated, [False, True])
    with pytest.raises(ValueError, match=r"Argument m needs the shape \(None, 3\)"):
        inner(np.zeros((2, 4)), 1.0, flags)
    with pytest.raises(numba.TypingError, match="an array of float64 with 2 dimensions"):
        inner(np.zeros((2, 3), np.float32), 1.0, flags)
    del scaled, total, negated
    from numba.core.runtime import _nrt_python, rtsys

    _nrt_python.memsys_enable_stats()
    before = rtsys.get_allocation_stats()
    for _ in range(100):
        inner(rows, 2.0, flags)
        with pytest.raises(ValueError, match="needs the shape"):
            inner(np.zeros((2, 4)), 1.0, flags)
    after = rtsys.get_allocation_stats()
    _nrt_python.memsys_disable_stats()
    assert after.mi_alloc - after.mi_free == before.mi_alloc - before.mi_free


def test_copies_in_c_order_live_as_long_as_they_are_needed() -> None:
    m = ot.dmatrix("it's")
    inner = as_numba(oc.function([m], [m + 1.0, m * 2.0], mode="numba"))

    @numba.njit  # type: ignore[untyped-decorator]
    def twice(x: Any) -> Any:
        one, two = inner(x.T)
        three, four = inner(x[::2])
        return one, two, three, four

    x = np.arange(200_000.0).reshape(400, 500)
    one, two, three, four = twice(x)
    np.testing.assert_array_equal(one, x.T + 1)
    np.testing.assert_array_equal(two, x.T * 2)
    np.testing.assert_array_equal(three, x[::2] + 1)
    np.testing.assert_array_equal(four, x[::2] * 2)


SECOND = """
import sys
import numpy as np
import occelo_compile as oc
from occelo_graph import grad, tensor as ot
from occelo_link.cache.store import counters

w = oc.shared(np.linspace(-1.0, 1.0, 5), "w")
x = ot.dmatrix("x")
cost = ot.log(1 + ot.exp(x @ w)).mean()
f = oc.function([x], cost, updates={w: w - 0.1 * grad(cost, w)}, mode="numba")
print(f(np.ones((3, 5))), *w.get_value(), sep=" ")
print(counters["rewriting"], counters["code generation"], "numba" in sys.modules)
if "inner" in sys.argv:
    from occelo_link import as_numba
    print(as_numba(f)(np.ones((3, 5)))[0])
"""


def test_memory_of_a_constant_may_go_on_as_that_of_a_choice() -> None:
    """The gradient by a value that perhaps broadcasts is a constant or its sum, which a run-time length decides."""
    x, y = ot.dvector("x"), ot.dvector("y")
    written = x[0:2].inc(y) * np.arange(1.0, 5.0)
    f = oc.function([x, y], grad(written.sum(), y), mode="numba")
    np.testing.assert_array_equal(f(np.zeros(4), [5.0]), [3.0])
    np.testing.assert_array_equal(f(np.zeros(4), [5.0, 6.0]), [1.0, 2.0])


@pytest.mark.measured(0)
def test_functions_for_numba_overwrite_no_shared_variable() -> None:
    a, b = ot.dmatrices("a", "b")
    kept = oc.shared(np.ones((3, 3)), "kept")
    f = oc.function([a, b], [kept.sum()], updates={kept: kept + a @ b}, mode="numba")
    inner = as_numba(f)
    given = np.arange(9.0).reshape(3, 3), np.eye(3)
    f(*given)
    np.testing.assert_array_equal(inner(*given)[0], 9.0)  # of the value when it was made
    np.testing.assert_array_equal(kept.get_value(), given[0] + 1.0)


def test_a_second_process_needs_neither_rewriting_nor_numba(tmp_path: Path) -> None:
    def run(*arguments: str) -> list[str]:
        environment = {**os.environ, "OCCELO_FLAGS": f"compiledir={tmp_path}"}
        environment["PYTHONPATH"] = os.pathsep.join(sys.path)
        done = subprocess.run(
            [sys.executable, "-c", SECOND, *arguments],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()

    first, second = run(), run("inner")
    assert first[0] == second[0]
    assert first[1].startswith("1 ")
    assert first[1].endswith(" True")
    assert second[1] == "0 0 False"
    assert float(second[2]) < float(first[0].split()[0])


def test_read_only_and_strided_arguments_need_no_other_code() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.sin(x), mode="numba")
    values = np.linspace(0.0, 1.0, 10)
    expected = f(values).copy()
    values.setflags(write=False)
    np.testing.assert_array_equal(f(values), expected)
    np.testing.assert_array_equal(f(np.repeat(values, 2)[::2]), expected)
    assert type(type(f).__dict__["__call__"]).__name__ == "builtin_function_or_method"


TEXT = """
def unit(frame, table):
    in1_lengths = pointer_int64(frame, 6)
    in2_lengths = pointer_int64(frame, 9)
    in1 = pointer_float64(frame, 5)
    in2 = pointer_float64(frame, 8)
    v1 = in1_lengths[0]
    v4 = in2_lengths[0]
    v5 = v1 == v4
    if not v5:
        return 1
    out3 = output_float64(frame, table, 0)
    if null(out3):
        return -1
    v8 = add_int64(v1, 2047, table)
    v9 = floordiv_int64(v8, 2048, table)
    v12 = 0.0
    v14 = 0.0
    step3 = 781
    for first1 in range(0, v9, step3):
        limit2 = min(first1 + step3, v9)
        for v10 in range(first1, limit2):
            v16 = mul_int64(v10, 2048, table)
            v17 = add_int64(v16, 2048, table)
            v18 = min_int64(v17, v1, table)
            lanes4 = stack_float64_8()
            for lane6 in range(8):
                lanes4[lane6] = 0.0
            whole7 = v18 - (v18 - v16) % 8 if v18 > v16 else v18
            for group5 in range(v16, whole7, 8):
                for lane6 in range(8):
                    v19 = group5 + lane6
                    v20 = lanes4[lane6]
                    v22 = in1[v19]
                    v86 = exp(v22, table)
                    v87 = in2[v19]
                    v88 = v86 * v87
                    v89 = v20 + v88
                    lanes4[lane6] = v89
            for lane6 in range(v18 - whole7):
                v19 = whole7 + lane6
                v20 = lanes4[lane6]
                v22 = in1[v19]
                v86 = exp(v22, table)
                v87 = in2[v19]
                v88 = v86 * v87
                v89 = v20 + v88
                lanes4[lane6] = v89
            v21 = add_float64_8(lanes4, table)
            v90 = v12 + v21
            v91 = v90 - v12
            v92 = v90 - v91
            v93 = v12 - v92
            v94 = v21 - v91
            v95 = v93 + v94
            v96 = v14 + v95
            next8 = v90
            next9 = v96
            v12 = next8
            v14 = next9
        if limit2 < v9:
            if poll(frame, table):
                return -2
    v97 = v12 + v14
    v98 = v14 - v14
    v99 = v98 == 0.0
    v100 = select_float64(v99, v97, v12, table)
    out3[0] = v100
    return 0
"""


def test_the_text_is_python() -> None:
    x, y = ot.dvectors("x", "y")
    with config.change_flags(cache=False):  # what comes from the cache has no program
        f = oc.function([x, y], (ot.exp(x) * y).sum(), mode="numba")
    text = print_numba(f.vm.units[0].program).text
    assert text == TEXT


def test_object_code_names_nothing_outside_itself() -> None:
    for example in EXAMPLES[:: 60 if THOROUGH else 240]:
        inputs, output = symbolic(example, False)
        outputs = list(output) if isinstance(output, list | tuple) else [output]
        order = toposort(outputs)
        if not order or not all(find_lowering(node) for node in order):
            continue
        program = lower_graph(inputs, outputs, order, blas_integer="int64")
        (compiled,) = dispatcher_of(print_numba(program)).overloads.values()
        lines = compiled.library.get_llvm_str().splitlines()
        outside = [t for t in lines if t.startswith("declare") and "@llvm." not in t]
        assert outside + [t for t in lines if "= external" in t] == []


def test_a_compiler_that_is_switched_off_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    x = ot.dvector("x")
    with (
        config.change_flags(cache=False),
        pytest.raises(RuntimeError, match="NUMBA_DISABLE_JIT"),
    ):
        oc.function([x], x * 3 + 1, mode="numba")


def test_threads() -> None:
    x = ot.dvector("x")
    f = oc.function([x], ot.exp(x).sum(), mode="numba")
    f(np.zeros(1))
    wrong: list[Any] = []

    def work(seed: int) -> None:
        for i in range(50):
            value = np.full(seed + 1, i / 50)
            if not np.isclose(f(value), np.exp(value).sum()):
                wrong.append(value)

    threads = [threading.Thread(target=work, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == []


@op
class Largest(Op):
    """An op that only NumPy computes."""

    def infer(self, x: TensorType) -> TensorType:
        return TensorType(x.dtype, ())

    def evaluate(self, x: Any) -> Any:
        return x.max()


def test_what_has_no_loops_runs_between_blocks() -> None:
    z, largest = ot.zvector("z"), Largest()
    with pytest.warns(UserWarning, match="numba has no .*: it runs in Python") as told:
        f = oc.function([z], abs(largest(z) * 2), mode="numba")
    assert len({str(t.message) for t in told}) == len(told)
    assert f(np.array([3 + 4j])) == 10.0
    with pytest.raises(NotImplementedError, match="it runs in Python"):
        oc.function([z], largest(z), mode=oc.Mode("numba", strict=True))


def test_functions_of_many_blocks_get_a_deeper_stack(monkeypatch: pytest.MonkeyPatch) -> None:
    x = ot.dvector("x")
    y = x
    for k in range(20):
        y = ot.ifelse(ot.gt(y.sum(), k), y * 2, y + 1)
    printed = print_numba(lower_graph([x], [y], toposort([y])))
    limit, seen = sys.getrecursionlimit(), list[int]()

    def njit(*_: Any, **__: Any) -> Any:
        return lambda function: seen.append(sys.getrecursionlimit())

    # compiling such functions in full takes half a minute
    monkeypatch.setattr("occelo_link.numba.compiling.numba.njit", njit)
    dispatcher_of(printed)
    # Numba calls itself twice for each block that all later ones come after
    assert seen[0] > limit + 2 * 20
    assert sys.getrecursionlimit() == limit
