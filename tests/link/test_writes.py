"""Random programs that write parts of tensors and read them again through views, against NumPy, eagerly."""

from __future__ import annotations

import os
from pathlib import Path
from random import Random
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_link.loops.build import lower_graph
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.interpret import run_program
from occelo_link.loops.ir.program import Program
from occelo_link.loops.ir.verify import InvalidProgram, verify
from occelo_link.testing import (
    Compiled,
    compiled_c,
    has_compiler,
    inputs_of,
    interpreted,
    output_of,
)

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 20_000 if THOROUGH else 250
IN_C = 400 if THOROUGH else 40

Pair = tuple[Any, Any]
"""A variable and its value, which NumPy computes beside it."""


class Writing:
    """A random program: variables beside their values, most of one element or few."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.inputs: list[Pair] = []
        self.made: list[Pair] = []
        for _ in range(self.random.randint(2, 3)):
            self.add_input()
        for _ in range(self.random.randint(2, 7)):
            made, value = self.random.choice(STEPS)(self)
            self.made.append((made, np.asarray(value)))
        count = self.random.randint(1, 3)
        self.outputs = self.made[-1:] + self.random.sample(
            self.made, min(count - 1, len(self.made))
        )

    def add_input(self) -> None:
        shape = self.random.choice([(1,), (1,), (1, 1), (3,), (2, 1), (1, 3), (2, 3), (0,), ()])
        static = tuple(n if self.random.random() < 0.6 else None for n in shape)
        value = np.array([self.random.randint(-9, 9) for _ in range(int(np.prod(shape)))], float)
        pair = ot.tensor(dtype="float64", shape=static), value.reshape(shape)
        self.inputs.append(pair)
        self.made.append(pair)

    def any(self) -> Pair:
        # what was made last is used most
        return self.random.choice(self.made[-3:] if self.random.random() < 0.6 else self.made)

    def key(self, shape: tuple[int, ...], repeats: bool = True) -> Any:
        """A key of a part: integers, slices of both directions, arrays of positions."""
        entries: list[Any] = []
        arrays = self.random.random() < 0.4
        for n in shape:
            kind = self.random.randrange(3)
            if kind == 0 and n:
                entries.append(self.random.randrange(-n, n))
            elif kind == 1 and n and arrays:
                width = self.random.randint(1, 3) if repeats else 1
                entries.append([self.random.randrange(-n, n) for _ in range(width)])
                arrays = False
            else:
                start, stop = (self.random.choice([None, 0, 1, -1, n]) for _ in range(2))
                entries.append(slice(start, stop, self.random.choice([None, 1, -1, 2])))
        return tuple(entries)

    def fitting(self, shape: tuple[int, ...]) -> Pair:
        """Something that broadcasts to a shape."""
        fits = [
            p
            for p in self.made
            if p[1].ndim <= len(shape)
            and all(
                m == n or (m == 1 and s == 1)
                for m, s, n in zip(
                    p[1].shape, p[0].type.shape, shape[len(shape) - p[1].ndim :], strict=True
                )
            )
        ]
        if fits and self.random.random() < 0.8:
            return self.random.choice(fits)
        number = float(self.random.randint(-9, 9))
        return ot.as_tensor_variable(number), np.array(number)


def write(w: Writing) -> Pair:
    x, value = w.any()
    replace = w.random.random() < 0.5
    # which of several values at one position stays is not defined
    key = w.key(value.shape, repeats=not replace)
    y, of_y = w.fitting(value[key].shape)
    made = np.array(value)
    if replace:
        made[key] = of_y
        return x[key].set(y), made
    np.add.at(made, key, np.broadcast_to(of_y, value[key].shape))
    return x[key].inc(y), made


def read(w: Writing) -> Pair:
    x, value = w.any()
    key = w.key(value.shape)
    return x[key], np.array(value[key])


def combine(w: Writing) -> Pair:
    x, value = w.any()
    y, other = w.fitting(value.shape)
    return x * y + 1.0, value * other + 1.0


def broadcast(w: Writing) -> Pair:
    """One element of a tensor with all of another one."""
    x, value = w.any()
    y, other = w.any()
    if not other.size:
        return x + 1.0, value + 1.0
    place = tuple(w.random.randrange(n) for n in other.shape)
    return x + y[place], value + other[place]


def reverse(w: Writing) -> Pair:
    x, value = w.any()
    return x.T[..., ::-1] if value.ndim else -x, value.T[..., ::-1] if value.ndim else -value


def total(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return x + x, value + value
    axis = w.random.randrange(value.ndim)
    return x.sum(axis=axis, keepdims=True), value.sum(axis=axis, keepdims=True)


def join(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return ot.stack([x, x + 1.0]), np.stack([value, value + 1.0])
    return ot.concatenate([x, x * 2.0]), np.concatenate([value, value * 2.0])


def running(w: Writing) -> Pair:
    x, value = w.any()
    if not value.ndim:
        return x - 2.0, value - 2.0
    return ot.cumsum(x, axis=0), np.cumsum(value, axis=0)


def choose(w: Writing) -> Pair:
    x, value = w.any()
    y, other = w.any()
    if not other.size or not value.size:
        return x - 3.0, value - 3.0
    first, zero = (0,) * other.ndim, (0,) * value.ndim
    changed = value.copy()
    changed[zero] = other[first]
    condition = other[first] > 0
    made = ot.ifelse(y[first] > 0, x[zero].set(y[first]), x * 2.0)
    return made, changed if condition else value * 2.0


STEPS = [
    write,
    write,
    write,
    write,
    read,
    read,
    combine,
    broadcast,
    broadcast,
    reverse,
    total,
    join,
    running,
    choose,
]


def lowered(writing: Writing) -> Program:
    outputs = [v for v, _ in writing.outputs]
    program = lower_graph([v for v, _ in writing.inputs], outputs, og.toposort(outputs))
    verify(program)
    return program


def check(results: list[Any], writing: Writing, seed: int) -> None:
    for got, (_, expected) in zip(results, writing.outputs, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-12, err_msg=f"program {seed}")


@pytest.mark.parametrize("part", range(5))
def test_writes_are_seen_by_all_later_reads(part: int) -> None:
    for seed in range(part, COUNT, 5):
        writing = Writing(seed)
        program = lowered(writing)
        arrays = [a for _, a in writing.inputs]
        check(run_program(program, arrays), writing, seed)
        check(Compiled(program)(*arrays), writing, seed)
        for (_, value), copy in zip(writing.inputs, Writing(seed).inputs, strict=True):
            np.testing.assert_array_equal(value, copy[1])


@pytest.mark.skipif(not has_compiler(), reason="needs a C compiler")
def test_writes_in_c(tmp_path: Path) -> None:
    writings = [Writing(seed) for seed in range(IN_C)]
    functions = compiled_c(tmp_path, *map(lowered, writings))
    for seed, (function, writing) in enumerate(zip(functions, writings, strict=True)):
        check(function(*[a for _, a in writing.inputs]), writing, seed)


@pytest.mark.parametrize("name", ["set", "inc"])
@pytest.mark.parametrize("key", [np.s_[::-1], [2, 0, 1], np.s_[0:1]])
def test_a_tensor_is_written_to_itself(name: str, key: Any) -> None:
    v = ot.dvector("v")
    x = ot.cumsum(v)
    value = np.array([1.0, 2.0, 4.0])
    of_x = np.cumsum(value)
    source = (x[0:1], of_x[0:1]) if key == np.s_[0:1] else (x, of_x)
    expected = of_x.copy()
    expected[key] = source[1] if name == "set" else of_x[key] + source[1]
    outputs = [getattr(x[key], name)(source[0])]
    program = lower_graph([v], outputs, og.toposort(outputs))
    verify(program)
    np.testing.assert_array_equal(run_program(program, [value])[0], expected)
    np.testing.assert_array_equal(Compiled(program)(value)[0], expected)


# what is remembered of memory


def test_a_load_is_not_made_before_a_loop_that_has_written_to_it() -> None:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n) as loop:
        b.store(out, loop.index, b.load(x, loop.index))
        first = b.load(out, b.i64(0))
        b.store(out, loop.index, b.op("add", first, b.load(out, loop.index)))
    verify(b.program)
    (result,) = interpreted(b.program, np.array([1.0, 2.0, 3.0]))
    np.testing.assert_array_equal(result, [2.0, 4.0, 5.0])
    np.testing.assert_array_equal(Compiled(b.program)(np.array([1.0, 2.0, 3.0]))[0], result)


def _with_hoisted_load() -> Program:
    """A loop that writes what is read of the same memory, once, before the loop."""
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n) as loop:
        first = b.load(out, b.i64(0))
        b.store(out, loop.index, b.op("add", first, b.load(x, loop.index)))
    return b.program


def _with_value_across_a_write() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    out = output_of(b, "float64", [b.input_length(x, 0)])
    before = b.load(out, b.i64(0))
    b.store(out, b.i64(0), b.load(x, b.i64(0)))
    b.use(out, before)
    return b.program


def _with_value_across_a_write_through_other_memory() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    one = b.buffer("float64", "work", ndim=1)
    b.alloc(one, n)
    b.store(one, b.i64(0), b.load(x, b.i64(0)))
    before = b.load(one, b.i64(0))
    out = b.buffer("float64", "output", position=0, ndim=1)
    b.program.outputs.append(out)
    b.alloc(out, n, [n], one, keeps=True)
    b.store(out, b.i64(0), b.op("add", before, before))
    b.use(one, before)
    return b.program


def _with_memory_that_was_handed_on() -> Program:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    one, two = (b.buffer("float64", "work", ndim=1) for _ in range(2))
    b.alloc(one, n)
    b.alloc(two, n, reuse=one)
    out = output_of(b, "float64", [n])
    b.store(out, b.i64(0), b.load(one, b.i64(0)))
    return b.program


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (_with_hoisted_load, "written since"),
        (_with_value_across_a_write, "written since"),
        (_with_value_across_a_write_through_other_memory, "written since"),
        (_with_memory_that_was_handed_on, "before it is allocated"),
    ],
)
def test_the_verifier_refuses_what_is_remembered_too_long(make: Any, message: str) -> None:
    with pytest.raises(InvalidProgram, match=message):
        verify(make())
