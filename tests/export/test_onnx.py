"""Models of ONNX: what onnxruntime computes with them, against NumPy and the tables of examples."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
from occelo_graph import grad
from occelo_graph import tensor as ot
from occelo_graph.errors import MissingInputError
from occelo_graph.ops.control import ifelse
from occelo_graph.ops.control.python_function import wrap_py
from occelo_testing.examples import EXAMPLES

onnx: Any = pytest.importorskip("onnx", reason="onnx is not installed")
ort: Any = pytest.importorskip("onnxruntime", reason="onnxruntime is not installed")
from occelo_export import NotInONNX, to_onnx  # noqa: E402

ort.set_default_logger_severity(4)  # errors are raised as well


def session(model: Any) -> Any:
    return ort.InferenceSession(model.SerializeToString(), providers=["CPUExecutionProvider"])


def run(model: Any, *values: Any) -> list[Any]:
    """The results of a model for the values of its inputs, in order."""
    made = session(model)
    arrays = [np.asarray(v) for v in values]
    found: list[Any] = made.run(
        None, {i.name: a for i, a in zip(made.get_inputs(), arrays, strict=True)}
    )
    return found


def compare(found: Any, expected: Any, tolerance: float = 1e-12) -> None:
    expected = np.asarray(expected)
    assert (found.dtype, found.shape) == (expected.dtype, expected.shape)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@pytest.mark.sampled(100)
@pytest.mark.parametrize("position", range(len(EXAMPLES)), ids=lambda k: str(EXAMPLES[k]))
def test_examples_agree_with_numpy_or_are_refused(position: int) -> None:
    example = EXAMPLES[position]
    # only a length that is known to be 1 is broadcast
    arguments = [
        ot.tensor(f"x{k}", dtype=a.dtype.name, shape=[1 if n == 1 else None for n in a.shape])
        for k, a in enumerate(example.arguments)
    ]
    made: Any = example.function(*arguments)
    outputs = list(made) if isinstance(made, list | tuple) else [made]
    try:
        model = to_onnx(outputs, arguments)
    except NotInONNX:
        return
    try:
        runs = session(model)
    except Exception as error:
        # a valid model, with an operator that onnxruntime has for some dtypes only
        if "NOT_IMPLEMENTED" not in str(error):
            raise
        return
    given = {i.name: example.arguments[int(i.name[1:])] for i in runs.get_inputs()}
    expected = example.reference(*example.arguments)
    listed = list(expected) if isinstance(expected, list | tuple) else [expected]
    for variable, found, wanted in zip(outputs, runs.run(None, given), listed, strict=True):
        assert found.dtype.name == variable.type.dtype
        tolerance = {"float16": 2e-3, "float32": 2e-5}.get(found.dtype.name, 1e-9)
        bound = max(example.tolerance, tolerance)
        np.testing.assert_allclose(
            found.astype("float64"), np.asarray(wanted, "float64"), rtol=bound, atol=bound
        )


# one model for all lengths

v, m, t, i = ot.dvector("v"), ot.dmatrix("m"), ot.dtensor3("t"), ot.lscalar("i")
PARTS: list[tuple[str, Callable[..., Any], Callable[..., Any]]] = [
    ("slices", lambda v, m, i: m[::-2, 1:], lambda v, m, i: m[::-2, 1:]),
    ("dynamic_slices", lambda v, m, i: m[i:, -i:], lambda v, m, i: m[i:, -i:]),
    ("backwards", lambda v, m, i: v[i::-1], lambda v, m, i: v[i::-1]),
    ("gather", lambda v, m, i: v[ot.cast(v > 0.5, "int64")], lambda v, m, i: v[(v > 0.5) * 1]),
    ("gathers", lambda v, m, i: m[ot.arange(m.shape[0]), 1:, None][..., [[0]]], lambda v, m, i: m[:, 1:, None][..., [[0]]]),
    ("pairs", lambda v, m, i: m[[-1], :, None][:, [0, 1], [0]], lambda v, m, i: m[[-1], :, None][:, [0, 1], [0]]),
    ("mask", lambda v, m, i: v[v > 0.5], lambda v, m, i: v[v > 0.5]),
    ("set", lambda v, m, i: m.at[:, 0].set(v), lambda v, m, i: np.concatenate([v[:, None], m[:, 1:]], 1)),
    (
        "scatter",
        lambda v, m, i: ot.zeros(2, "float64").at[ot.cast(v > 0.5, "int64")].add(v),
        lambda v, m, i: np.array([v[v <= 0.5].sum(), v[v > 0.5].sum()]),
    ),
    ("sum", lambda v, m, i: ot.sum(m, axis=0), lambda v, m, i: m.sum(axis=0)),
    ("mean", lambda v, m, i: ot.mean(m, axis=1), lambda v, m, i: m.mean(axis=1)),
    ("product", lambda v, m, i: ot.prod(v), lambda v, m, i: np.prod(v)),
    ("cumsum", lambda v, m, i: ot.cumsum(m, axis=0), lambda v, m, i: np.cumsum(m, axis=0)),
    ("cumprod", lambda v, m, i: ot.cumprod(m, axis=0), lambda v, m, i: np.cumprod(m, axis=0)),
    ("dot", lambda v, m, i: v @ m, lambda v, m, i: v @ m),
    ("outer", lambda v, m, i: ot.outer(v, v), lambda v, m, i: np.outer(v, v)),
    ("concatenate", lambda v, m, i: ot.concatenate([v, v[:1], v]), lambda v, m, i: np.concatenate([v, v[:1], v])),
    ("stack", lambda v, m, i: ot.stack([v, v * 2]), lambda v, m, i: np.stack([v, v * 2])),
    ("reshape", lambda v, m, i: m.reshape((3, -1)), lambda v, m, i: m.reshape((3, -1))),
    ("transpose", lambda v, m, i: m.T[None], lambda v, m, i: m.T[None]),
    ("pad", lambda v, m, i: ot.zeros(v.shape[0] + 3)[()].at[1:-2].set(v), lambda v, m, i: np.pad(v, (1, 2))),
    ("where", lambda v, m, i: ot.where(v > 0.5, v, -1.0), lambda v, m, i: np.where(v > 0.5, v, -1.0)),
    ("softmax", lambda v, m, i: ot.softmax(m, axis=1), lambda v, m, i: np.exp(m) / np.exp(m).sum(1, keepdims=True)),
    ("arange", lambda v, m, i: ot.arange(i, v.shape[0] + 3), lambda v, m, i: np.arange(i, len(v) + 3)),
    ("repeat", lambda v, m, i: ot.repeat(v, i), lambda v, m, i: np.repeat(v, i)),
    ("branch", lambda v, m, i: ifelse(i > 0, v * 2, v[:1]), lambda v, m, i: v * 2 if i > 0 else v[:1]),
]  # fmt: skip


@pytest.mark.parametrize("length", [0, 1, 4])
def test_one_model_for_all_lengths(length: int) -> None:
    # of no elements, some have no result, and onnxruntime runs no Scan (of a product) over them
    without = {0: ("gather", "reshape", "mean", "pairs", "cumprod"), 1: ("gather", "pairs")}
    chosen = [p for p in PARTS if p[0] not in without.get(length, ())]
    model = to_onnx([build(v, m, i) for _, build, _ in chosen], [v, m, i])
    rng = np.random.default_rng(length)
    for number in (0, 1, 2):
        values = [rng.random(length), rng.random((length, 3)), np.int64(number)]
        for (name, _, expected), found in zip(chosen, run(model, *values), strict=True):
            try:
                compare(found, expected(*values))
            except AssertionError as error:
                raise AssertionError(f"{name}: {error}") from error


def test_topk() -> None:
    sorting: Any = pytest.importorskip(
        "occelo_sorting.functions", reason="occelo-sorting is not installed"
    )
    x = ot.fmatrix("x")
    values, places = sorting.topk(x, 2), sorting.argtopk(x, 2)
    given = np.random.default_rng(0).normal(size=(3, 5)).astype("float32")
    found = run(to_onnx([values, places], [x]), given)
    order = np.argsort(-given, axis=-1)[:, :2]
    np.testing.assert_array_equal(found[1], order)
    np.testing.assert_array_equal(found[0], np.take_along_axis(given, order, -1))


def numbers(*values: float) -> Any:
    return np.array(values)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_special_values_of_formulas(dtype: str) -> None:
    """Functions that ONNX lacks, at numbers where naive formulas cancel or overflow."""
    x, y = ot.vector("x", dtype=dtype), ot.vector("y", dtype=dtype)
    small = 1e3 * np.finfo(dtype).tiny
    values = numbers(0, small, 1e-12, 1e-3, 0.4, 1, 3, 60, 1e18, np.inf, np.nan)
    values = np.concatenate([values, -values]).astype(dtype)
    others = np.roll(values, 3)
    with np.errstate(all="ignore"):
        cases = [
            (ot.log1p(x), np.log1p(values)),
            (ot.expm1(x), np.expm1(values)),
            (ot.softplus(x), np.logaddexp(values, np.zeros((), dtype))),
            (ot.logaddexp(x, y), np.logaddexp(values, others)),
            (ot.sinh(x), np.sinh(values)),
            (ot.cosh(x), np.cosh(values)),
            (ot.arcsinh(x), np.arcsinh(values)),
            (ot.arccosh(x), np.arccosh(values)),
            (ot.arctanh(x), np.arctanh(values)),
            (ot.mod(x, y), np.mod(values, others)),
            (ot.trunc(x), np.trunc(values)),
            (ot.sign(x), np.sign(values)),
            (ot.maximum(x, y), np.maximum(values, others)),
            (ot.isfinite(x), np.isfinite(values)),
            (ot.max(x), np.max(values)),
            (ot.argmax(x), np.argmax(values)),
        ]
        if dtype == "float32":  # onnxruntime has no arctangent of float64
            cases.append((ot.arctan2(x, y), np.arctan2(values, others)))
    found = run(to_onnx([c for c, _ in cases], [x, y]), values, others)
    for (graph, expected), mine in zip(cases, found, strict=True):
        assert mine.dtype == expected.dtype, graph
        np.testing.assert_allclose(
            mine, expected, rtol=2e-6 if dtype == "float32" else 4e-15, atol=0, err_msg=str(graph)
        )


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64"])
def test_integers_are_divided_as_in_numpy(dtype: str) -> None:
    x, y = ot.vector("x", dtype=dtype), ot.vector("y", dtype=dtype)
    a = np.array([7, 100, 7, 0, 5, 120], dtype)
    b = np.array([2, 3, 0, 5, 5, 100], dtype)
    if dtype[0] == "i":
        a, b = np.concatenate([a, -a, a, -a]), np.concatenate([b, b, -b, -b])
    with np.errstate(all="ignore"):
        expected = [a // b, a % b, a + b, a * b, -a, a / b, np.maximum(a, b), a & b]
    found = run(
        to_onnx([x // y, x % y, x + y, x * y, -x, x / y, ot.maximum(x, y), x & y], [x, y]), a, b
    )
    for mine, theirs in zip(found, expected, strict=True):
        assert mine.dtype == theirs.dtype
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint32", "int64", "uint64"])
def test_integers_are_shifted_as_in_numpy(dtype: str) -> None:
    x, y = ot.vector("x", dtype=dtype), ot.vector("y", dtype=dtype)
    model = to_onnx([x >> y, x << y], [x, y])
    info = np.iinfo(dtype)
    numbers = np.array([info.min, info.max, 0, 1, 77, info.max // 3], dtype)
    for by in (0, 1, 3, 7, 8, 63, 100):
        amount = np.full(6, by, dtype)
        found = run(model, numbers, amount)
        np.testing.assert_array_equal(found[0], numbers >> amount)
        np.testing.assert_array_equal(found[1], numbers << amount)


def test_maxima_of_nothing() -> None:
    q = ot.dmatrix("q")
    queries = np.array([[-3.0, 0.5, np.nan], [2.0, 7.0, 0.6]])
    model = to_onnx(ot.max(q, axis=0, initial=-1.0), [q])
    for value in (np.zeros((0, 2)), queries, queries[:1]):
        compare(run(model, value)[0], value.max(axis=0, initial=-1.0))


def test_loops_carry_values_and_traces() -> None:
    loops: Any = pytest.importorskip("occelo_loops", reason="the family of loops is not installed")
    x, n = ot.dvector("x"), ot.lscalar("n")
    trace = loops.scan(
        lambda e, c: c * 0.5 + e, sequences=x, outputs_info=ot.constant(1.0), return_updates=False
    )
    last = loops.while_loop(
        lambda s: s[1] < 100.0, lambda s: (s[0] + 1, s[1] * 2 + 1), (n * 0, x.sum() + 1.0)
    )
    powers = loops.fori_loop(0, n, lambda k, c: c @ c, ot.eye(2) * 2)
    outputs = [trace, *last, powers, grad(trace[-1], x)]
    model = to_onnx(outputs, [x, n])
    for length in (1, 5):
        value, count = np.random.default_rng(length).random(length), np.int64(length % 3)
        state, states = 1.0, []
        for e in value:
            state = state * 0.5 + e
            states.append(state)
        steps, sum_ = 0, value.sum() + 1.0
        while sum_ < 100.0:
            steps, sum_ = steps + 1, sum_ * 2 + 1
        power = np.eye(2) * 2
        for _ in range(count):
            power = power @ power
        expected = [
            np.array(states),
            np.int64(steps),
            np.float64(sum_),
            power,
            0.5 ** np.arange(length)[::-1],
        ]
        for found, wanted in zip(run(model, value, count), expected, strict=True):
            compare(found, wanted)


def test_a_network_with_its_gradient() -> None:
    nn: Any = pytest.importorskip(
        "occelo_networks.functions", reason="occelo-networks is not installed"
    )
    signal: Any = pytest.importorskip(
        "occelo_signal.functions", reason="occelo-signal is not installed"
    )
    rng = np.random.default_rng(0)
    x = ot.tensor("x", dtype="float32", shape=(None, 1, 8, 8))
    weights = rng.normal(size=(4, 1, 3, 3)).astype("float32")
    w = oc.shared(weights, "w", shape=weights.shape)
    dense = oc.shared(rng.normal(size=(36, 3)).astype("float32"), "dense")
    features = nn.relu(signal.conv2d(x, w))
    pooled = signal.pool_2d(features, (2, 2))
    scores = ot.log_softmax(pooled.reshape((x.shape[0], 36)) @ dense, axis=1)
    f = oc.function(
        [x], {"scores": scores, "slope": grad(scores[:, 0].sum(), w)}, mode="py", name="classifier"
    )
    model = to_onnx(f)
    assert model.graph.name == "classifier"
    assert [o.name for o in model.graph.output] == ["scores", "slope"]
    assert "Conv" in {n.op_type for n in model.graph.node}
    for batch in (1, 5):
        images = rng.normal(size=(batch, 1, 8, 8)).astype("float32")
        expected = f(images)
        for found, wanted in zip(run(model, images), expected.values(), strict=True):
            compare(found, wanted, 2e-5)


def test_the_standard_reads_the_models_as_well() -> None:
    """onnx's own interpreter, which is written apart from onnxruntime."""
    evaluator: Any = importlib.import_module("onnx.reference").ReferenceEvaluator
    value = grad(ot.sum(ot.tanh(m @ v) * ot.arctan(v.sum())), [m, v])
    f = oc.function([m, v], value, mode="py")
    model = to_onnx(value, [m, v])
    onnx.checker.check_model(model, full_check=True)
    given = [np.arange(12.0).reshape(4, 3) / 10, np.array([0.3, -0.1, 0.2])]
    found = evaluator(model).run(None, {"m": given[0], "v": given[1]})
    for mine, wanted in zip(found, f(*given), strict=True):
        compare(np.asarray(mine), wanted)


def test_names_lengths_and_constants() -> None:
    w = oc.shared(np.arange(3.0), "w")
    x, y = ot.tensor("x", dtype="float64", shape=(None, 3)), ot.dvector("x")
    f = oc.function([x, y], [x * w, y], mode="py")
    model = to_onnx(f, name="scale")
    assert model.graph.name == "scale"
    assert [i.name for i in model.graph.input] == ["x", "x_1"]
    lengths = [
        [d.dim_param or d.dim_value for d in each.type.tensor_type.shape.dim]
        for each in (*model.graph.input, *model.graph.output)
    ]
    assert lengths == [["x_0", 3], ["x_1_0"], ["", 3], [""]] or lengths[:2] == [
        ["x_0", 3],
        ["x_1_0"],
    ]
    assert [k.name for k in model.graph.initializer] == ["w"]
    found = run(model, np.ones((2, 3)), np.ones(1))
    compare(found[0], np.tile(np.arange(3.0), (2, 1)))
    compare(found[1], np.ones(1))


def test_what_is_refused_is_named() -> None:
    x, z = ot.dvector("x"), ot.zvector("z")
    w = oc.shared(np.zeros(3), "w")

    @wrap_py(ot.dvector, ot.dvector)
    def secret(value: Any) -> Any:
        return np.sort(value)

    with pytest.raises(NotInONNX, match=r"no operator for .*secret.*made at .*test_onnx\.py"):
        to_onnx(secret(x), [x])
    with pytest.raises(NotInONNX, match=r"of real numbers, not z .*complex128"):
        to_onnx(z * 2, [z])
    with pytest.raises(TypeError, match="updates w"):
        to_onnx(oc.function([x], x, updates={w: w + 1}))
    with pytest.raises(MissingInputError, match="needs v"):
        to_onnx(x[:1] + v[:1], [x])
    with pytest.raises(TypeError, match="inputs of its own"):
        to_onnx(oc.function([x], x * 2), [x])


def test_inputs_are_leaves_of_trees_and_differ() -> None:
    x, pair = ot.dvector("x"), {"b": ot.dscalar("b"), "a": ot.dscalar("a")}
    model = to_onnx(x * pair["a"] + pair["b"], [x, pair])
    assert [each.name for each in model.graph.input] == ["x", "a", "b"]
    with pytest.raises(ValueError, match="an input comes twice"):
        to_onnx(x * 2, [x, x])
