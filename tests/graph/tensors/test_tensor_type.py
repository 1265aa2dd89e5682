"""Tensor types: accepted values, relations between types, constants and promotion."""

from __future__ import annotations

import pickle
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import ConfigError, config
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.type import DTYPES


def test_equal_types_are_one_object() -> None:
    assert ot.TensorType("float64", (None, 3)) is ot.TensorType(np.float64, [None, np.int64(3)])
    assert ot.TensorType("float64", (True, False)) is ot.TensorType("float64", (1, None))
    assert pickle.loads(pickle.dumps(ot.TensorType("int8", (2,)))) is ot.TensorType("int8", (2,))


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: ot.TensorType("text", ()), TypeError, "not a dtype of tensors"),
        (lambda: ot.TensorType("float64", (-1,)), ValueError, "cannot be negative"),
        (lambda: ot.TensorType("float64", ("n",)), TypeError, "integer or None"),
        (lambda: ot.TensorType("float64", (1,) * 65), ValueError, "at most 64"),
        (lambda: ot.dmatrix().type(shape=(2,)), ValueError, "contradicts"),
    ],
)
def test_bad_types(make: Any, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        make()


ACCEPTED = [
    ("float64", np.ones(2)),
    ("float64", np.ones(2, "float32")),
    ("float64", np.ones(2, "int32")),
    ("float64", [1, 2]),
    ("float64", [True, False]),
    ("float64", [np.nan, 1.5]),
    ("float32", [1.5, 2.0]),
    ("complex128", [0, 1]),
    ("complex64", [0.5, True]),
    ("int32", [3.0, 4]),
    ("int8", [1, -1]),
]
REFUSED = [
    ("float32", np.ones(2)),
    ("float32", np.ones(2, "int64")),
    ("float32", [1.1, 2.0]),
    ("int32", [3.5, 1]),
    ("int8", [300, 1]),
    ("float64", ["a", "b"]),
    ("float64", None),
    ("float64", [None, 1.0]),
    ("float64", [1j, 2.0]),
]


@pytest.mark.parametrize(("dtype", "data"), ACCEPTED)
def test_filter_accepts_what_loses_nothing(dtype: str, data: Any) -> None:
    found = ot.TensorType(dtype, (None,)).filter(data)
    assert found.dtype == dtype
    np.testing.assert_array_equal(found, np.asarray(data).astype(dtype))


@pytest.mark.parametrize(("dtype", "data"), REFUSED)
def test_filter_refuses_what_loses_precision(dtype: str, data: Any) -> None:
    with pytest.raises(TypeError):
        ot.TensorType(dtype, (None,)).filter(data)


def test_filter_options() -> None:
    single = ot.TensorType("float32", ())
    assert single.filter(1.1) == np.float32(1.1)
    with pytest.raises(TypeError, match="loses precision"):
        single.filter(1.1, allow_downcast=False)
    with config.change_flags(floatX="float32"):
        assert single.filter(np.float64(1.1)) == np.float32(1.1)
    with pytest.raises(TypeError, match="float64"):
        single.filter(np.float64(1.1))
    vector = ot.TensorType("int8", (None,))
    np.testing.assert_array_equal(vector.filter([1.9, 257], allow_downcast=True), [1, 1])
    data = np.ones(3)
    assert ot.dvector().type.filter(data) is data
    with pytest.raises(TypeError, match="Expected an array of dtype float64, got list"):
        ot.dvector().type.filter([1.0], strict=True)
    with pytest.raises(TypeError, match=r"expected \(3,\), got \(2,\)"):
        ot.TensorType("float64", (3,)).filter(np.ones(2))
    with pytest.raises(TypeError, match="a compiled function takes values"):
        ot.dscalar().type.filter(ot.dscalar("x"))
    unaligned = np.frombuffer(b"\0" * 25, "u1")[1:].view("float64")
    with pytest.raises(TypeError, match="not aligned"):
        ot.dvector().type.filter(unaligned, strict=True)


def test_memmap_passes_untouched(tmp_path: Any) -> None:
    data = np.memmap(tmp_path / "x", dtype="float64", mode="w+", shape=(3,))
    assert ot.dvector().type.filter(data) is data


def test_relations() -> None:
    wide, narrow = ot.TensorType("float64", (None, 3)), ot.TensorType("float64", (2, 3))
    assert wide.is_super(narrow)
    assert not narrow.is_super(wide)
    assert wide.in_same_class(narrow)
    assert not wide.in_same_class(ot.TensorType("float64", (1, 3)))
    assert wide.convert_variable(narrow()) is not None
    asserted = narrow.convert_variable(wide())
    assert asserted is not None
    assert asserted.type is narrow
    assert ot.TensorType("float64", (4, 3)).convert_variable(narrow()) is None
    assert wide.values_eq_approx(np.ones(2), np.ones(2) + 1e-12)
    assert not wide.values_eq_approx(np.ones(2), np.ones(2) + 1e-3)
    assert wide.values_eq(np.array([np.nan]), np.array([np.nan]))


@pytest.mark.parametrize(
    ("expression", "dtype"),
    [
        (lambda: ot.fscalar() + 1.1, "float32"),
        (lambda: ot.fscalar() + np.float64(1.1), "float64"),
        (lambda: ot.bscalar() + 1, "int8"),
        (lambda: ot.bscalar() + 1.5, "float64"),
        (lambda: ot.iscalar() / 2, "float64"),
        (lambda: ot.lscalar() * 2.0, "float64"),
        (lambda: ot.cscalar() * 2.0, "complex64"),
        (lambda: ot.fscalar() * 1j, "complex64"),
        (lambda: ot.fscalar() + ot.iscalar(), "float64"),
        (lambda: ot.eq(ot.fscalar(), 1) + 1, "int64"),
        (lambda: ot.constant(1) + 1.5, "float64"),
        (lambda: ot.sum(ot.bvector()), "int64"),
        (lambda: ot.mean(ot.fvector()), "float32"),
        (lambda: ot.mean(ot.ivector()), "float64"),
        (lambda: ot.switch(ot.bscalar(), ot.fscalar(), 0), "float32"),
    ],
)
def test_promotion_is_numpys_with_weak_python_scalars(expression: Any, dtype: str) -> None:
    assert expression().dtype == dtype


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [0, 1, 1.5, 1e300, -0.0, 1j], ids=repr)
def test_a_number_has_the_dtype_that_numpy_gives_it_each_time(dtype: str, number: Any) -> None:
    x, y = ot.vector("x", dtype=dtype), ot.vector("y", dtype="float32")
    for given in ([x], [x, y], [y, x]):
        wanted = np.result_type(*[v.type.numpy_dtype for v in given], number).name
        for _ in range(2):
            with np.errstate(over="ignore"):
                made = promote_arguments([*given, number])[-1]
            assert made.type.dtype == wanted


@pytest.mark.parametrize("order", ["=", "<", ">"])
@pytest.mark.parametrize("dtype", DTYPES)
def test_byte_order_and_metadata_are_no_part_of_a_dtype(dtype: str, order: Any) -> None:
    plain = np.dtype(dtype).newbyteorder(order)
    for given in (plain, np.dtype(plain, metadata={"unit": "m"}), plain.type):
        kind = og.TensorType(given, (None,))
        assert (kind.dtype, kind.numpy_dtype) == (dtype, np.dtype(dtype))
        assert kind is og.TensorType(dtype, (None,))
    assert kind.is_discrete == (plain.kind in "biu")
    assert kind.is_complex == (plain.kind == "c")


def test_weak_integers_that_do_not_fit_overflow() -> None:
    with pytest.raises(OverflowError, match="300 does not fit dtype int8"):
        ot.bscalar() + 300


@pytest.mark.parametrize("dtype", ["int8", "int32", "int64", "uint8", "bool"])
def test_quotients_of_integers_have_the_dtype_floatX(dtype: str) -> None:
    x = og.TensorType(dtype, (None,))("x")
    three = np.array([3], dtype)
    for wanted in ("float32", "float64"):
        with config.change_flags(floatX=wanted):
            made = [x / x, np.ones(1, dtype) / x, x / 3, np.divide(x, x)]
            assert [v.dtype for v in made] == [wanted] * 4
            assert (x / x.astype("float64")).dtype == "float64"
            assert (x.astype("float32") / 2).dtype == "float32"
        found = og.evaluate(made[1], {x: three})
        np.testing.assert_array_equal(found, (1 / three).astype(wanted))


def test_floatX_picks_the_dtype_of_constructors_only() -> None:
    with config.change_flags(floatX="float32"):
        assert ot.vector().dtype == "float32"
        assert ot.zeros((2,)).dtype == "float32"
        assert ot.constant(1.5).dtype == "float32"
        assert (ot.dscalar() + 1.5).dtype == "float64"
    assert ot.vector().dtype == "float64"


@pytest.mark.parametrize("bad", ["text", object(), None, {"a": 1}])
def test_what_is_no_number_is_no_constant(bad: Any) -> None:
    with pytest.raises(TypeError, match="Cannot make a tensor"):
        ot.constant(bad)


def test_as_tensor_variable() -> None:
    x = ot.dscalar("x")
    assert ot.as_tensor_variable(x) is x
    assert ot.as_tensor_variable(x, ndim=2).type.shape == (1, 1)
    assert ot.as_tensor_variable(ot.exp(x).owner).owner is not None
    stacked = ot.as_tensor_variable([x, 1.0, [2.0][0]])
    np.testing.assert_array_equal(og.evaluate(stacked, {x: 5.0}), [5.0, 1.0, 2.0])
    nested = ot.as_tensor_variable([[x, 1.0], [2.0, x]])
    np.testing.assert_array_equal(og.evaluate(nested, {x: 5.0}), [[5.0, 1.0], [2.0, 5.0]])


def test_constructors() -> None:
    a, b = ot.dmatrices("a", "b")
    assert (a.name, b.name, a.type.shape) == ("a", "b", (None, None))
    assert [v.name for v in ot.fscalars("xyz")] == ["x", "y", "z"]
    assert len(ot.vectors(3)) == 3
    assert ot.drow().type.shape == (1, None)
    assert ot.tensor3("t").ndim == 3
    assert ot.tensor("x", dtype="int8", shape=(2, None)).type.shape == (2, None)
    assert ot.vector("v", shape=(4,)).type.shape == (4,)


@pytest.mark.parametrize(
    ("do", "error", "message"),
    [
        (lambda x: bool(x), TypeError, "truth value"),
        (lambda x: len(x), TypeError, "not known before"),
        (lambda x: list(x), ValueError, "Cannot iterate"),
        (lambda x: float(x), TypeError, "no value before"),
        (lambda x: range(x), TypeError, "no value before"),
        (lambda x: x.__setitem__(0, 1), TypeError, r"x\[key\]\.set"),
        (lambda x: iter(x[0]), TypeError, "scalar cannot be iterated"),
        (lambda x: x[1.5], TypeError, "must be an integer"),
        (lambda x: x[0, 0], IndexError, "Too many indices"),
        (lambda x: x[..., ...], IndexError, "one ellipsis"),
        (lambda x: x[::0], ValueError, "cannot be 0"),
        (lambda x: x[ot.dscalar()], TypeError, "must"),
        (lambda x: ot.constant([1.0, 2.0])[5], IndexError, "out of range"),
        (lambda x: x[[0.5]], TypeError, "must hold integers"),
        (lambda x: ot.constant(np.ones((2, 3)))[np.array([True, False, True])], IndexError, "mask"),
        (lambda x: -(x > 0), TypeError, "not defined for dtypes bool"),
        (lambda x: (x > 0) - (x > 0), TypeError, "not defined for dtypes bool"),
        (lambda x: ot.exp(x, x), TypeError, "takes 1 argument, got 2"),
        (lambda x: x[0].set(ot.zscalar()), TypeError, "without losing precision"),
        (lambda x: ot.set_subtensor(x, 1), TypeError, "part of a tensor"),
        (lambda x: x.reshape((-1, -1)), ValueError, "at most one -1"),
        (lambda x: ot.constant(np.ones(6)).reshape((4,)), ValueError, "Cannot reshape"),
        (lambda x: x.reshape(ot.lvector()), ValueError, "not known"),
        (lambda x: x.sum(axis=1), np.exceptions.AxisError, "out of bounds"),
        (lambda x: x.sum(axis=(0, 0)), ValueError, "repeated"),
        (lambda x: x.dimshuffle(0, 0), ValueError, "repeated"),
        (lambda x: ot.constant(np.ones((2, 3))).dimshuffle(0), ValueError, "Cannot drop"),
        (
            lambda x: ot.constant([1.0, 2.0]) + ot.constant([1.0, 2.0, 3.0]),
            ValueError,
            r"\(2,\) and \(3,\)",
        ),
        (lambda x: ot.join(0, x, ot.dmatrix()), TypeError, "as many dimensions"),
        (lambda x: ot.concatenate(x), TypeError, "list of tensors"),
        (lambda x: ot.stack([]), ValueError, "nothing to stack"),
        (lambda x: ot.dot(ot.constant([1.0]), ot.constant([1.0, 2.0])), ValueError, "contracted"),
        (lambda x: ot.matmul(x, 2.0), ValueError, "does not take scalars"),
        (lambda x: ot.alloc(x, 2.5), TypeError, "must be an integer"),
        (lambda x: ot.max(ot.constant(np.zeros((0, 2))), axis=0), ValueError, "no elements"),
        (lambda x: ot.cast(ot.zscalar(), "float64"), TypeError, "take real"),
        (lambda x: ot.specify_shape(ot.constant([1.0]), (2,)), ValueError, "contradicts"),
        (lambda x: ot.ifelse(x, 1.0, 2.0), TypeError, "must be a scalar"),
        (lambda x: ot.ifelse(x[0], x, x[0]), TypeError, "differ in type"),
    ],
)
def test_mistakes_raise_when_the_graph_is_built(
    do: Any, error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        do(ot.dvector("x"))


@pytest.mark.parametrize(
    ("build", "values", "error", "message"),
    [
        (
            lambda x, y: x + y,
            ([1.0], [1.0, 2.0]),
            ValueError,
            "known to be 1 when the graph is built",
        ),
        (lambda x, y: x + y, ([1.0, 2.0, 3.0], [1.0, 2.0]), ValueError, "Input dimension mismatch"),
        (lambda x, y: x[5] + y, ([1.0], [1.0]), IndexError, "out of bounds"),
        (lambda x, y: x.reshape((2, 3)) + y.sum(), ([1.0], [1.0]), ValueError, "cannot reshape"),
        (lambda x, y: x.specify_shape((3,)) + y.sum(), ([1.0], [1.0]), ValueError, "was specified"),
        (lambda x, y: ot.dot(x, y), ([1.0], [1.0, 2.0]), ValueError, "not aligned"),
        (lambda x, y: ot.assert_op(x, y > 0), ([1.0], [-1.0]), AssertionError, "Assert failed"),
        (
            lambda x, y: ot.broadcast_to(x, (3,)) + y.sum(),
            ([1.0], [1.0]),
            ValueError,
            "Cannot broadcast",
        ),
    ],
)
def test_mistakes_at_run_time_name_the_line_and_end_in_the_cause(
    build: Any, values: Any, error: type[Exception], message: str
) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    out = build(x, y)
    with pytest.raises(error, match=message) as caught:
        og.evaluate(out, dict(zip((x, y), values, strict=True)))
    text = str(caught.value).splitlines()
    assert text[0].startswith("While computing ")
    assert __file__ in text[0]
    assert message in text[-1]


@pytest.mark.parametrize("batch", [1, 2])
def test_a_batch_that_turns_out_1_is_told_how_it_could_broadcast(batch: int) -> None:
    x, y = ot.dtensor3("x"), ot.dtensor3("y")
    given = {x: np.ones((batch, 2, 2)) + np.eye(2), y: np.ones((3, 2, 2))}
    with pytest.raises(
        ValueError, match=r"atch dimensions do not match: \(.*\(3, 2, 2\)"
    ) as caught:
        og.evaluate(ot.matmul(x, y), given)
    assert str(caught.value).endswith("(specify_broadcastable says so)") == (batch == 1)
    known = ot.matmul(ot.specify_broadcastable(x, 0), y)
    if batch == 1:
        assert og.evaluate(known, given).shape == (3, 2, 2)


def test_config_rejects_bad_values() -> None:
    with pytest.raises(ConfigError, match="floatX cannot be 'float80'"):
        config.floatX = "float80"
    assert config.floatX == "float64"
    with (
        pytest.warns(UserWarning, match="3 digits and are infinite beyond 65504"),
        config.change_flags(floatX="float16"),
    ):
        assert ot.vector().dtype == "float16"


@pytest.mark.parametrize(
    ("build", "expected"),
    [
        (lambda x: np.exp(x), np.exp([1.0, 2.0])),
        (lambda x: np.add(x, 1.0), [2.0, 3.0]),
        (lambda x: np.array([1.0, 2.0]) - x, [0.0, 0.0]),
        (lambda x: np.float64(3.0) * x, [3.0, 6.0]),
        (lambda x: np.array([2.0, 1.0]) ** x, [2.0, 1.0]),
        (lambda x: np.ones((3, 2)) @ x, [3.0, 3.0, 3.0]),
        (lambda x: np.array([1.0, 5.0]) < x, [False, False]),
        (lambda x: np.maximum(x, 1.5), [1.5, 2.0]),
    ],
)
def test_numpys_functions_and_arrays_build_graphs(build: Any, expected: Any) -> None:
    x = ot.dvector("x")
    out = build(x)
    assert isinstance(out, og.Variable)
    np.testing.assert_allclose(og.evaluate(out, {x: [1.0, 2.0]}), expected)


def test_other_functions_of_numpy_say_what_to_use() -> None:
    x = ot.dvector("x")
    with pytest.raises(
        TypeError, match=r"numpy\.isnat cannot be applied .* use the functions of occelo\.tensor"
    ):
        np.isnat(x)
    with pytest.raises(TypeError, match=r"numpy\.add\.reduce cannot .*tensor\.sum"):
        np.add.reduce(x)


@pytest.mark.parametrize("name", ["b", "d", "f", "i", "l", "x", "int", "float", "double", "f8"])
def test_short_first_arguments_are_names(name: str) -> None:
    made = ot.tensor(name, shape=(2, None))
    assert (made.name, made.dtype, made.type.shape) == (name, "float64", (2, None))


@pytest.mark.parametrize(
    "dtype", ["int8", "float32", "floatX", np.float32, np.dtype("int16"), bool]
)
def test_full_dtypes_as_first_argument_are_dtypes(dtype: Any) -> None:
    made = ot.tensor(dtype, shape=())
    assert made.name is None
    assert made.type is ot.TensorType(dtype, ())
    assert ot.tensor("int8", dtype="float32", shape=()).name == "int8"


@pytest.mark.parametrize(
    ("make", "error"),
    [
        (lambda: ot.vector(shape=(None, None)), ValueError),
        (lambda: ot.vector(shape=()), ValueError),
        (lambda: ot.scalar(shape=(1,)), ValueError),
        (lambda: ot.matrix(shape=(2,)), ValueError),
        (lambda: ot.row(shape=(2, 5)), ValueError),
        (lambda: ot.row(shape=(None, 5)), ValueError),
        (lambda: ot.dcol(shape=(5, 2)), ValueError),
        (lambda: ot.ltensor3(shape=(5, 2)), ValueError),
        (lambda: ot.matrices("ab", shape=(2,)), ValueError),
        (lambda: ot.dvector(dtype="float32"), TypeError),
        (lambda: ot.bmatrix(dtype="floatX"), TypeError),
        (lambda: ot.tensor(3, shape=()), TypeError),
    ],
)
def test_constructors_keep_what_their_names_say(make: Any, error: type[Exception]) -> None:
    with pytest.raises(error):
        make()


def test_constructors_take_more_of_their_shape() -> None:
    assert ot.matrix(shape=(2, None), dtype="int8").type is ot.TensorType("int8", (2, None))
    assert ot.drow(shape=(1, 5)).type.shape == (1, 5)
    assert ot.dvector(dtype="float64").dtype == "float64"


MASKED = np.ma.masked_array([1.0, 2.0, 3.0], mask=[False, True, False])


@pytest.mark.parametrize(
    "use",
    [
        ot.as_tensor,
        ot.constant,
        og.shared,
        lambda m: og.shared(m, borrow=True),
        lambda m: og.shared(np.zeros(3)).set_value(m),
        lambda m: og.shared(np.zeros(3)).set_value(m, borrow=True),
        lambda m: ot.as_tensor([m, m]),
        lambda m: ot.dvector() + m,
        lambda m: ot.dvector()[m.astype("int64")],
        lambda m: ot.switch(m, 1.0, 2.0),
        lambda m: ot.constant(np.ma.masked),
        lambda m: og.evaluate((v := ot.dvector()) * 2, {v: m}),
        lambda m: ot.dvector().type.filter(m.astype("float32")),
        lambda m: ot.dvector().type.filter(m, allow_downcast=True),
    ],
)
def test_masked_arrays_are_refused(use: Any) -> None:
    with pytest.raises(TypeError, match="mask"):
        use(MASKED)


@pytest.mark.parametrize(
    ("make", "dtype"),
    [
        (lambda: ot.as_tensor(1.5), "floatX"),
        (lambda: ot.as_tensor([]), "floatX"),
        (lambda: ot.as_tensor([[], []]), "floatX"),
        (lambda: ot.as_tensor([1.5, 2]), "floatX"),
        (lambda: ot.as_tensor([[1, 2], (3, 4.5)]), "floatX"),
        (lambda: ot.as_tensor([1, 2]), "int64"),
        (lambda: ot.as_tensor([np.float64(1.5), 2.0]), "float64"),
        (lambda: ot.as_tensor(np.array([])), "float64"),
        (lambda: ot.as_tensor([1.5], dtype="float64"), "float64"),
        (lambda: ot.stack([1.5, 2.5]), "floatX"),
        (lambda: ot.arange(3.0), "floatX"),
        (lambda: ot.arange(1, 2.5, 0.5), "floatX"),
        (lambda: ot.arange(3), "int64"),
        (lambda: ot.arange(np.float64(3)), "float64"),
        (lambda: ot.arange(3.0, dtype="float64"), "float64"),
        (lambda: ot.zeros(3), "floatX"),
        (lambda: ot.vector(), "floatX"),
        (lambda: ot.ivector() / ot.ivector(), "floatX"),
        # other promotion is NumPy's, which knows no floatX
        (lambda: ot.true_div(ot.ivector(), ot.ivector()), "float64"),
        (lambda: ot.sqrt(ot.lvector()), "float64"),
        (lambda: ot.lvector() + 1.5, "float64"),
        (lambda: ot.fvector() + 1.5, "float32"),
        (lambda: ot.mean(ot.lvector()), "float64"),
    ],
)
@pytest.mark.filterwarnings("ignore:floatX is float16")
@pytest.mark.parametrize("floatX", ["float64", "float32", "float16"])
def test_the_default_dtype_is_that_of_constructors_and_quotients(
    make: Any, dtype: str, floatX: str
) -> None:
    with config.change_flags(floatX=floatX):
        assert make().dtype == (floatX if dtype == "floatX" else dtype)


@pytest.mark.filterwarnings("ignore:floatX is float16")
def test_changed_options_can_be_entered_again() -> None:
    flags = config.change_flags(floatX="float32")
    inner = config.change_flags(floatX="float16")
    with flags, flags:
        assert ot.vector().dtype == "float32"
        with inner, flags, inner:
            assert ot.vector().dtype == "float16"
        assert ot.vector().dtype == "float32"
    assert ot.vector().dtype == "float64"

    @flags
    def dtypes(depth: int) -> list[str]:
        return [ot.vector().dtype, *(dtypes(depth - 1) if depth else [])]

    with flags, ThreadPoolExecutor(4) as pool:
        assert list(pool.map(dtypes, [3] * 20)) == [["float32"] * 4] * 20
    with pytest.raises(ZeroDivisionError), flags:
        print(1 / 0)
    assert ot.vector().dtype == "float64"


@pytest.mark.parametrize(
    ("made", "wanted"),
    [
        (lambda x, n: x[1:].set(n), lambda a, n: _written(a, n)),
        (lambda x, n: x[1:].inc(n), lambda a, n: _written(a, a[1:] + n)),
        (lambda x, n: x[[1, 2]].set(n), lambda a, n: _written(a, n)),
        (ot.full_like, np.full_like),
        (lambda x, n: x.fill(n), np.full_like),
        (
            lambda x, n: ot.full((3,), n, dtype=x.dtype),
            lambda a, n: np.full((3,), n, dtype=a.dtype),
        ),
    ],
)
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64", "uint64", "float32"])
def test_integers_that_do_not_fit_are_not_wrapped(made: Any, wanted: Any, dtype: str) -> None:
    x, value = ot.tensor("x", dtype=dtype, shape=(3,)), np.array([1, 2, 3], dtype=dtype)
    for number in (-(2**64), -129, -128, -1, 0, 127, 128, 255, 256, 2**63, 2**64):
        if value.dtype.kind == "f" or number in range(np.iinfo(dtype).min, np.iinfo(dtype).max + 1):
            found = og.evaluate(made(x, number), {x: value})
            np.testing.assert_array_equal(found, wanted(value, number), strict=True)
        else:  # as in NumPy, some functions of which wrapped them before 2.1
            with pytest.raises(OverflowError):
                made(x, number)


def _written(array: Any, value: Any) -> Any:
    copy = array.copy()
    copy[1:] = value
    return copy


def _first_row(array: Any, value: Any) -> Any:
    matrix = np.outer(array, array)
    np.fill_diagonal(matrix, value)
    return matrix[0]
