"""The cache of functions with nodes that run in Python: the second time nothing is rewritten, and all is as the first time."""

from __future__ import annotations

import os
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest

import occelo_compile as oc
from occelo_compile import function_cache
from occelo_graph import Op, op
from occelo_graph import tensor as ot
from occelo_link.blocks import packing
from occelo_link.cache.store import counters
from occelo_link.loops.build import find_lowering
from occelo_link.native.linker import NativeLinker
from occelo_loops import scan
from occelo_random import functions as random
from occelo_testing.fixtures import fresh

__all__ = ["fresh"]

SCRIPT = """
import sys
import numpy as np
import occelo_compile as oc
from occelo_graph import tensor as ot
from occelo_link.cache.store import counters
from occelo_random import functions as random

state = random.shared_rng(seed=3)
x = ot.dvector("x")
following, draws = state.binomial(20, 1 / (2 + x * x), size=(4, 3))
last, more = random.binomial(draws.sum(0), 0.5, rng=following, return_next_rng=True)
f = oc.function([x], [draws * x, ot.cos(more), x.sum()], updates={state: last})
for _ in range(3):
    for value in f(np.array([0.5, -1.0, 2.0])):
        print(np.asarray(value).tobytes().hex())
print(counters["rewriting"], counters["code generation"], len(f.vm.python_nodes))
"""


_loop: Any = scan
_function: Any = oc.function


@pytest.mark.measured(0)
def test_a_second_process_rewrites_nothing_and_draws_the_same_bits(tmp_path: Path) -> None:
    told: list[list[str]] = []
    for seed in range(2):
        environment = {
            **os.environ,
            "PYTHONHASHSEED": str(seed),
            "PYTHONPATH": os.pathsep.join(sys.path),
            "OCCELO_FLAGS": f"compiledir={tmp_path}",
        }
        done = subprocess.run(
            [sys.executable, "-c", SCRIPT],
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        told.append(done.stdout.splitlines())
    g: Any = np.random.default_rng(3)
    x = np.array([0.5, -1.0, 2.0])
    for at in range(0, 9, 3):
        draws = g.binomial(20, 1 / (2 + x * x), size=(4, 3))
        assert told[0][at] == (draws * x).tobytes().hex()
        found: Any = np.frombuffer(bytes.fromhex(told[0][at + 1]))
        np.testing.assert_allclose(found, np.cos(g.binomial(draws.sum(0), 0.5)), rtol=1e-12)
    rewritten, generated, in_python = map(int, told[0][-1].split())
    assert rewritten == 1
    assert generated > 0
    assert in_python > 0
    for each in told[1:]:
        assert each == [*told[0][:-1], f"0 0 {in_python}"]


class BetweenLinker(NativeLinker):
    """Runs nodes without a lowering between blocks, as linkers do with those that compiled code cannot call."""

    name = "between"

    def fingerprint(self) -> str:
        return self.name

    def compilable(self, order: Any) -> Any:
        def lowered(node: Any, inside: bool) -> bool:
            return find_lowering(node) is not None

        return lowered


@pytest.fixture(params=["native", "between"])
def mode(request: pytest.FixtureRequest) -> Any:
    return "native" if request.param == "native" else oc.Mode(BetweenLinker(), "fast_run")


def _twice(build: Any) -> list[Any]:
    made = [build(), build()]
    assert [f.maker.from_cache for f in made] == [False, True]
    assert not made[1].maker.is_rewritten
    assert [str(n.op) for n in made[0].vm.python_nodes] == [
        str(n.op) for n in made[1].vm.python_nodes
    ]
    return made


@pytest.mark.parametrize("borrow", [False, True])
def test_callbacks_thunks_and_blocks_keep_the_memory_contract(
    fresh: Path, borrow: bool, mode: Any
) -> None:
    w: list[Any] = []

    def build() -> Any:
        w.append(oc.shared(np.arange(3.0), "w"))
        state = random.shared_rng(seed=1)
        x = ot.dvector("x")
        following, noise = state.binomial(9, ot.sigmoid(w[-1]))
        y = noise * x + ot.constant([1.0, 2.0, 3.0])
        outputs = [oc.Out(v, borrow=borrow) for v in (y, noise, x[::-1])]
        return oc.function([x], outputs, mode, updates={state: following, w[-1]: w[-1] + y})

    first, second = _twice(build)
    assert {p.compiled for p in second.vm.parts} == {True, mode == "native"}
    x: Any = np.array([1.0, -2.0, 0.0])
    kept: list[Any] = []
    there: Any = None
    for _ in range(3):
        here: Any = first(x)
        there = second(x)
        for a, b in zip(here, there, strict=True):
            np.testing.assert_array_equal(a, b)
            assert not np.shares_memory(b, x)
        kept.append((there, [v.copy() for v in there]))
    if not borrow:
        for there, copies in kept:
            for a, b in zip(there, copies, strict=True):
                np.testing.assert_array_equal(a, b)
    np.testing.assert_array_equal(w[0].get_value(), w[1].get_value())
    assert not np.shares_memory(w[1].get_value(borrow=True), there[0])
    for function in (first, second):
        function(np.ones(3))
        ends = {id(c.storage) for c in (*function.input_storage, *function.output_storage)}
        held = [
            v
            for v, cell in function.vm.storage_map.items()
            if cell[0] is not None and id(cell) not in ends and not hasattr(v, "data")
        ]
        assert held == []


def test_errors_are_those_of_a_fresh_function(fresh: Path, mode: Any) -> None:
    def build() -> Any:
        x, i = ot.dvector("x"), ot.lscalar("i")
        state = random.shared_rng(seed=1)
        _, draws = state.binomial(9, ot.exp(x) - 2.0)
        return oc.function([x, i], [draws[i] * 2, ot.log(x)[i]], mode)

    messages: list[str] = []
    for function in _twice(build):
        for arguments in (([0.0, 1.0], 0), ([1.0], 4)):
            with pytest.raises((ValueError, IndexError)) as caught:
                function(*arguments)
            messages.append(str(caught.value))
        assert function([1.0], 0)[1] == 0.0
    assert "binomial" in messages[0]
    assert messages[:2] == messages[2:]


def test_nodes_without_a_lowering_are_kept(fresh: Path, mode: Any) -> None:
    """Also lengths 0 and 1, and only some of the outputs."""
    x = ot.dmatrix("x")
    following, noise = random.shared_rng(seed=1).binomial(9, ot.sigmoid(x))
    outputs = [ot.exp(random.binomial(noise, 0.5, rng=following)) + 1, x.sum(0)]
    first, second = _twice(lambda: oc.function([x], outputs, mode))
    a: Any = None
    for shape in ((0, 0), (1, 1), (2, 0), (3, 2)):
        a = np.random.default_rng(0).normal(size=shape)[::-1]
        assert second(a)[0].shape == first(a)[0].shape
        np.testing.assert_array_equal(second(a)[1], a.sum(0))
    np.testing.assert_array_equal(second(a, output_subset=[1])[0], a.sum(0))


@op
class Shifted(Op):
    """A user's op, at the top of a module."""

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return x + 1


_shifted: Any = Shifted()


@op
class Counted(Op):
    """Has an effect: appends its argument to a list, and fails at a negative one."""

    place: str
    pure = False

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        if x < 0:
            raise ValueError("negative")
        _seen(self.place).append(float(x))
        return x + 1.0


def _seen(place: str) -> list[float]:
    # not a global of this module: its content would be a part of the source of the op
    found: list[float] = sys.__dict__.setdefault(place, [])
    return found


@pytest.mark.parametrize("linker", ["native", "numba"])
def test_callbacks_in_bodies_of_loops_are_kept(fresh: Path, linker: str) -> None:
    if linker == "numba":
        pytest.importorskip("numba", reason="Numba is not installed")

    def step(y: Any, x: Any) -> Any:
        return ot.exp(_shifted(ot.sin(y))) * x

    def row(v: Any) -> Any:
        return _shifted(v) * 2.0

    def build() -> Any:
        n, x = ot.lscalar("n"), ot.dvector("x")
        ys = _loop(step, outputs_info=x, non_sequences=[x], n_steps=n, return_updates=False)
        return _function([n, x], [ys, _loop(row, sequences=x, return_updates=False)], linker)

    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        first, second = _twice(build)
    if linker == "numba":  # each process is warned
        texts = [str(w.message) for w in said if "numba has no" in str(w.message)]
        assert texts
        assert sorted(texts) == sorted([*set(texts)] * 2)
    assert second.vm.python_nodes
    for steps, length in ((0, 2), (1, 1), (3, 2), (2, 0)):
        x: Any = np.linspace(-1.0, 2.0, length)
        y = x
        rows: list[Any] = []
        for _ in range(steps):
            y = np.exp(np.sin(y) + 1.0) * x
            rows.append(y)
        for function in (first, second):
            ys, zs = function(steps, x)
            np.testing.assert_allclose(ys, np.reshape(rows, (steps, length)), rtol=1e-12)
            np.testing.assert_allclose(zs, (x + 1.0) * 2.0)


def test_effects_in_loops_from_the_cache_run_once_and_fail_alike(fresh: Path) -> None:
    counted: Any = Counted("occelo_tests_seen")

    def doubled(v: Any) -> Any:
        return counted(v) * 2.0

    def rooted(v: Any) -> Any:
        return counted(ot.sqrt(v))

    def build() -> Any:
        x, i = ot.dvector("x"), ot.lscalar("i")
        ys, zs = (_loop(step, sequences=x, return_updates=False) for step in (doubled, rooted))
        return _function([x, i], ys[i] + zs[i])

    told: list[Any] = []
    for function in _twice(build):
        for arguments in (([4.0, 9.0], 1), ([4.0], 3), ([4.0, -1.0], 1)):
            seen = _seen("occelo_tests_seen")
            seen.clear()
            try:
                result: Any = float(function(*arguments))
            except (ValueError, IndexError) as error:
                result = type(error), str(error)
            told.append((result, list(seen)))
    assert told[0] == (9.0 * 2.0 + 2.0 + 3.0 + 1.0, told[0][1])
    assert sorted(told[0][1]) == [2.0, 3.0, 4.0, 9.0]
    assert sorted(told[1][1]) == [2.0, 4.0]
    assert told[1][0][0] is IndexError
    assert told[2][0][0] is ValueError
    assert "negative" in told[2][0][1]
    assert told[:3] == told[3:]


def test_ops_of_sources_beside_the_key_are_not_kept(fresh: Path) -> None:
    nodes = [n.op for n in _drawing().vm.python_nodes]
    key = _drawing().maker.cache_key
    assert key is not None
    assert function_cache.are_named_by(key, nodes)
    assert not function_cache.are_named_by(key, [Shifted()])
    less = {k: v for k, v in key.items() if k != "sources of random"}
    assert len(less) < len(key)
    assert not function_cache.are_named_by(less, nodes)


def _drawing() -> Any:
    x = ot.dvector("x")
    state: Any = random.shared_rng(seed=1)
    draws: Any = state.binomial(9, x)[1]
    made: Any = cast("Any", oc.function)([x], draws + 1)
    return made


def test_an_entry_whose_ops_are_other_ops_now_is_not_used(
    fresh: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _drawing()

    def unknown(*_: Any) -> Any:
        raise packing.SavedGraphError("no such op")

    monkeypatch.setattr(packing, "decode", unknown)
    misses = counters["function misses"]
    again = _drawing()
    assert not again.maker.from_cache
    assert counters["function misses"] == misses + 1
    expected = np.random.default_rng(1).binomial(9, [0.25]) + 1
    np.testing.assert_array_equal(again([0.25]), expected)


def test_a_damaged_entry_is_compiled_again(fresh: Path) -> None:
    _drawing()
    (entry,) = [path for path in fresh.rglob("functions/*/*") if path.is_file()]
    content = entry.read_bytes()
    for damaged in (content[:-3], content[:40] + b"x" + content[41:], b""):
        entry.write_bytes(damaged)
        again = _drawing()
        assert not again.maker.from_cache
        expected = np.random.default_rng(1).binomial(9, [0.25]) + 1
        np.testing.assert_array_equal(again([0.25]), expected)
    assert _drawing().maker.from_cache
