"""Graphs with loops of any number of steps that JAX and PyTorch compile once: tensors with rows to spare, against the interpreter."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.fgraph.frozen import freeze
from occelo_graph.ops.create import Alloc
from occelo_link import make_linker
from occelo_link.traced.linker import TracedLinker
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import fori_loop, loop
from occelo_loops.ops.iterate import Iterate
from occelo_loops.rules.padding import padded_graph as padding
from occelo_loops.rules.padding import padded_rows
from occelo_random import functions as random

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(jax|pytorch|runs in Python)"),
    pytest.mark.measured(9),
]

n, k = ot.lscalar("n"), ot.lscalar("k")
a, x, v, m = ot.dscalar("a"), ot.dvector("x"), ot.dvector("v"), ot.dmatrix("m")
INPUTS = [n, k, a, x, v, m]


def sines() -> tuple[Any, Any]:
    return loop(lambda s: (ot.sin(s * a + 1.0),) * 2, a, length=n)


def with_elements(reverse: bool = False) -> tuple[Any, Any]:
    return loop(lambda s, e: (ot.tanh(s * a + e),) * 2, a, x, length=n, reverse=reverse)


def with_matrix() -> tuple[Any, Any]:
    return loop(lambda h: (ot.tanh(m @ h),) * 2, v, length=n)


def doubled(length: Any) -> tuple[Any, Any]:
    return loop(lambda s: (s * 2 + ot.cos(a), s), a, length=length, until=lambda s: s > 50.0)


def taps() -> Any:
    start = {"initial": ot.stack([a, a]), "taps": [-2, -1]}
    return scan(lambda p, q: p + a * q, outputs_info=start, n_steps=n, return_updates=False)


def joined_and_cut(trace: Any, one: Any, more: Any) -> dict[str, list[Any]]:
    """Tensors that are made of the parts of a trace: ``one`` and ``more`` are put before or after it."""
    again = loop(lambda s, e: (s * e.sum(), s), a, trace[::-1])[1]
    later = loop(lambda s, e: (s * e.sum() + 0.1, s), a, trace[1:])[1]
    return {
        "reversed rows": [trace[::-1], ot.sin(trace)[::-1] * trace, again],
        "differences": [trace[1:] - trace[:-1], (trace[2:] * trace[1:-1]).sum(), later],
        "from a position": [trace[k:], trace[-3:], trace[1:k], trace[-k:].sum()],
        "states before": [ot.concatenate([one, trace]), ot.concatenate([one, trace[:-1]]) * 2.0],
        "joined": [ot.concatenate([trace, more]), ot.concatenate([more, trace, 2.0 * trace, one])],
        "parts of what is joined": [
            ot.concatenate([more, trace])[1:],
            ot.concatenate([trace[1:], one])[::-1] * ot.concatenate([one, trace[:-1]]),
            ot.cumsum(ot.concatenate([one, trace]), axis=0)[1:],
        ],
    }


def with_slopes(cases: dict[str, list[Any]], wrt: list[Any]) -> dict[str, list[Any]]:
    """The outputs, and the gradient of the sum of their sines."""
    return {
        name: [*outputs, *grad(sum(ot.sin(v).sum() for v in outputs), wrt)]
        for name, outputs in cases.items()
    }


def parts_of_traces() -> dict[str, list[Any]]:
    """Traces of a number of steps that is an input, of rows, and of steps that a condition ends."""
    found: dict[str, list[Any]] = {}
    for name, trace, one, more, wrt in (
        ("numbers", sines()[1], a[None], x, [a]),
        ("until", doubled(100)[1], a[None], x, [a]),
        ("rows", with_matrix()[1], v[None], m, [m, v]),
    ):
        cases = with_slopes(joined_and_cut(trace, one, more), wrt)
        found.update({f"{case} of {name}": outputs for case, outputs in cases.items()})
    return found


def costs() -> dict[str, list[Any]]:
    """The outputs of several functions with a number of steps that their inputs decide."""
    final, trace = sines()
    with_x, traced_x = with_elements()
    back, traced_back = with_elements(reverse=True)
    of_m, traced_m = with_matrix()
    ended, some = doubled(100)
    ended_or_all, some_or_all = doubled(n)
    square = (trace**2).sum() + trace.mean()
    counted = scan(lambda i, s: s * a + i, ot.arange(n), a, return_updates=False)
    return {
        "final": [final, grad(final, a)],
        "traces": [trace, trace * 2.0, trace[None].sum(axis=0)],
        "second order": [square, grad(grad(square, a), a)],
        "last": [trace[-1], trace[k], grad(trace[-1], a)],
        "elements": [with_x, traced_x, *grad(with_x + (traced_x**2).sum(), [a, x])],
        "reversed": [back, traced_back, *grad(back, [a, x])],
        "matrix": [traced_m, of_m, *grad((traced_m**2).sum() + of_m.sum(), [m, v])],
        "products": [traced_m @ m, traced_m.T @ traced_m, (m @ traced_m.T).sum(axis=1), v @ traced_m.T @ trace],
        "running": [ot.cumsum(trace), trace.max(), (trace > 0).all(), traced_m.max(axis=1), trace.prod()],
        "until": [ended, some, grad(ended, a), grad((some**2).sum(), a), some[-1]],
        "until or all": [ended_or_all, some_or_all, grad((some_or_all**2).sum() + ended_or_all, a)],
        "taps": [taps(), grad(taps().sum(), a)],
        "positions": [counted, grad(counted.sum(), a)],
        "written": [ot.zeros_like(x)[:n].set(trace), ot.ones_like(x)[:n].inc(trace), trace[2].set(a)],
    }  # fmt: skip


COSTS = {**costs(), **parts_of_traces()}
G = np.random.default_rng(0)
VALUES: list[Any] = [0.3, G.normal(size=20), G.normal(size=3), G.normal(size=(3, 3))]


def expected(outputs: list[Any], count: int) -> list[Any]:
    return og.evaluate(outputs, dict(zip(INPUTS, [count, 2, *VALUES], strict=True)))


@pytest.mark.parametrize("name", COSTS)
def test_rows_to_spare_are_never_read(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """In the interpreter, with NaN in the rows to spare."""

    def poisoned(work: Any, node: Any, given: Any) -> Any:
        made = padded_rows._alloc(work, node, given)
        if made is None or made[1] is None or made[0][0].dtype != "float64":
            return made
        # the memory of a trace, and what is made of it
        (rows,) = made[0]
        counts = work.before_end(made[1], rows.shape[0], rows.ndim)
        return [ot.switch(counts, rows, np.nan)], made[1]

    forms = [(t, poisoned if t is Alloc else f) for t, f in padding.FORMS]
    monkeypatch.setattr(padding, "FORMS", forms)
    mode = oc.get_mode("py").excluding(*TracedLinker.incompatible_rewrites.include)
    f = oc.function(INPUTS, COSTS[name], mode=mode, on_unused_input="ignore")
    graph = padding.padded(f.maker.fgraph)
    assert graph is not None
    short = (0, 1, 2) if " of " in name else ()
    for count, at, value in [(c, 2, 0.3) for c in (*short, 3, 5, 20)] + [
        (4, -3, 60.0),
        (7, 9, 8.0),
    ]:
        if at != 2 and not short:
            continue
        values = [np.array(count), np.array(at), np.array(value), *VALUES[1:]]
        wanted = og.evaluate(COSTS[name], dict(zip(INPUTS, values, strict=True)))
        for capacity in (20, 33):
            given = [*values, *[np.array(capacity)] * len(graph.capacities)]
            found = og.evaluate(graph.outputs, dict(zip(graph.inputs, given, strict=True)))
            for i, value in enumerate(wanted):
                one = found[i][: found[graph.cuts[i]]] if i in graph.cuts else found[i]
                np.testing.assert_allclose(one, value, rtol=1e-9, atol=1e-12)
                assert one.dtype == value.dtype


class _Counted:
    """How often a linker compiles."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, linker: type[TracedLinker]) -> None:
        self.number = 0
        original = linker.compile_traced

        def counted(*arguments: Any) -> Any:
            self.number += 1
            return original(*arguments)

        monkeypatch.setattr(linker, "compile_traced", counted)


def linker_without_compiler(name: str) -> Any:
    return make_linker("jax") if name == "jax" else type(make_linker("pytorch"))(compiled=False)


@pytest.mark.parametrize(
    ("backend", "name"),
    [
        *(("jax", name) for name in ("final", "elements", "matrix", "until", "written")),
        *(("jax", f"{name} of numbers") for name in ("reversed rows", "differences", "joined")),
        *(("jax", f"{name} of until") for name in ("from a position", "states before")),
        ("jax", "parts of what is joined of rows"),
        ("pytorch", "elements"),
        ("pytorch", "states before of rows"),
    ],
)
def test_a_graph_is_compiled_for_powers_of_two(
    backend: str, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    pytest.importorskip("torch" if backend == "pytorch" else "jax")
    linker = linker_without_compiler(backend)
    counted = _Counted(monkeypatch, type(linker))
    f = oc.function(INPUTS, COSTS[name], mode=oc.Mode(linker), on_unused_input="ignore")
    for counts, compiled in (((5, 3, 16), 1), ((17, 20), 1 if "until" in name else 2)):
        for count in counts:
            found = f(count, 2, *VALUES)
            for one, value in zip(found, expected(COSTS[name], count), strict=True):
                np.testing.assert_allclose(one, value, rtol=1e-9, atol=1e-12)
                assert one.dtype == value.dtype
        assert counted.number == compiled


def test_no_step_and_wrong_numbers_of_steps() -> None:
    pytest.importorskip("jax")
    f = oc.function(INPUTS, COSTS["elements"], mode="jax", on_unused_input="ignore")
    for count in (0, 1):
        for one, value in zip(
            f(count, 2, *VALUES), expected(COSTS["elements"], count), strict=True
        ):
            np.testing.assert_allclose(one, value, rtol=1e-9, atol=1e-12)
    with pytest.raises(ValueError, match="21 steps, but its sequence 0 has only 20 elements"):
        f(21, 2, *VALUES)
    with pytest.raises(ValueError, match="is -1, and cannot be negative"):
        f(-1, 2, *VALUES)
    g = oc.function([n, a, k], [sines()[1][k], sines()[1].max()], mode="jax")
    with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
        g(5, 0.3, 5)
    with pytest.raises(ValueError, match=r"no elements|zero-size"):
        oc.function([n, a], sines()[1].max(), mode="jax")(0, 0.3)
    np.testing.assert_allclose(g(5, 0.3, -5)[0], np.sin(1.09))


def test_a_single_row_that_is_written_is_repeated() -> None:
    """Other rows that do not fit are refused, as by NumPy."""
    pytest.importorskip("jax")
    trace = sines()[1]
    f = oc.function([n, a, x], ot.zeros_like(x)[:n].set(trace), mode="jax")
    assert type(f.vm).__name__ == "PaddedVM"
    for count, rows in ((1, 3), (1, 0), (1, 1), (4, 5), (5, 5), (0, 0), (0, 3)):
        expected_rows = np.zeros(rows)
        expected_rows[:count] = og.evaluate(trace, {n: count, a: 0.3})
        np.testing.assert_allclose(f(count, 0.3, np.ones(rows)), expected_rows)
    for count, rows in ((2, 1), (2, 0), (4, 3)):
        with pytest.raises(ValueError, match="Cannot write a value of shape"):
            f(count, 0.3, np.ones(rows))


def test_the_first_function_of_a_process_is_padded() -> None:
    """The family's part for JAX is loaded by the linker that asks for it."""
    pytest.importorskip("jax")
    program = """if True:
        import occelo_compile as oc
        from occelo_graph import tensor as ot
        from occelo_loops.ops.building.loops import loop

        n, a = ot.lscalar(), ot.dscalar()
        f = oc.function([n, a], loop(lambda s: (ot.sin(s * a),) * 2, a, length=n)[1], mode="jax")
        print(type(f.vm).__name__)
    """
    printed = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True
    )
    assert printed.stdout == "PaddedVM\n"


def test_a_loop_reads_no_row_to_spare() -> None:
    """A body that reads rows at its position, without a check before the loop."""
    pytest.importorskip("jax")
    at, level, rows = ot.lscalar(), ot.dscalar(), ot.dvector()
    body = freeze([at, level, rows], [at + 1, level * 0.5 + rows[at]])
    read: Any = Iterate(body, 2)(k, np.int64(0), a, sines()[1], return_list=True)[1]
    f = oc.function([n, k, a], read, mode="jax")
    assert type(f.vm).__name__ == "PaddedVM"
    for count in (0, 4, 5):
        np.testing.assert_allclose(f(5, count, 0.3), og.evaluate(read, {n: 5, k: count, a: 0.3}))
    for count in (6, 16):
        with pytest.raises(IndexError, match="index 5 is out of bounds for axis 0 with size 5"):
            f(5, count, 0.3)


def test_positions_up_to_a_number_that_is_no_integer() -> None:
    pytest.importorskip("jax")
    places = ot.arange(a)
    trace = scan(lambda i, s: s * 0.5 + i, places, ot.constant(1.0), return_updates=False)
    with pytest.warns(UserWarning, match="a will be static: each new value is compiled anew"):
        f = oc.function([a], [trace, places, places[-1], places.mean()], mode="jax")
    for found, wanted in zip(f(2.5), ([0.5, 1.25, 2.625], [0, 1, 2], 2.0, 1.0), strict=True):
        np.testing.assert_array_equal(found, wanted)


def test_fewer_than_no_positions_with_a_generator() -> None:
    """A negative number is interpreted: positions up to it are none, and the generator stays as it is."""
    pytest.importorskip("jax")

    def found(mode: str) -> list[Any]:
        stream = random.RandomStream(7)
        walk = scan(
            lambda i, s: s * 0.5 + stream.normal() + i, ot.arange(n), a, return_updates=False
        )
        f = oc.function([n, a], walk, mode=mode)
        return [f(count, 0.3) for count in (2, -1, 3)]

    for one, value in zip(found("jax"), found("py"), strict=True):
        np.testing.assert_allclose(one, value, rtol=1e-12)


def test_states_and_copies_of_functions() -> None:
    pytest.importorskip("jax")
    kept = og.shared(np.zeros(2), name="kept")
    _, trace = sines()
    f = oc.function([n, a], trace.sum() + kept.sum(), updates={kept: trace}, mode="jax")
    assert f(3, 0.3) == pytest.approx(og.evaluate(trace, {n: 3, a: 0.3}).sum())
    np.testing.assert_allclose(kept.get_value(), og.evaluate(trace, {n: 3, a: 0.3}), rtol=1e-12)
    other = f.copy(share_memory=False)
    assert other(2, 0.3) == pytest.approx(og.evaluate(trace, {n: 5, a: 0.3})[[0, 1, 0, 1, 2]].sum())
    assert kept.get_value().shape == (2,)
    # one of several results
    g = oc.function([n, a], [trace, trace.sum()], mode="jax")
    assert g(4, 0.3, output_subset=[1])[0] == pytest.approx(g(4, 0.3)[0].sum())
    result = g(4, 0.3)[0]
    assert result.flags.owndata
    assert result.flags.writeable


def test_graphs_that_are_compiled_for_each_number() -> None:
    pytest.importorskip("jax")
    _, trace = sines()
    others = [trace[::2], trace.reshape((2, -1))]
    for out in others:
        with pytest.warns(UserWarning, match="n will be static: each new value is compiled anew"):
            f = oc.function([n, a, x], out, mode="jax", on_unused_input="ignore")
        np.testing.assert_allclose(
            f(4, 0.3, np.ones(2)), og.evaluate(out, {n: 4, a: 0.3, x: np.ones(2)})
        )
    # a user may ask for it
    linker = type(make_linker("jax"))(static=["n"])
    assert "Padded" not in type(oc.function([n, a], trace, mode=oc.Mode(linker)).vm).__name__


@pytest.mark.parametrize("rows", [4, 20])
def test_a_state_that_is_cut_to_the_number_of_steps(rows: int) -> None:
    """It has as many elements as it starts with, and not one for each step."""
    pytest.importorskip("jax")
    start = (a, np.arange(float(rows)))
    (_, level), trace = loop(
        lambda s: ((s[0] * 2, s[1] + s[0]), s[0]), start, length=n, until=lambda s: s[0] > 50.0
    )
    (count,) = trace.shape
    cut = level[:count]
    outputs = [trace, cut, cut.shape[0], ot.zeros(count) + 1.0, 2 * ot.arange(count)]
    f = oc.function([a, n], outputs, mode="jax")
    for value, steps in ((0.3, 8), (20.0, 2), (1e-3, 16)):
        made = [value * 2.0**i for i in range(steps)]
        wanted = [made, (np.arange(rows) + sum(made))[:steps], min(rows, steps), np.ones(steps), 2 * np.arange(steps)]  # fmt: skip
        for found, expected_ in zip(f(value, 30), wanted, strict=True):
            np.testing.assert_allclose(found, expected_)


def test_loops_that_keep_nothing_need_no_rows() -> None:
    f = oc.function([n, a], fori_loop(0, n, lambda i, s: ot.sin(s + i), a), mode="py")
    assert padding.padded(f.maker.fgraph) is None
