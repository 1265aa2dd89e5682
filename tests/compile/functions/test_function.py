"""`function`: arguments, updates, givens, calls, modes, memory."""

from __future__ import annotations

import itertools
import pickle
import re
from collections import OrderedDict
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_link import VMLinker
from occelo_rewrite import in2out, node_rewriter

MODES = ["FAST_RUN", "FAST_COMPILE", "py", "vm", "vm_nogc"]


@pytest.fixture(params=MODES)
def mode(request: pytest.FixtureRequest) -> str:
    name: str = request.param
    return name


def test_kinds_of_outputs(mode: str) -> None:
    x = ot.dscalar("x")
    assert oc.function([x], x * 2, mode=mode)(3) == 6.0
    assert isinstance(oc.function([x], x * 2, mode=mode)(3), np.ndarray)
    assert oc.function([x], [x * 2, x], mode=mode)(3) == [6.0, 3.0]
    assert oc.function([x], (x * 2,), mode=mode)(3) == [6.0]
    assert oc.function([x], {"b": x * 2, "a": x}, mode=mode)(3) == {"a": 3.0, "b": 6.0}
    assert oc.function([x], [], mode=mode, on_unused_input="ignore")(3) == []
    assert oc.function([], None, mode=mode)() == []
    assert oc.function([], 3.5, mode=mode)() == 3.5
    assert oc.function([x], oc.Out(x * 2), mode=mode)(3) == 6.0


def test_updates_see_old_values_and_are_stored_after_the_call(mode: str) -> None:
    a, b = oc.shared(1.0, "a"), oc.shared(2.0, "b")
    f = oc.function([], [a, b], updates=[(a, b), (b, a)], mode=mode)
    assert f() == [1.0, 2.0]
    assert (a.get_value(), b.get_value()) == (2.0, 1.0)
    assert a.container.storage[0] is not b.container.storage[0]
    x = ot.dscalar("x")
    add = oc.function([x], a, updates={a: a + x}, mode=mode)
    add(5)
    assert a.get_value() == 7.0
    constant = oc.function([], None, updates={a: 3}, mode=mode)
    constant()
    assert a.get_value() == 3.0


def test_an_error_leaves_shared_values_as_they_were(mode: str) -> None:
    a, b = oc.shared(np.ones(2), "a"), oc.shared(np.ones(2), "b")
    x = ot.dvector("x")
    f = oc.function([x], b * x, updates=[(a, a + 1), (b, b + x)], mode=mode)
    with pytest.raises(ValueError, match="dimension mismatch"):
        f([1.0, 2.0, 3.0])
    np.testing.assert_array_equal(a.get_value(), [1.0, 1.0])
    f([1.0, 1.0])
    np.testing.assert_array_equal(a.get_value(), [2.0, 2.0])


@pytest.mark.parametrize("backwards", [False, True])
def test_an_update_in_place_is_not_begun_where_a_later_node_fails(
    mode: str, backwards: bool
) -> None:
    a, b = oc.shared(np.zeros(3), "a"), oc.shared(np.zeros(3), "b")
    x = ot.dvector("x")
    updates = [(a, ot.exp(a) * 2), (b, b + x)]
    f = oc.function([x], None, updates=updates[::-1] if backwards else updates, mode=mode)
    with pytest.raises(ValueError, match="dimension mismatch"):
        f([1.0, 2.0])
    np.testing.assert_array_equal(a.get_value(), np.zeros(3))
    np.testing.assert_array_equal(b.get_value(), np.zeros(3))


def test_default_updates(mode: str) -> None:
    a = oc.shared(0.0, "a")
    b = oc.shared(10.0, "b")
    a.default_update = a + b
    b.default_update = b * 2
    oc.function([], a, mode=mode)()
    assert (a.get_value(), b.get_value()) == (10.0, 20.0)
    oc.function([], a, mode=mode, no_default_updates=True)()
    oc.function([], a, mode=mode, no_default_updates=[a, b])()
    assert (a.get_value(), b.get_value()) == (10.0, 20.0)
    oc.function([], a, mode=mode, updates={a: a - 1})()
    assert a.get_value() == 9.0
    assert b.get_value() == 20.0


def test_givens(mode: str) -> None:
    x, y = ot.dvectors("x", "y")
    w = oc.shared(np.ones(2), "w")
    assert oc.function([y], (x * 2).sum(), givens={x: y + 1}, mode=mode)([1.0]) == 4.0
    assert oc.function([], (x * 2).sum(), givens=[(x, np.array([1.0, 2.0]))], mode=mode)() == 6.0
    f = oc.function([x], (w * 3).sum(), givens={w: x}, mode=mode)
    assert f([1.0, 2.0, 3.0]) == 18.0
    assert f.get_shared() == []
    loose = oc.function(
        [], x * x, givens={x: ot.constant(np.float32([1.5]))}, rebuild_strict=False, mode=mode
    )
    assert loose().dtype == "float32"


def test_computed_variables_can_be_inputs(mode: str) -> None:
    x = ot.dscalar("x")
    y = ot.exp(x)
    f = oc.function([y], y * 2, mode=mode)
    assert f(3.0) == 6.0
    both = oc.function([x, y], x + y, mode=mode)
    assert both(1.0, 10.0) == 11.0


MISTAKES: list[tuple[str, Any, type[Exception], str]] = [
    ("inputs no list", lambda x, w: oc.function(x, x), TypeError, "inputs must be a list"),
    (
        "constant input",
        lambda x, w: oc.function([ot.constant(1.0)], x),
        TypeError,
        "is the constant",
    ),
    ("shared input", lambda x, w: oc.function([w], w), TypeError, "givens="),
    ("no variable", lambda x, w: oc.function([3], x), TypeError, "must be a variable or In"),
    ("twice", lambda x, w: oc.function([x, x], x), og.UnusedInputError, "input 0 and as input 1"),
    ("unused", lambda x, w: oc.function([x], w), og.UnusedInputError, "on_unused_input='ignore'"),
    (
        "unused option",
        lambda x, w: oc.function([x], w, on_unused_input="odd"),
        ValueError,
        "raise, warn or ignore",
    ),
    (
        "missing root",
        lambda x, w: oc.function([], x * 2),
        og.MissingInputError,
        "x .float64 .*is needed but is not an input",
    ),
    ("no output", lambda x, w: oc.function([x], "text"), TypeError, "output must be"),
    ("key no string", lambda x, w: oc.function([x], {1: x}), TypeError, "must be strings"),
    (
        "update of no shared",
        lambda x, w: oc.function([x], x, updates={x: x}),
        TypeError,
        "Only shared variables",
    ),
    *(
        (
            f"update no pair {i}",
            make,
            TypeError,
            r"updates is a list of pairs .*, or a dict .*; got ",
        )
        for i, make in enumerate(
            [
                lambda x, w: oc.function([], w, updates=[og.grad(w.sum(), w)]),
                lambda x, w: oc.function([], w, updates=og.grad(w.sum(), w)),
                lambda x, w: oc.function([], w, updates=(w, w + 1)),
                lambda x, w: oc.function([], w, updates=[(w, w), (w,)]),
                lambda x, w: oc.function([], w, updates=3),
            ]
        )
    ),
    (
        "update twice",
        lambda x, w: oc.function([], w, updates=[(w, w), (w, w)]),
        ValueError,
        "two updates",
    ),
    (
        "update dtype",
        lambda x, w: oc.function([], w, updates={w: w.astype("float32")}),
        TypeError,
        "Cannot convert",
    ),
    (
        "update ndim",
        lambda x, w: oc.function([], w, updates={w: w.sum()}),
        TypeError,
        "Cannot convert",
    ),
    (
        "update value",
        lambda x, w: oc.function([], w, updates={w: "text"}),
        TypeError,
        "Cannot make an array",
    ),
    (
        "given type",
        lambda x, w: oc.function([], x, givens={x: ot.constant(np.int32([1]))}),
        TypeError,
        "Cannot convert",
    ),
    ("given input", lambda x, w: oc.function([x], x, givens={x: w}), RuntimeError, "is an input"),
    ("given key", lambda x, w: oc.function([], x, givens={"x": w}), TypeError, "keys of givens"),
    (
        "default updates",
        lambda x, w: oc.function([x], x, no_default_updates="a"),
        TypeError,
        "no_default_updates is",
    ),
    (
        "mode",
        lambda x, w: oc.function([x], x, mode="FAST_WALK"),
        ValueError,
        "There is no mode 'FAST_WALK'; there are",
    ),
    ("mode type", lambda x, w: oc.function([x], x, mode=3), TypeError, "mode is a Mode"),
    (
        "inplace",
        lambda x, w: oc.function([x], Elemwise(ot.exp.scalar_op, ((0, 0),))(x)),
        TypeError,
        "accept_inplace=True",
    ),
    (
        "keyword",
        lambda x, w: oc.function([x], x)(y=1),
        TypeError,
        "no argument named 'y'; its named arguments are x",
    ),
    (
        "missing",
        lambda x, w: oc.function([x], x)(),
        TypeError,
        r"missing 1 of its arguments: 0 \(x\)",
    ),
    ("too many", lambda x, w: oc.function([x], x)(1, 2), TypeError, "takes 1 arguments, got 2"),
    ("given twice", lambda x, w: oc.function([x], x)([1.0], x=[1.0]), TypeError, "twice"),
    ("wrong ndim", lambda x, w: oc.function([x], x)(1.0), TypeError, "expected 1, got 0"),
    ("wrong dtype", lambda x, w: oc.function([x], x)(["a"]), TypeError, "Cannot make an array"),
    ("variable as value", lambda x, w: oc.function([x], x)(x), TypeError, "takes values"),
    ("None", lambda x, w: oc.function([x], x)(None), TypeError, "got None"),
    ("implicit without value", lambda x, w: oc.In(x, implicit=True), TypeError, "needs a value"),
    (
        "mutable not borrowed",
        lambda x, w: oc.In(x, mutable=True, borrow=False),
        ValueError,
        "borrowed",
    ),
    ("name", lambda x, w: oc.In(x, name=3), TypeError, "must be a string"),
    ("Out", lambda x, w: oc.Out(3), TypeError, "must be a variable"),
]


@pytest.mark.parametrize(
    ("do", "error", "message"), [m[1:] for m in MISTAKES], ids=[m[0] for m in MISTAKES]
)
def test_mistakes_raise_the_right_class_and_the_cause_is_the_last_line(
    do: Any, error: type[Exception], message: str
) -> None:
    x = ot.dvector("x")
    w = oc.shared(np.ones(2), "w")
    with pytest.raises(error) as caught:
        do(x, w)
    last = str(caught.value).splitlines()[-1]
    assert re.search(message, last), last
    np.testing.assert_array_equal(w.get_value(), [1.0, 1.0])


def test_wrong_arguments_name_function_position_variable_and_line() -> None:
    x = ot.tensor("speed", dtype="float64", shape=(3,))
    f = oc.function([x], x, name="drive")
    with pytest.raises(TypeError) as caught:
        f([1.0])
    first, last = str(caught.value).splitlines()
    assert first.startswith(
        "Bad argument 0 (speed) of Function 'drive': expected float64 (3,), made at "
    )
    assert __file__ in first
    assert last == "Wrong shape: expected (3,), got (1,)"


def test_unused_inputs_can_warn_or_pass() -> None:
    x, y = ot.dscalars("x", "y")
    with pytest.warns(UserWarning, match="Input 1, y"):
        oc.function([x, y], x, on_unused_input="warn")
    assert oc.function([x, y], x, on_unused_input="ignore")(1, 2) == 1.0
    with config.change_flags(on_unused_input="ignore"):
        oc.function([x, y], x)


def test_defaults_and_state(mode: str) -> None:
    x, n = ot.dscalars("x", "n")
    f = oc.function([x, oc.In(n, value=2.0)], x * n, mode=mode)
    assert f(3) == 6.0
    assert f(3, 4) == 12.0
    assert f(3) == 6.0
    assert f(3, n=5) == 15.0
    state = oc.function([x, oc.In(n, value=0.0, update=n + x)], n, mode=mode)
    assert [float(state(2)) for _ in range(3)] == [0.0, 2.0, 4.0]
    assert state["n"] == 6.0
    state["n"] = 100
    assert state(1) == 100.0
    assert state.value[n] == 101.0
    assert state.container["n"].value == 101.0
    assert "n" in state
    assert "q" not in state


def test_finder() -> None:
    x, y = ot.dscalars("same", "same")
    w = oc.shared(3.0, "w")
    f = oc.function([x, y], x + y * w)
    assert f(1, 2) == 7.0
    with pytest.raises(TypeError, match="Several inputs"):
        f["same"]
    with pytest.raises(TypeError, match="several arguments named 'same'"):
        f(same=1)
    with pytest.raises(KeyError, match="no input 'q'"):
        f["q"]
    f[w] = 5.0
    assert w.get_value() == 5.0
    assert f.finder["same"] is oc.DUPLICATE
    assert f.finder[0] is f.finder[x]


def test_strict_and_downcast() -> None:
    x = ot.fvector("x")
    f = oc.function([oc.In(x, strict=True)], x)
    with pytest.raises(TypeError, match="dtype float32, got list"):
        f([1.0])
    data = np.ones(2)
    assert oc.function([x], x, allow_input_downcast=True)(data).dtype == "float32"
    with pytest.raises(TypeError, match="loses precision"):
        oc.function([x], x)(data)
    s = ot.fscalar("s")
    assert oc.function([s], s)(1.1) == np.float32(1.1)
    with pytest.raises(TypeError, match="loses precision"):
        oc.function([s], s, allow_input_downcast=False)(1.1)


def test_output_subset_skips_the_rest_but_not_updates(mode: str) -> None:
    class Counts(og.Op):
        pure = False
        calls = 0

        def infer(self, x: Any) -> Any:
            return x

        def evaluate(self, x: Any) -> Any:
            Counts.calls += 1
            return x + 0

    x = ot.dscalar("x")
    w = oc.shared(0.0, "w")
    f = oc.function([x], [Counts()(x), x * 2, x * 3], updates={w: w + 1}, mode=mode)
    assert f(1, output_subset=[1, 2]) == [2.0, 3.0]
    assert Counts.calls == 0
    assert w.get_value() == 1.0
    named = oc.function([x], {"a": x, "b": x * 2}, mode=mode)
    assert named(2, output_subset=["b"]) == {"b": 4.0}
    with pytest.raises(KeyError, match="no output 'c'"):
        named(2, output_subset=["c"])
    ordered = oc.function([x], OrderedDict(b=x, a=x * 2), mode=mode)
    assert list(ordered(3).items()) == [("b", 3.0), ("a", 6.0)]
    assert isinstance(ordered(3), OrderedDict)
    assert ordered(2, output_subset=["a"]) == {"a": 4.0}


def test_memory_contract_over_all_combinations(mode: str) -> None:
    builds: list[Any] = [
        lambda x, w: x,
        lambda x, w: x[::-1],
        lambda x, w: w,
        lambda x, w: w[1:],
        lambda x, w: ot.constant(np.arange(3.0)),
        lambda x, w: ot.ifelse(x[0] > 0, x, w),
        lambda x, w: x * 2,
        lambda x, w: ot.specify_shape(x, (3,)).T,
    ]
    for pair in itertools.combinations_with_replacement(range(len(builds)), 2):
        w = oc.shared(np.arange(3.0), "w")
        v = oc.shared(np.zeros(3), "v")
        x = ot.dvector("x")
        outs = [builds[i](x, w) for i in pair]
        f = oc.function([x], outs, updates={v: w}, mode=mode, on_unused_input="ignore")
        given = np.array([1.0, 2.0, 3.0])
        kept = given.copy()
        first = f(given)
        copies = [o.copy() for o in first]
        owned = [given, w.container.storage[0], v.container.storage[0]]
        for a, b in itertools.combinations([*first, *owned], 2):
            assert not np.may_share_memory(a, b), pair
        for o in first:
            o[...] = -7
        np.testing.assert_array_equal(given, kept)
        np.testing.assert_array_equal(w.get_value(), np.arange(3.0))
        for found, wanted in zip(f(given), copies, strict=True):
            np.testing.assert_array_equal(found, wanted)


def test_borrowing_lets_outputs_share(mode: str) -> None:
    x = ot.dvector("x")
    given = np.ones(3)
    own = oc.function([oc.In(x, borrow=True)], x, mode=mode)(given)
    lent = oc.function([oc.In(x, borrow=True)], oc.Out(x, borrow=True), mode=mode)(given)
    assert not np.may_share_memory(own, given)
    assert lent is given
    y = x * 2
    a, b = oc.function([x], [oc.Out(y, borrow=True), oc.Out(y, borrow=True)], mode=mode)(given)
    assert np.may_share_memory(a, b)


def test_mutable_inputs_may_be_overwritten_and_others_never(mode: str) -> None:
    x = ot.dvector("x")
    write = Elemwise(ot.exp.scalar_op, ((0, 0),))
    given = np.zeros(2)
    f = oc.function(
        [oc.In(x, mutable=True)], oc.Out(write(x), borrow=True), accept_inplace=True, mode=mode
    )
    np.testing.assert_array_equal(f(given), [1.0, 1.0])
    np.testing.assert_array_equal(given, [1.0, 1.0])
    with pytest.raises(og.InconsistencyError, match="protected"):
        oc.function([x], write(x), accept_inplace=True, mode=mode)


def test_overlapping_arguments_are_safe(mode: str) -> None:
    x, y = ot.dvectors("x", "y")
    write = Elemwise(ot.exp.scalar_op, ((0, 0),))
    data = np.zeros(3)
    f = oc.function([oc.In(x, mutable=True), y], [write(x), y * 2], accept_inplace=True, mode=mode)
    out, other = f(data[:2], data[1:])
    np.testing.assert_array_equal(out, [1.0, 1.0])
    np.testing.assert_array_equal(other, [0.0, 0.0])


def test_trust_input_skips_checks() -> None:
    x = ot.dscalar("x")
    f = oc.function([x], x * 2, trust_input=True)
    assert f(np.float64(3)) == 6.0
    assert oc.function([x], x).trust_input is False


def test_references_are_dropped_after_a_call() -> None:
    x = ot.dvector("x")
    f = oc.function([x], x * 2)
    f([1.0])
    assert f.input_storage[0].storage[0] is None
    assert f.output_storage[0].storage[0] is None
    f.free()


def test_the_steps_can_be_looked_at() -> None:
    x = ot.dvector("x")
    w = oc.shared(np.ones(2), "w")
    collected = oc.collect([x], (x * w).sum(), updates={w: w * 2})
    assert [str(i) for i in collected.inputs] == ["In(x)", "In(w -> mul.out)"]
    assert collected.shared == [w]
    maker = oc.FunctionMaker.from_collected(collected, "vm")
    rewritten = maker.rewrite()
    assert rewritten.fgraph.update_mapping == {1: 1}
    assert len(rewritten.before.outputs) == 2
    linked = maker.link()
    assert [c.name for c in linked.inputs] == ["x", "w"]
    f = maker.create()
    assert f([1.0, 2.0]) == 3.0
    assert f.maker is maker
    assert maker.times.first_call > 0
    assert maker.times.rewrite > 0
    ins, outs = oc.construct_function_ins_and_outs([x], x * 2)
    assert len(ins) == len(outs) == 1
    assert "mul" in f.dprint(file="str")
    assert repr(f).startswith("<Function(x) in mode")


def test_an_existing_graph_is_extended_with_update_outputs() -> None:
    x = ot.dvector("x")
    graph = og.FunctionGraph([x], [x * 2], clone=False)
    inputs = [oc.In(x, update=x + 1, value=np.zeros(2))]
    maker = oc.FunctionMaker(inputs, [oc.Out(graph.outputs[0])], oc.get_mode("vm"), fgraph=graph)
    f = maker.create()
    assert maker.fgraph is graph
    assert graph.update_mapping == {1: 0}
    np.testing.assert_array_equal(f(), [0.0, 0.0])
    np.testing.assert_array_equal(f(), [2.0, 2.0])


def test_modes() -> None:
    base = oc.get_mode("fast_run")
    assert base.including("a").query.include >= {"fast_run", "a", "minimum_compile"}
    assert "b" in base.excluding("b").query.exclude
    assert base.requiring("c").query.require == {"c"}
    assert oc.get_mode(base) is base
    assert oc.get_mode("VM").linker.name == "vm"
    assert base.clone({"allow_gc": False}).linker.allow_gc is False
    assert base.clone(optimizer="o1").query.include >= {"fast_compile"}
    with config.change_flags(mode="FAST_COMPILE"):
        assert oc.get_default_mode().name == "FAST_COMPILE"
    with config.change_flags(optimizer_excluding="merge:x", optimizer_including="y"):
        query = oc.get_mode("FAST_RUN").query
        assert query.exclude >= {"merge", "x"}
        assert "y" in query.include
    with pytest.raises(ValueError, match="There is no linker"):
        oc.Mode("odd")
    with pytest.raises(ValueError, match="There is no optimizer"):
        oc.Mode("vm", "odd")
    with pytest.raises(ValueError, match="already"):
        oc.register_mode("fast_run", base)
    assert "FAST_RUN" in oc.available_modes()


def test_a_mode_takes_rewriters_of_the_users() -> None:
    @node_rewriter([ot.sin])
    def sin_to_cos(fgraph: Any, node: Any) -> Any:
        return [ot.cos(node.inputs[0])]

    x = ot.dscalar("x")
    mode = oc.get_mode("FAST_RUN").register((in2out(sin_to_cos), 1.1))
    assert oc.function([x], ot.sin(x), mode=mode)(0.0) == 1.0
    own = oc.Mode("vm", in2out(sin_to_cos))
    assert oc.function([x], ot.sin(x), mode=own)(0.0) == 1.0
    with pytest.raises(TypeError, match="no query"):
        own.including("a")
    seen: list[int] = []

    class Watching(oc.Mode):
        def function_maker(self, *args: Any, **options: Any) -> Any:
            seen.append(1)
            return super().function_maker(*args, **options)

    oc.function([x], x, mode=Watching(VMLinker(), "fast_run"))
    assert seen == [1]


def test_function_dump_loads_by_the_recipe(tmp_path: Path) -> None:
    x = ot.dvector("x")
    w = oc.shared(np.ones(2), "w")
    x.tag.annotations = "to remove"
    path = tmp_path / "dump.pkl"
    oc.function_dump(
        path, [x], (x * w).sum(), updates={w: w + 1}, extra_tag_to_remove=["annotations"]
    )
    with path.open("rb") as stream:
        arguments = pickle.load(stream)
    assert set(arguments) >= {"inputs", "outputs", "mode", "updates", "givens", "on_unused_input"}
    assert not hasattr(arguments["inputs"][0].tag, "annotations")
    assert oc.function(**arguments)([1.0, 2.0]) == 3.0


def test_eval_compiles_once_and_verify_grad_takes_a_mode() -> None:
    x = ot.dscalar("x")
    y = x * 2
    assert y.eval({x: 3.0}) == 6.0
    assert y.eval({"x": 4.0}, mode="py") == 8.0
    og.verify_grad(ot.exp, [np.ones(2)], mode="vm")
    w = oc.shared(1.0)
    z = w + 1
    assert z.eval() == 2.0
    w.set_value(5.0)
    assert z.eval() == 6.0


def test_a_function_trains_in_every_mode(mode: str) -> None:
    x, t = ot.dmatrix("x"), ot.dvector("t")
    w = oc.shared(np.zeros(3), "w")
    loss = ((x @ w - t) ** 2).mean()
    step = oc.function([x, t], loss, updates={w: w - 0.1 * og.grad(loss, w)}, mode=mode)
    generator = np.random.default_rng(0)
    data = generator.normal(size=(50, 3))
    target = data @ [1.0, -2.0, 0.5]
    losses = [float(step(data, target)) for _ in range(200)]
    assert losses[-1] < 1e-6 < losses[0]
    np.testing.assert_allclose(w.get_value(), [1.0, -2.0, 0.5], atol=1e-3)


def test_a_comparison_by_identity_is_refused_everywhere() -> None:
    x, y = ot.dscalar("x"), ot.dscalar("y")
    flag = ot.scalar("flag", dtype="bool")
    state = oc.shared(np.array(False), "state")
    mistake = x == y
    for build in (
        lambda: oc.function([x, y], mistake),
        lambda: oc.function([x, y], [x + y, mistake]),
        lambda: oc.function([x, y], {"equal": mistake}),
        lambda: oc.function([x, y], x + y, updates={state: mistake}),
        lambda: oc.function([x, y], ot.switch(flag, x, y), givens={flag: mistake}),
        lambda: oc.function(
            [x, y], ot.switch(flag, x, y), givens={flag: mistake}, rebuild_strict=False
        ),
        lambda: oc.In(flag, value=state, update=mistake),
    ):
        with pytest.raises(TypeError, match=r"ot\.eq, ot\.neq"):
            build()
    assert oc.function([flag], flag)(True)
    state.set_value(True)
    assert state.get_value()


def test_results_without_dimensions_are_arrays(mode: str) -> None:
    """Never NumPy's scalars, which cannot be written to."""
    x = ot.TensorType("float64", (1,)).make_variable("x")
    y = ot.TensorType("int64", (1, 1)).make_variable("y")
    outputs = [
        x.squeeze(),
        x[0],
        x.min(axis=-1),
        x.sum(),
        y.min(axis=(0, 1)),
        y.squeeze(),
        y.max(axis=0)[0],
    ]
    results = oc.function([x, y], outputs, mode=mode)(np.ones(1), np.ones((1, 1), "int64"))
    assert [type(r) for r in results] == [np.ndarray] * len(outputs)


@pytest.mark.parametrize("mode", ["py", "vm", "native"])
@pytest.mark.parametrize("shape", [(0,), (3, 0, 1), (2,)])
def test_what_raises_for_an_element_does_not_for_none(mode: str, shape: tuple[int, ...]) -> None:
    """Integers to negative powers, of a tensor that repeats one number."""
    x = ot.tensor("x", dtype="int32", shape=(None,) * len(shape))
    f = oc.function([x], ot.full_like(x, 2) ** -1, mode=mode)
    values = np.zeros(shape, "int32")
    if values.size:
        with pytest.raises(ValueError, match="negative integer powers"):
            f(values)
    else:
        np.testing.assert_array_equal(f(values), np.full_like(values, 2) ** -1)


@pytest.mark.parametrize("ndim", [0, 1, 2])
def test_a_function_of_a_size_takes_the_tensor(mode: str, ndim: int) -> None:
    x = ot.tensor("x", dtype="float64", shape=(None,) * ndim)
    assert oc.function([x], x.size, mode=mode)(np.ones((3,) * ndim)) == 3**ndim
