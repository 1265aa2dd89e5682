"""A type whose values consist of several arrays, in compiled functions on every linker.

The type is that of a scaled matrix of diagonals or of rows: two arrays and a flag.
"""

from __future__ import annotations

import copy
import json
import pickle
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.function_cache import function_key
from occelo_graph import tensor as ot
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op, op
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.ir.types import Type, none_type
from occelo_graph.ops.control import ifelse
from occelo_link.loops.registry import lowers_parts_to_loops
from occelo_link.loops.tensors import TensorGroup

pytestmark = pytest.mark.filterwarnings(
    "ignore:.*runs in Python:UserWarning", "ignore:Shapes in the graph depend:UserWarning"
)


class Pairs:
    """Entries ``(index[k], data[k])`` of a vector, counted from the end if ``backward``."""

    def __init__(self, data: Any, index: Any, backward: bool = False) -> None:
        self.data = np.asarray(data)
        self.index = np.asarray(index)
        self.backward = bool(backward)

    def dense(self, length: int) -> Any:
        """What it stands for, written apart from the ops."""
        found = np.zeros(length, self.data.dtype)
        for k, x in zip(self.index.tolist(), self.data.tolist(), strict=True):
            found[length - 1 - k if self.backward else k] += x
        return found

    def __repr__(self) -> str:
        return f"Pairs({self.data.tolist()}, {self.index.tolist()}, {self.backward})"


class PairsType(Type):
    __slots__ = ("data_dtype",)

    def __init__(self, data_dtype: str = "float64") -> None:
        self.data_dtype = data_dtype

    def key(self) -> tuple[Any, ...]:
        return (self.data_dtype,)

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        if not isinstance(data, Pairs):
            raise TypeError(f"Expected Pairs, got {data!r}")
        if data.data.dtype == self.data_dtype and data.index.dtype == "int64":
            return data
        raise TypeError(f"Expected Pairs of {self.data_dtype}, got {data.data.dtype}")

    def parts(self) -> tuple[Any, ...]:
        kinds = ((self.data_dtype, (None,)), ("int64", (None,)), ("bool", ()))
        return tuple(og.TensorType(dtype, shape) for dtype, shape in kinds)

    def to_parts(self, value: Any) -> Sequence[Any]:
        return value.data, value.index, np.asarray(value.backward)

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return Pairs(parts[0], parts[1], bool(parts[2]))


pairs = PairsType()
RUNS: list[str] = []


@op
class MakePairs(Op):
    """Of a vector and positions: only Python knows how."""

    def infer(self, data: Any, index: Any) -> Any:
        return PairsType(data.dtype)

    def evaluate(self, data: Any, index: Any) -> Any:
        RUNS.append("make")
        return Pairs(data.copy(), index.copy(), True)


@op
class ScalePairs(Op):
    """Has a lowering over parts: only the first of them changes."""

    def infer(self, p: Any, factor: Any) -> Any:
        return p

    def evaluate(self, p: Any, factor: Any) -> Any:
        RUNS.append("scale")
        return Pairs(p.data * factor.astype(p.data.dtype), p.index.copy(), p.backward)


@op
class Dense(Op):
    """A vector of a length; only Python knows how."""

    length: int

    def infer(self, p: Any) -> Any:
        return og.TensorType(p.data_dtype, (self.length,))

    def evaluate(self, p: Any) -> Any:
        RUNS.append("dense")
        if np.max(p.index, initial=0) >= self.length:
            raise IndexError(f"there is no position {p.index.max()}")
        return p.dense(self.length)


@lowers_parts_to_loops(
    ScalePairs, when=lambda node: "complex" not in node.inputs[0].type.data_dtype
)
def lower_scale(context: Any, node: Apply, inputs: list[Any]) -> Sequence[Any]:
    data, index, backward = inputs[0].parts
    factor = context.builder.cast(context.scalar(inputs[1]), data.dtype)

    def element(builder: Any, at: Any) -> Any:
        return builder.op("mul", data.at(builder, at), factor)

    made = context.virtual(data.dtype, data.shape, element, [data], flat=data.flat, identity=True)
    return [TensorGroup([made, index, backward])]


make, scale = MakePairs(), ScalePairs()


def some(count: int = 3, seed: int = 0, dtype: str = "float64", backward: bool = False) -> Pairs:
    rng = np.random.default_rng(seed)
    data = rng.normal(size=count) + (1j if dtype.startswith("complex") else 0)
    return Pairs(data.astype(dtype), rng.integers(0, 5, count), backward)


def assert_same(found: Any, expected: Pairs) -> None:
    assert type(found) is Pairs
    assert found.data.dtype == expected.data.dtype
    np.testing.assert_allclose(
        found.data, expected.data, rtol=1e-3 if found.data.itemsize == 2 else 1e-7
    )
    np.testing.assert_array_equal(found.index, expected.index)
    assert found.index.dtype == "int64"
    assert found.backward is expected.backward


@pytest.mark.parametrize("backward", [False, True])
@pytest.mark.parametrize("count", [0, 1, 3, 700])
def test_it_comes_in_and_out(mode: str, count: int, backward: bool) -> None:
    p, x = pairs("p"), ot.dscalar("x")
    f = oc.function([p, x], [scale(p, x), Dense(5)(scale(p, x + 1)), p, x * 2], mode=mode)
    given = some(count, count, backward=backward)
    before = copy.deepcopy(given)
    for factor in (2.0, -1.5):
        scaled, dense, same, twice = f(given, factor)
        assert_same(scaled, Pairs(before.data * factor, before.index, backward))
        np.testing.assert_allclose(dense, before.dense(5) * (factor + 1), atol=1e-12)
        assert_same(same, before)
        assert twice == factor * 2
        for result in (scaled, same):
            result.data[...] = 7  # nobody else's memory
            result.index[...] = 7
        assert_same(given, before)


@pytest.mark.parametrize("dtype", ["float32", "float16", "complex128", "int8"])
def test_parts_of_every_kind_of_dtype(mode: str, dtype: str) -> None:
    if mode == "pytorch" and dtype == "int8":
        pytest.skip("tested by the other dtypes")
    p, x = PairsType(dtype)("p"), ot.scalar("x", dtype=dtype)
    c = ot.bscalar("c")
    chosen = ifelse(c, scale(p, x), p)
    f = oc.function([p, x, c], [chosen, Dense(6)(chosen)], mode=mode)
    given = some(4, 1, dtype)
    for take in (1, 0):
        found, dense = f(given, np.array(3, dtype), take)
        factor = np.array(3 if take else 1, dtype)
        assert_same(found, Pairs(given.data * factor, given.index))
        np.testing.assert_allclose(
            dense, Pairs(given.data * factor, given.index).dense(6), rtol=1e-2
        )


def test_a_shared_one_is_updated(mode: str) -> None:
    state = SharedVariable(pairs, some(3, 2, backward=True), name="state")
    start = copy.deepcopy(state.get_value())
    x = ot.dscalar("x")
    f = oc.function([x], Dense(5)(state).sum(), updates=[(state, scale(state, x))], mode=mode)
    for k in range(3):
        np.testing.assert_allclose(f(2.0), start.data.sum() * 2**k)
        assert_same(state.get_value(), Pairs(start.data * 2 ** (k + 1), start.index, True))
    kept = state.get_value(borrow=True)
    f(2.0)
    assert_same(kept, Pairs(start.data * 8, start.index, True))
    state.set_value(some(2, 3))
    np.testing.assert_allclose(f(1.0), some(2, 3).data.sum())
    with pytest.raises(TypeError, match="state"):
        state.set_value(np.ones(3))


def test_a_constant_counts_by_its_value(mode: str) -> None:
    x = ot.dscalar("x")
    value = some(4, 4)
    constant, equal = (pairs.make_constant(copy.deepcopy(value)) for _ in range(2))
    other = pairs.make_constant(Pairs(value.data, value.index, True))
    assert constant.equals(equal)
    assert not constant.equals(other)
    results = [Dense(6)(scale(c, x)) for c in (constant, equal, other)]
    f = oc.function([x], [*results, scale(constant, x), constant], mode=mode)
    for factor in (1.0, 3.0):
        one, two, three, scaled, same = f(factor)
        np.testing.assert_allclose(one, value.dense(6) * factor)
        np.testing.assert_array_equal(one, two)
        np.testing.assert_allclose(three, value.dense(6)[::-1] * factor)
        assert_same(scaled, Pairs(value.data * factor, value.index))
        assert_same(same, value)
        same.data[...] = 0
    assert_same(constant.data, value)


def nested(c: Any, x: Any, v: Any, i: Any, p: Any) -> Any:
    """Three branches within each other, with ops of all kinds inside."""
    made = make(ot.exp(v), i)
    inner = ifelse(ot.gt(x, 2.0), scale(made, x), scale(p, x))
    middle = ifelse(ot.gt(x, 1.0), inner, make(v, i))
    return ifelse(c, middle, p)


def test_branches_stay_lazy(mode: str) -> None:
    c, x, v, i, p = ot.bscalar("c"), ot.dscalar("x"), ot.dvector("v"), ot.lvector("i"), pairs("p")
    result = nested(c, x, v, i, p)
    f = oc.function([c, x, v, i, p], [result, Dense(5)(result) + 1.0], mode=mode)
    given, vector, index = some(3, 5), np.array([0.5, -1.0]), np.array([0, 4])
    if mode in ("native", "c", "numba"):
        assert [part.compiled for part in f.vm.parts] == [True]
    cases = [
        (1, 3.0, Pairs(np.exp(vector) * 3, index, True), {"make"}),
        (1, 1.5, Pairs(given.data * 1.5, given.index), set()),
        (1, 0.5, Pairs(vector, index, True), {"make"}),
        (0, 3.0, given, set()),
    ]
    for condition, factor, expected, runs in cases:
        RUNS.clear()
        found, dense = f(condition, factor, vector, index, given)
        assert_same(found, expected)
        np.testing.assert_allclose(dense, expected.dense(5) + 1)
        if mode != "pytorch":  # computes both branches
            assert set(RUNS) - {"scale", "dense"} == runs


def test_wrong_values_are_told_by_name(mode: str) -> None:
    p = pairs("p")
    f = oc.function([p], Dense(3)(p) * 2.0, mode=mode)
    for wrong in (np.ones(3), None, some(2, dtype="float32"), "p"):
        with pytest.raises(TypeError, match=r"\(p\)") as raised:
            f(wrong)
        assert "Pairs" in str(raised.value)
    np.testing.assert_allclose(f(some(0)), np.zeros(3))


def test_errors_of_ops_are_told(mode: str) -> None:
    p, x = pairs("p"), ot.dscalar("x")
    f = oc.function([p, x], Dense(3)(scale(p, x)) + 1.0, mode=mode)
    for _ in range(2):
        with pytest.raises(IndexError, match="there is no position 9") as raised:
            f(Pairs([1.0], [9]), 2.0)
        assert __file__ in str(raised.value)
        np.testing.assert_allclose(f(Pairs([1.0], [1]), 2.0), [1.0, 3.0, 1.0])


@op
class WrongPairs(Op):
    """Gives parts of another dtype."""

    def infer(self, p: Any) -> Any:
        return p

    def kernel(self, node: Apply) -> Any:
        return lambda p: [Pairs(p.data.astype("float32"), p.index)]


def test_functions_are_copied_and_pickled(mode: str) -> None:
    p, x = pairs("p"), ot.dscalar("x")
    state = SharedVariable(pairs, some(3, 7), name="state")
    value = some(2, 8)
    f = oc.function(
        [p, oc.In(x, value=np.float64(2.0))],
        [scale(p, x), Dense(5)(state), pairs.make_constant(value)],
        updates=[(state, scale(state, x))],
        mode=mode,
    )
    expected = f(some(3, 9))
    loaded = pickle.loads(pickle.dumps(f))
    found = loaded(some(3, 9))
    assert_same(found[0], expected[0])
    np.testing.assert_allclose(found[1], expected[1] * 2)
    assert_same(found[2], value)
    copied = copy.copy(f)
    np.testing.assert_allclose(copied(some(3, 9))[1], expected[1] * 2)
    swapped = f.copy(swap={state: SharedVariable(pairs, some(1, 10), name="other")})
    np.testing.assert_allclose(swapped(some(3, 9))[1], some(1, 10).dense(5))


def test_none_is_a_value(mode: str) -> None:
    n, x = none_type("n"), ot.dscalar("x")
    f = oc.function([n, x], [ifelse(ot.gt(x, 0.0), n, n), x + 1.0], mode=mode)
    assert f(None, 1.0) == [None, 2.0]
    with pytest.raises(TypeError, match=r"\(n\)"):
        f(3, 1.0)


JOB = """
import json, sys
import numpy as np
import occelo_compile as oc
from occelo_graph.config import config
config.base_compiledir = sys.argv[1]
sys.path.insert(0, sys.argv[2])
from occelo_graph import tensor as ot
from occelo_graph.ops.control import ifelse
from occelo_link.cache.store import counters
from test_types_in_arrays import Dense, Pairs, pairs, scale

c, x, p = ot.bscalar("c"), ot.dscalar("x"), pairs("p")
constant = pairs.make_constant(Pairs(np.arange(3.0) + float(sys.argv[3]), np.arange(3), True))
mode = oc.Mode("native")
f = oc.function([c, p], [ifelse(c, p, constant), p], mode=mode)
found = [f(k, Pairs(np.ones(2), np.zeros(2, int)))[0] for k in (0, 1)]
g = oc.function([p, x], Dense(4)(scale(p, x)), mode=mode)
told = [v.dense(4).tolist() for v in found] + [g(found[0], 2.0).tolist()]
print(json.dumps([told, f.maker.from_cache, counters["object misses"], counters["object hits"]]))
"""


def test_a_second_process_compiles_nothing(tmp_path: Path) -> None:
    """Where all ops are of the library the function is kept; where not, its machine code is."""

    def run(first: int) -> Any:
        given = [str(tmp_path), str(Path(__file__).parent), str(first)]
        done = subprocess.run(
            [sys.executable, "-c", JOB, *given], capture_output=True, text=True, check=True
        )
        return json.loads(done.stdout.splitlines()[-1])

    def told(first: int) -> Any:
        third = np.array([0.0, first + 2, first + 1, first])
        return [third.tolist(), [2.0, 0.0, 0.0, 0.0], (2 * third).tolist()]

    assert run(0)[:2] == [told(0), False]
    results, from_cache, misses, hits = run(0)
    assert results == told(0)
    assert from_cache
    assert misses == 0
    assert hits >= 1
    # another constant is another function
    assert run(5)[:2] == [told(5), False]


class Ends(Type):
    """Pairs of floats as a tuple; ``order`` is no part of its key."""

    order = 1

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def parts(self) -> tuple[Any, ...]:
        return (og.TensorType("float64", ()),) * 2

    def to_parts(self, value: Any) -> Sequence[Any]:
        return [np.asarray(v) for v in value[:: self.order]]

    def from_parts(self, parts: Sequence[Any]) -> Any:
        return tuple(float(p) for p in parts)[:: self.order]


def test_the_source_of_a_type_is_part_of_the_key() -> None:
    class Turned(Ends):
        order = -1

    Turned.__qualname__ = "Ends"
    keys: list[Any] = []
    for kind in (Ends(), Turned()):
        v = kind("v")
        f = oc.function([v], v, mode=oc.Mode("native"))
        assert f((1.0, 2.0)) == (1.0, 2.0)
        keys.append(function_key(f.maker))
    assert keys[0]["types"] != keys[1]["types"]
    x = ot.dvector("x")
    assert "types" not in (function_key(oc.function([x], x * 2).maker) or {})


@op
class Sharing(Op):
    """Gives what it is given, and does not say so."""

    def infer(self, p: Any) -> Any:
        return p

    def evaluate(self, p: Any) -> Any:
        return Pairs(p.data, p.index.copy(), p.backward)


@op
class Overwriting(Op):
    """Doubles its input in place, and does not say so."""

    def infer(self, p: Any) -> Any:
        return p

    def evaluate(self, p: Any) -> Any:
        p.data[...] *= 2
        return Pairs(p.data.copy(), p.index.copy(), p.backward)


@op
class WrongScale(ScalePairs):
    """Is lowered to something else than it computes."""

    def infer(self, p: Any, factor: Any) -> Any:
        return p


lowers_parts_to_loops(WrongScale)(
    lambda context, node, inputs: [TensorGroup([*inputs[0].parts[:2], context_flag(context)])]
)


def context_flag(context: Any) -> Any:
    """The flag of `Pairs` that are counted from the end."""
    value = context.builder.const(True, "bool")
    return context.virtual("bool", (), lambda builder, index: value)


@pytest.mark.parametrize("linker", ["vm", "native"])
def test_debug_mode_looks_into_parts(linker: str) -> None:
    from occelo_compile.debugging.errors import BadDestroyMap, BadThunkOutput, BadViewMap

    p, x, c = pairs("p"), ot.dscalar("x"), ot.bscalar("c")
    mode = oc.DebugMode(linker=linker, check_preallocated_output="ALL")
    given = some(3, backward=True)
    f = oc.function([p, x, c], [scale(p, x), ifelse(c, p, scale(p, x)), Dense(5)(p)], mode=mode)
    scaled, chosen, dense = f(given, 2.0, 0)
    assert_same(scaled, Pairs(given.data * 2, given.index, True))
    assert_same(chosen, scaled)
    np.testing.assert_allclose(dense, given.dense(5))
    with pytest.raises(BadViewMap, match="shares memory with input 0"):
        oc.function([p], Sharing()(p), mode=mode)(given)
    with pytest.raises(BadDestroyMap, match="changed its input 0"):
        oc.function([p], Overwriting()(p), mode=mode)(given)
    assert_same(given, some(3, backward=True))
    with pytest.raises(BadThunkOutput, match="part 0: absolute difference"):
        oc.function([p, x], WrongScale()(p, x), mode=oc.DebugMode(linker="native"))(given, 2.0)


def test_constants_are_shown_without_their_address() -> None:
    """Else DebugMode finds that rewriting twice, which makes an object each time, gives two graphs."""

    class Unshown(Pairs):
        __repr__ = object.__repr__

    class MakesUnshown(PairsType):
        def from_parts(self, parts: Sequence[Any]) -> Any:
            return Unshown(parts[0], parts[1], bool(parts[2]))

    constant = MakesUnshown().make_constant(Unshown([1.0, 2.0], [0, 3]))
    assert " at 0x" in str(constant.data)
    assert "0x" not in str(constant)
    x = ot.dscalar("x")
    f = oc.function([x], Dense(4)(scale(scale(constant, 2.0), x)), mode=oc.DebugMode())
    np.testing.assert_array_equal(f(3.0), [6.0, 0.0, 0.0, 12.0])


def test_nan_guard_mode_looks_into_parts() -> None:
    p, x = pairs("p"), ot.dscalar("x")
    f = oc.function([p, x], Dense(5)(scale(p, x)), mode=oc.NanGuardMode(linker="native"))
    np.testing.assert_allclose(f(some(3), 2.0), some(3).dense(5) * 2)
    with pytest.raises(AssertionError, match="NaN in an input"):
        f(Pairs([np.nan], [1]), 2.0)
    with pytest.raises(AssertionError, match="infinite value in an input"):
        f(Pairs([np.inf], [1]), 1.0)
    with pytest.raises(AssertionError, match=r"beyond 1e[+]10 in .*ScalePairs"):
        f(Pairs([1e9], [1]), 1e9)


def test_memory_is_that_of_the_parts(mode: str) -> None:
    """What may be overwritten is the function's own, and what is handed out nobody else's."""
    p, q = pairs("p"), pairs("q")
    f = oc.function([oc.In(p, mutable=True), oc.In(q, borrow=True)], [p, q, q], mode=mode)
    data, index = np.arange(4.0), np.arange(4)
    data.flags.writeable = False
    for _ in range(2):
        results = f(Pairs(data, index), Pairs(data[1:], index[1:]))
        assert_same(results[0], Pairs(np.arange(4.0), np.arange(4)))
        for one in results:
            for other in results:
                if one is not other:
                    assert not pairs.may_share_memory(one, other)
        results[0].data[...] = 0
        results[1].index[...] = 0
        np.testing.assert_array_equal(index, np.arange(4))


def test_values_that_share_memory_are_told_when_pickled() -> None:
    value = some(3)
    one = SharedVariable(pairs, value, name="one")
    other = SharedVariable(pairs, Pairs(value.data[1:], value.index[1:].copy()), name="other")
    f = oc.function([], [Dense(5)(one), Dense(5)(other)])
    with pytest.warns(UserWarning, match="other .*share memory"):
        pickle.dumps(f)


def test_profiles_count_the_bytes_of_parts() -> None:
    p, x = pairs("p"), ot.dscalar("x")
    profile = oc.ProfileStats()
    f = oc.function([p, x], Dense(5)(scale(p, x)), mode="vm", profile=profile)
    with og.config.change_flags(profile_memory=True):
        f(some(100), 2.0)
        f(some(100), 2.0)
    costs = {str(node.op): cost.bytes for node, cost in profile.nodes.costs.items()}
    assert costs["ScalePairs"] == 100 * 16 + 1


def test_saved_graphs_have_the_parts(tmp_path: Path) -> None:
    p, x = pairs("p"), ot.dscalar("x")
    value, start = some(3, 3, backward=True), some(2, 4)
    state = SharedVariable(pairs, start, name="state")
    outputs = [scale(p, x), scale(pairs.make_constant(value), x), scale(state, x)]
    og.save(tmp_path / "graph", outputs, [p, x])
    loaded = og.load(tmp_path / "graph")
    found = og.evaluate(loaded.outputs, dict(zip(loaded.inputs, [some(1), 2.0], strict=True)))
    for made, given in zip(found, (some(1), value, start), strict=True):
        assert_same(made, Pairs(given.data * 2, given.index, given.backward))
    digests = {
        og.digest(scale(pairs.make_constant(v), x), [x])
        for v in (value, copy.deepcopy(value), some(3, 3), Pairs(value.data, value.index[::-1]))
    }
    assert len(digests) == 3


def test_no_derivative_passes_unless_the_op_says_so() -> None:
    p, v, i = pairs("p"), ot.dvector("v"), ot.lvector("i")
    cost = Dense(5)(make(v, i)).sum() + (v**2).sum()
    with pytest.raises(og.errors.MethodNotDefined, match="Dense"):
        og.grad(cost, v)
    with pytest.raises((TypeError, og.errors.DisconnectedInputError)):
        og.grad((v**2).sum(), p)


@op
class Grown(Op):
    """One entry more; only Python knows it."""

    def infer(self, p: Any) -> Any:
        return p

    def evaluate(self, p: Any) -> Any:
        return Pairs(np.append(p.data, 1.0), np.append(p.index, 0), not p.backward)


def test_wrong_parts_are_told(mode: str) -> None:
    p = pairs("p")
    f = oc.function([p], Dense(5)(WrongPairs()(p)) * 2.0, mode=mode)
    with pytest.raises(TypeError, match="is float32"):
        f(some(2))
    odd = ScaleBadly()
    g = ot.dscalar("x")
    if mode in ("native", "c", "c|py", "numba"):
        with pytest.raises(TypeError, match="lowering of ScaleBadly"):
            oc.function([p, g], odd(p, g), mode=mode)


@op
class ScaleBadly(ScalePairs):
    """Its lowering forgets a part."""

    def infer(self, p: Any, factor: Any) -> Any:
        return p


lowers_parts_to_loops(ScaleBadly)(lambda context, node, inputs: [TensorGroup(inputs[0].parts[:2])])


class LoosePairsType(PairsType):
    """A type that takes any `Pairs`."""

    __slots__ = ()

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data


@op
class MakeLoose(Op):
    def infer(self, data: Any, index: Any) -> Any:
        return LoosePairsType()

    def evaluate(self, data: Any, index: Any) -> Any:
        return Pairs(data.astype("float32"), index)


WRONG = [
    (np.ones(2, "int16"), r"must be float64 .*, and is int16"),
    (np.ones((1, 2)), r"must be float64 .*, and is float64 \(1, 2\)"),
    (np.ones(2, ">f8"), r"must be float64 .*, and is >f8"),
]


@pytest.mark.parametrize(("data", "message"), WRONG, ids=["dtype", "ndim", "byteorder"])
def test_arrays_that_are_not_as_the_type_says_are_refused(
    mode: str, data: Any, message: str
) -> None:
    kind = LoosePairsType()
    value, right = Pairs(data, np.arange(2)), Pairs(np.ones(2), np.arange(2))
    p, x, i = kind("p"), ot.dvector("x"), ot.lvector("i")
    state = SharedVariable(kind, right, name="state")
    f = oc.function([p], [p, state], mode=mode)
    with pytest.raises(TypeError, match=message):
        f(value)
    with pytest.raises(TypeError, match=message):
        state.set_value(value)
    with pytest.raises(TypeError, match=message):
        kind.make_constant(value)
    np.testing.assert_array_equal(f(right)[0].data, right.data)
    g = oc.function([x, i], MakeLoose()(x, i), mode=mode)
    with pytest.raises(og.errors.WrongResultError, match=r"must be float64 .*, and is float32"):
        g(np.ones(2), np.arange(2))
