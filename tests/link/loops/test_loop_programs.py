"""Loop programs: results of the builder, errors of the verifier, and agreement of all ways to run them."""

from __future__ import annotations

import itertools
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from occelo_link.loops.ir.bounds_checked import with_bounds_checks
from occelo_link.loops.ir.builder import Builder
from occelo_link.loops.ir.program import (
    Buffer,
    Carried,
    For,
    Pointer,
    Program,
    Reference,
    Store,
    Value,
)
from occelo_link.loops.ir.text import program_text
from occelo_link.loops.ir.verify import InvalidProgram, verify
from occelo_link.loops.loop_nests import BLOCK, reduce_elements
from occelo_link.machine.symbol_addresses import blas_library
from occelo_link.units import python_entry
from occelo_link.units.interface import UnitFailure
from occelo_testing.loop_interpreter import CheckFailed, run_program
from occelo_testing.loop_programs import (
    Compiled,
    compiled_c,
    has_compiler,
    inputs_of,
    interpreted,
    map_program,
    output_of,
)

HAS_COMPILER = has_compiler()


def running_sum() -> Program:
    b = Builder("running_sum")
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n) as loop:
        total = loop.carry(b.const(0.0, "float64"))
        total.following = b.op("add", total.param, b.load(x, loop.index))
        b.store(out, loop.index, total.following)
    return b.program


def first_largest() -> Program:
    b = Builder("first_largest")
    (x,) = inputs_of(b, ("int32", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "int64", [])
    b.check(b.lt(b.i64(0), n), 7)
    with b.loop(n) as loop:
        best = loop.carry(b.const(-(2**31), "int32"))
        where = loop.carry(b.i64(0))
        value = b.load(x, loop.index)
        better = b.op("lt", best.param, value)
        best.following = b.select(better, value, best.param)
        where.following = b.select(better, loop.index, where.param)
    b.store(out, b.i64(0), where.result)
    return b.program


def lazy_branch() -> Program:
    """The sum of a vector, or (without reading it) 1, into memory that either branch allocates."""
    b = Builder("lazy_branch")
    condition, x = inputs_of(b, ("bool", 0), ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [])
    tmp = b.buffer("float64", "work", ndim=1)

    def then() -> list[Value]:
        b.alloc(tmp, n)
        (total,) = reduce_elements(b, n, [("add", "float64")], lambda i: [b.load(x, i)], 8)
        b.store(tmp, b.i64(0), total)
        return [n]

    def orelse() -> list[Value]:
        b.alloc(tmp, b.i64(1))
        b.store(tmp, b.i64(0), b.const(1.0, "float64"))
        return [b.i64(-1)]

    (count,) = b.branch(b.load(condition, b.i64(0)), then, orelse)
    scaled = b.op("mul", b.load(tmp, b.i64(0), fixed=True), b.cast(count, "float64"))
    b.store(out, b.i64(0), scaled)
    return b.program


def collatz() -> Program:
    """How many steps until 1: a loop whose end depends on what it carries."""
    b = Builder("collatz")
    (x,) = inputs_of(b, ("int64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "int64", [n])
    one, two = b.i64(1), b.i64(2)
    with b.loop(n, fixed=True) as loop:
        steps = b.repeat_while(
            [b.load(x, loop.index), b.i64(0)],
            lambda s: b.op("lt", one, s[0]),
            lambda s: [
                b.select(
                    b.eq(b.op("remainder", s[0], two), b.i64(0)),
                    b.op("floordiv", s[0], two),
                    b.add(b.mul(s[0], b.i64(3)), one),
                ),
                b.add(s[1], one),
            ],
        )
        b.store(out, loop.index, steps[1])
    return b.program


def cholesky() -> Program:
    """A lower triangular root, row by row, of a positive definite matrix; fails at site 3."""
    b = Builder("cholesky")
    (a,) = inputs_of(b, ("float64", 2))
    n = b.input_length(a, 0)
    out = output_of(b, "float64", [n, n])
    zero = b.const(0.0, "float64")
    with b.loop(b.mul(n, n), lanes=8) as loop:
        b.store(out, loop.index, zero)
    with b.loop(n, fixed=True) as row, b.loop(b.add(row.index, b.i64(1)), fixed=True) as column:
        i, j = row.index, column.index
        with b.loop(j) as inner:
            total = inner.carry(zero)
            left = b.load(out, b.add(b.mul(i, n), inner.index), fixed=True)
            right = b.load(out, b.add(b.mul(j, n), inner.index), fixed=True)
            total.following = b.op("fma", left, right, total.param)
        where = b.add(b.mul(i, n), j)
        rest = b.op("sub", b.load(a, where), total.result)

        def diagonal(rest: Value = rest) -> list[Value]:
            b.check(b.op("lt", zero, rest), 3)
            return [b.op("sqrt", rest)]

        def below(rest: Value = rest, j: Value = j) -> list[Value]:
            return [b.op("div", rest, b.load(out, b.add(b.mul(j, n), j), fixed=True))]

        (value,) = b.branch(b.eq(i, j), diagonal, below)
        b.store(out, where, value)
    return b.program


def scatter_add() -> Program:
    b = Builder("scatter_add")
    x, where = inputs_of(b, ("float64", 1), ("int64", 1))
    out = output_of(b, "float64", [b.i64(4)])
    with b.loop(b.i64(4), lanes=8) as loop:
        b.store(out, loop.index, b.const(0.0, "float64"))
    with b.loop(b.input_length(x, 0)) as loop:
        at = b.load(where, loop.index)
        before = b.load(out, at, fixed=True)
        b.store(out, at, b.op("add", before, b.load(x, loop.index)))
    return b.program


def draw() -> Program:
    """As many numbers from 0 to 1 as are asked for, by SplitMix64 (Steele, Lea and Flood, 2014)."""
    b = Builder("draw")
    seed, count = inputs_of(b, ("uint64", 0), ("int64", 0))
    start = b.load(seed, b.i64(0))
    out = output_of(b, "float64", [b.load(count, b.i64(0))])

    def mixed(z: Value, shift: int, factor: int) -> Value:
        moved = b.op("xor", z, b.op("shr", z, b.const(shift, "uint64")))
        return b.op("mul", moved, b.const(factor, "uint64"))

    with b.loop(b.load(count, b.i64(0)), lanes=8) as loop:
        number = b.cast(b.add(loop.index, b.i64(1)), "uint64")
        z = b.op("add", start, b.op("mul", number, b.const(0x9E3779B97F4A7C15, "uint64")))
        z = mixed(mixed(z, 30, 0xBF58476D1CE4E5B9), 27, 0x94D049BB133111EB)
        z = b.op("xor", z, b.op("shr", z, b.const(31, "uint64")))
        top = b.cast(b.op("shr", z, b.const(11, "uint64")), "float64")
        b.store(out, loop.index, b.op("mul", top, b.const(2.0**-53, "float64")))
    return b.program


def recurrence() -> Program:
    """y[t] = x[t] + y[t - 1] / 2 - y[t - 3] / 4: a ring buffer keeps the last three."""
    b = Builder("recurrence")
    (x,) = inputs_of(b, ("float64", 1))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    ring, lags = b.buffer("float64", "work", ndim=1), b.i64(3)
    b.alloc(ring, lags)
    with b.loop(lags) as loop:
        b.store(ring, loop.index, b.const(0.0, "float64"))
    with b.loop(n, fixed=True) as loop:

        def ago(turns: int) -> Value:
            turn = b.op("remainder", b.sub(loop.index, b.i64(turns)), lags)
            return b.load(ring, turn, fixed=True)

        near = b.op("mul", ago(1), b.const(0.5, "float64"))
        far = b.op("mul", ago(3), b.const(0.25, "float64"))
        value = b.op("sub", b.op("add", b.load(x, loop.index), near), far)
        b.store(ring, b.op("remainder", loop.index, lags), value)
        b.store(out, loop.index, value)
    return b.program


def binomials() -> Program:
    """A row of Pascal's triangle: what is carried grows, and so does the working memory of an iteration."""
    b = Builder("binomials")
    (count,) = inputs_of(b, ("int64", 0))
    row, following, moved = (b.buffer("float64", s, ndim=1) for s in ("carried", "carried", "work"))
    one = b.i64(1)
    b.alloc(row, one)
    b.store(row, b.i64(0), b.const(1.0, "float64"))
    with b.loop(b.load(count, b.i64(0)), fixed=True) as loop:
        length = loop.carry(one)
        longer = length.following = b.add(length.param, one)
        b.alloc(moved, longer)
        b.store(moved, b.i64(0), b.const(0.0, "float64"))
        with b.loop(length.param, lanes=8) as each:
            b.store(moved, b.add(each.index, one), b.load(row, each.index))
        b.alloc(following, longer)
        with b.loop(length.param, lanes=8) as each:
            total = b.op("add", b.load(row, each.index), b.load(moved, each.index))
            b.store(following, each.index, total)
        b.store(following, length.param, b.const(1.0, "float64"))
        b.swap(row, following)
    out = output_of(b, "float64", [length.result])
    with b.loop(length.result, lanes=8) as each:
        b.store(out, each.index, b.load(row, each.index))
    return b.program


def eigenvalues() -> Program:
    """LAPACK's dsyevd: asks for the size of its workspace, overwrites a copy, may fail at site 5."""
    b = Builder("eigenvalues")
    (a,) = inputs_of(b, ("float64", 2))
    n = b.input_length(a, 0)
    out = output_of(b, "float64", [n])
    integer = blas_library().integer

    def memory(dtype: str, size: Value) -> Buffer:
        buffer = b.buffer(dtype, "work", ndim=1)
        b.alloc(buffer, size)
        return buffer

    def scalar(value: Value) -> Reference:
        return Reference(b.cast(value, integer))

    zero = b.i64(0)
    copied = memory("float64", b.mul(n, n))
    info = memory(integer, b.i64(1))

    def call(work: Buffer, size: Value, whole: Buffer, count: Value) -> None:
        letters = [Reference(b.const(ord(letter), "int8")) for letter in "NL"]
        matrix = [scalar(n), Pointer(copied, zero), scalar(b.op("max", n, b.i64(1)))]
        works = [Pointer(work, zero), scalar(size), Pointer(whole, zero), scalar(count)]
        arguments = [*letters, *matrix, Pointer(out, zero), *works, Pointer(info, zero)]
        b.invoke("lapack:dsyevd", arguments, writes=[copied, out, work, whole, info])

    # by columns, as LAPACK reads it
    with b.loop(n, fixed=True) as row, b.loop(n) as column:
        value = b.load(a, b.add(b.mul(row.index, n), column.index))
        b.store(copied, b.add(b.mul(column.index, n), row.index), value)
    asked, counted = memory("float64", b.i64(1)), memory(integer, b.i64(1))
    call(asked, b.i64(-1), counted, b.i64(-1))
    size = b.cast(b.load(asked, zero, fixed=True), "int64")
    count = b.cast(b.load(counted, zero, fixed=True), "int64")
    call(memory("float64", size), size, memory(integer, count), count)
    failed = b.cast(b.load(info, zero, fixed=True), "int64")
    b.check(b.eq(failed, zero), 5)
    return b.program


def blocked_sum() -> Program:
    b = Builder("blocked_sum")
    (x,) = inputs_of(b, ("float32", 1))
    out = output_of(b, "float32", [])
    (total,) = reduce_elements(
        b, b.input_length(x, 0), [("add", "float32")], lambda i: [b.load(x, i)], 32
    )
    b.store(out, b.i64(0), total)
    return b.program


def dsyevd(jobz: Any, uplo: Any, n: Any, a: Any, lda: Any, w: Any, *works: Any) -> None:
    """LAPACK's function for the interpreter: addresses are pairs of an array and an offset."""
    (work, _), lwork, (iwork, _), _, (info, _) = works
    assert (chr(jobz), chr(uplo), lda) == ("N", "L", max(n, 1))
    info[0] = 0
    if lwork == -1:
        work[0], iwork[0] = 2 * n + 1, 1
    elif np.isnan(a[0]).any():
        info[0] = 1
    else:
        assert work.size >= 2 * n + 1
        w[0][:] = np.linalg.eigvalsh(a[0].reshape(n, n))


LIBRARY = {"lapack:dsyevd": dsyevd}
rng = np.random.default_rng(5)
SPD = rng.standard_normal((6, 6))
SPD = SPD @ SPD.T + 6 * np.eye(6)
BIG = rng.standard_normal(3 * BLOCK + 77).astype("float32")
SCATTER = (np.arange(7.0), np.array([0, 3, 3, 1, 0, 3, 2]))
# the generator's published first numbers for this seed
DRAWN = np.array(
    [
        (n >> 11) * 2.0**-53
        for n in (
            6457827717110365317,
            3203168211198807973,
            9817491932198370423,
            4593380528125082431,
            16408922859458223821,
        )
    ]
)
CASES: list[tuple[Program, tuple[Any, ...], Any]] = [
    (running_sum(), (np.arange(10.0),), np.cumsum(np.arange(10.0))),
    (running_sum(), (np.zeros(0),), np.zeros(0)),
    (first_largest(), (np.array([3, 9, -1, 9], "int32"),), np.array(1)),
    (lazy_branch(), (np.array(True), np.arange(5.0)), np.array(50.0)),
    (lazy_branch(), (np.array(False), np.full(5, np.nan)), np.array(-1.0)),
    (collatz(), (np.array([1, 7, 27]),), np.array([0, 16, 111])),
    (cholesky(), (SPD,), np.linalg.cholesky(SPD)),
    (scatter_add(), SCATTER, np.array([4.0, 3.0, 6.0, 8.0])),
    (draw(), (np.array(1234567, "uint64"), np.array(5)), DRAWN),
    (draw(), (np.array(0, "uint64"), np.array(0)), np.zeros(0)),
    (recurrence(), (np.array([4.0, 0.0, 8.0, 0.0, 1.0]),), np.array([4.0, 2.0, 9.0, 3.5, 2.25])),
    (recurrence(), (np.zeros(0),), np.zeros(0)),
    *[
        (binomials(), (np.array(n),), np.array([float(math.comb(n, k)) for k in range(n + 1)]))
        for n in (0, 1, 2, 30)
    ],
    (eigenvalues(), (SPD,), np.linalg.eigvalsh(SPD)),
    (eigenvalues(), (np.zeros((0, 0)),), np.zeros(0)),
    (blocked_sum(), (BIG,), np.array(np.sum(BIG.astype("float64")), "float32")),
]


@pytest.mark.parametrize("case", CASES, ids=lambda c: c[0].name)
def test_llvm_and_the_interpreter_give_what_numpy_gives(case: Any) -> None:
    program, arrays, expected = case
    verify(program)
    slow = interpreted(program, *arrays, **LIBRARY)[0]
    fast = Compiled(program)(*arrays)[0]
    np.testing.assert_allclose(slow, expected, rtol=1e-6 if slow.dtype == "float32" else 1e-13)
    if not any(name in LIBRARY for name in program.table):
        np.testing.assert_array_equal(fast, slow)
    np.testing.assert_allclose(fast, slow, rtol=1e-13)
    assert fast.dtype == slow.dtype == expected.dtype


def test_iterations_take_no_memory_but_what_none_before_needed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    taken: list[int] = []
    compiled = Compiled(binomials())
    empty = np.empty

    def counted(shape: Any, *args: Any, **options: Any) -> Any:
        if isinstance(shape, int):
            taken.append(shape)
        return empty(shape, *args, **options)

    monkeypatch.setattr(python_entry.np, "empty", counted)
    compiled(np.array(1000))
    # three buffers that grow to 1,001 elements, each time by at least its size
    assert len(taken) <= 3 * 9
    assert sum(taken) < 3 * 4 * 8 * 1001


def test_bounds_of_memory_that_changes_places_are_checked() -> None:
    for last, fails in ((0, False), (1, True)):
        b = Builder()
        count, reach = inputs_of(b, ("int64", 0), ("int64", 0))
        first, second = (b.buffer("float64", "carried", ndim=1) for _ in range(2))
        b.alloc(first, b.i64(1))
        with b.loop(b.load(count, b.i64(0)), fixed=True) as loop:
            # after the first iteration there are as many elements as iterations
            b.alloc(second, b.add(loop.index, b.i64(1)))
            b.swap(first, second)
            b.store(first, b.add(loop.index, b.load(reach, b.i64(0))), b.const(1.0, "float64"))
        out = output_of(b, "float64", [])
        b.store(out, b.i64(0), b.const(2.0, "float64"))
        program = with_bounds_checks(b.program, b)
        verify(program)
        for run in (Compiled(program), lambda *a, p=program: interpreted(p, *a)):
            if fails:
                with pytest.raises((UnitFailure, CheckFailed)):
                    run(np.array(5), np.array(last))
            else:
                assert run(np.array(5), np.array(last))[0] == 2.0


@pytest.mark.skipif(not HAS_COMPILER, reason="there is no C compiler on this machine")
def test_c_gives_the_same_bits(tmp_path: Path) -> None:
    functions = compiled_c(tmp_path, *[program for program, _, _ in CASES])
    for function, (program, arrays, _) in zip(functions, CASES, strict=True):
        np.testing.assert_array_equal(function(*arrays)[0], Compiled(program)(*arrays)[0])


def test_a_failing_check_stops_with_its_site() -> None:
    for program, arrays, site in (
        (first_largest(), (np.zeros(0, "int32"),), 7),
        (cholesky(), (-np.eye(3),), 3),
        (eigenvalues(), (np.full((3, 3), np.nan),), 5),
    ):
        with pytest.raises(UnitFailure) as found:
            Compiled(program)(*arrays)
        assert found.value.site == site
        with pytest.raises(CheckFailed) as failed:
            interpreted(program, *arrays, **LIBRARY)
        assert failed.value.site == site


@pytest.mark.parametrize("cpu", ["x86-64", "x86-64-v3", "x86-64-v4"])
def test_results_do_not_depend_on_the_processor(cpu: str) -> None:
    from occelo_link.machine.processor import host_target

    triple, _, features = host_target()
    if not triple.startswith("x86_64"):
        pytest.skip("processor levels of x86-64")
    if cpu == "x86-64-v4" and "+avx512vl" not in features:
        pytest.skip("this processor has no AVX-512")
    if cpu == "x86-64-v3" and "+avx2" not in features:
        pytest.skip("this processor has no AVX2")
    for program, arrays, _ in CASES:
        np.testing.assert_array_equal(
            Compiled(program, cpu, "")(*arrays)[0], Compiled(program)(*arrays)[0]
        )


def test_nothing_is_computed_twice_or_too_often() -> None:
    b = Builder()
    x, y = inputs_of(b, ("float64", 1), ("float64", 0))
    n = b.input_length(x, 0)
    out = output_of(b, "float64", [n])
    with b.loop(n, lanes=8) as loop:
        scale = b.op("sqrt", b.load(y, b.i64(0)))
        again = b.op("sqrt", b.load(y, b.i64(0)))
        assert scale is again
        b.store(out, loop.index, b.op("mul", b.load(x, loop.index), scale))
    assert scale.block is b.program.body
    (made,) = [s for s in b.program.body if isinstance(s, For)]
    assert [type(s).__name__ for s in made.body] == ["Value", "Value", "Store"]


def test_branches_keep_what_they_compute() -> None:
    b = Builder()
    (x,) = inputs_of(b, ("float64", 0))
    value = b.load(x, b.i64(0))
    b.branch(
        b.op("lt", value, b.const(0.0, "float64")),
        lambda: [b.op("sqrt", value)],
        lambda: [value],
    )
    assert not any(isinstance(s, Value) and s.op == "sqrt" for s in b.program.body)


def test_integer_constants_are_folded() -> None:
    b = Builder()
    n = b.param("int64", b.block)
    assert b.add(n, b.i64(0)) is n
    assert b.mul(b.i64(1), n) is n
    assert b.mul(n, b.i64(0)) is b.i64(0)
    assert b.sub(b.i64(5), b.i64(7)) is b.i64(-2)
    assert b.mul(b.i64(2**62), b.i64(4)) is b.i64(0)
    assert b.const(-0.0, "float64") is not b.const(0.0, "float64")
    assert b.const(0.1, "float32").args[0] == float(np.float32(0.1))


EXPECTED_TEXT = """\
program running_sum(in1: float64[:]) -> (out2: float64[:])
  %1: int64 = length in1, 0
  alloc out2: float64 x %1 [%1]
  for %3 in 0..%1
    carry %6: float64 = 0.0:float64, then %9 -> %7
    %8: float64 = load in1[%3]
    %9: float64 = add %6, %8
    store out2[%3] = %9
"""


def test_text() -> None:
    assert program_text(running_sum()) == EXPECTED_TEXT
    for program, _, _ in CASES:
        assert program_text(program).startswith(f"program {program.name}(")


def test_the_verifier_refuses_what_is_not_well_formed() -> None:
    def broken(change: Any) -> None:
        program = map_program(lambda b, x: b.op("add", x, x))
        (loop,) = [s for s in program.body if isinstance(s, For)]
        change(program, loop)
        verify(program)

    def use_before_definition(program: Program, loop: For) -> None:
        loop.body.statements.reverse()

    def mixed_dtypes(program: Program, loop: For) -> None:
        value = next(s for s in loop.body if isinstance(s, Value) and s.op == "add")
        value.dtype = "float32"

    def input_written(program: Program, loop: For) -> None:
        store = next(s for s in loop.body if isinstance(s, Store))
        store.buffer = program.inputs[0]

    def uneven_lanes(program: Program, loop: For) -> None:
        loop.lanes = 6

    def lanes_without_combining(program: Program, loop: For) -> None:
        value = next(s for s in loop.body if isinstance(s, Value) and s.op == "add")
        loop.carried.append(Carried(value, value, value, value))

    def no_memory(program: Program, loop: For) -> None:
        program.body.statements = [s for s in program.body if type(s).__name__ != "Alloc"]

    broken(lambda program, loop: None)
    for change, message in (
        (use_before_definition, "before it is defined"),
        (mixed_dtypes, "float"),
        (input_written, "writes the input"),
        (uneven_lanes, "power of two"),
        (lanes_without_combining, "before it is defined|combine"),
        (no_memory, "before it is allocated"),
    ):
        with pytest.raises(InvalidProgram, match=message):
            broken(change)


def test_the_interpreter_checks_bounds() -> None:
    program = scatter_add()
    with pytest.raises(IndexError, match="out of bounds: it has 4 elements"):
        run_program(program, (np.ones(1), np.array([4])))


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "uint64"])
def test_integer_arithmetic_is_defined_everywhere(dtype: str, tmp_path: Path) -> None:
    limits = np.iinfo(dtype)
    some = {limits.min, limits.max, 0, 1, 2, 3, 7, limits.max // 2}
    if limits.min:
        some |= {-1, -2, -7, limits.min + 1}
    x, y = (v.ravel().copy() for v in np.meshgrid(*[np.array(sorted(some), dtype)] * 2))
    programs: list[Program] = []
    for op in ("add", "sub", "mul", "floordiv", "remainder", "shl", "shr", "min", "max"):
        b = Builder(op)
        first, second = inputs_of(b, (dtype, 1), (dtype, 1))
        n = b.input_length(first, 0)
        out = output_of(b, dtype, [n])
        with b.loop(n, lanes=8) as loop:
            value = b.op(op, b.load(first, loop.index), b.load(second, loop.index))
            b.store(out, loop.index, value)
        programs.append(b.program)
    for lanes, op in itertools.product((1, 8), ("floordiv", "remainder")):
        b = Builder(f"{op} by constants, {lanes} lanes")
        first, _ = inputs_of(b, (dtype, 1), (dtype, 1))
        n = b.input_length(first, 0)
        outs = [output_of(b, dtype, [n]) for _ in some]
        with b.loop(n, lanes=lanes) as loop:
            element = b.load(first, loop.index)
            for out, divisor in zip(outs, sorted(some), strict=True):
                b.store(out, loop.index, b.op(op, element, b.const(divisor, dtype)))
        programs.append(b.program)
    functions = compiled_c(tmp_path, *programs) if HAS_COMPILER else []
    for i, program in enumerate(programs):
        expected = interpreted(program, x, y)
        for run in (Compiled(program), *functions[i : i + 1]):
            for got, right in zip(run(x, y), expected, strict=True):
                np.testing.assert_array_equal(got, right, program.name)


@pytest.mark.parametrize("lanes", [2, 8, 32])
def test_cold_paths_are_taken_in_the_lanes_that_need_them(lanes: int) -> None:
    def formula(b: Builder, x: Value, y: Value) -> Value:
        zero = b.const(0.0, "float64")
        below = b.op("lt", x, zero)

        def truth(inner: Builder, x: Value, flag: Value) -> Value:
            return inner.op("and", flag, inner.op("lt", x, inner.const(-1.0, "float64")))

        deep = b.unlikely(below, b.op("lt", y, zero), "truth", truth, x, below)

        def number(inner: Builder, x: Value, y: Value, flag: Value) -> Value:
            return inner.select(flag, inner.op("mul", x, y), inner.op("sub", x, y))

        return b.unlikely(b.op("lt", y, x), b.op("add", x, y), "number", number, x, y, deep)

    run = Compiled(map_program(formula, 2, lanes))
    generator = np.random.default_rng(3)
    for n in (0, 1, 7, 8, 9, 31, 32, 33, 63, 70, 129):
        for shift in (-3.0, 0.0, 3.0):
            x, y = generator.normal(size=n), generator.normal(shift, 2.0, n)
            deep = np.where(x < 0, x < -1, y < 0)
            expected = np.where(y < x, np.where(deep, x * y, x - y), x + y)
            np.testing.assert_array_equal(run(x, y)[0], expected)
