"""Functions of arrays beside NumPy's of the same names: over arguments, dtypes, lengths, and static and dynamic shapes."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise

GENERATOR = np.random.default_rng(7)
OF_PYTENSOR = {
    "concat_with_broadcast",
    "fill_diagonal_offset",
    "horizontal_stack",
    "identity_like",
    "inverse_permutation",
    "pack",
    "permute_row_elements",
    "to_one_hot",
    "unpack",
    "vertical_stack",
}
OF_SCIKIT_IMAGE = {"view_as_blocks", "view_as_windows"}  # in test_choosing.py
OF_JAX = {
    f"segment_{each}" for each in ("sum", "prod", "max", "min", "logsumexp", "softmax")
}  # in test_segments.py
NOT_COMPARED = {
    "asanyarray": "takes arrays in NumPy",
    "asarray": "takes arrays in NumPy",
    "SlidingWindow": "a class of ops",
    "minmax": "in newer NumPy only; in test_functions_beside_numpy.py",
    "sliding_window_view": "in lib.stride_tricks in NumPy, beside which the examples are",
    **dict.fromkeys(
        ["choose", "compress", "linspace", "pad", "ravel_multi_index", "unravel_index"],
        "in test_functions_beside_numpy.py",
    ),
    **dict.fromkeys(
        ["bartlett", "cov", "geomspace", "logspace"]
        + ["tril_indices", "tril_indices_from", "triu_indices", "triu_indices_from"],
        "in tests/families/arguments/test_namesakes.py",
    ),
    "fill_diagonal": "changes an array in NumPy; in test_padding.py",
    **dict.fromkeys(
        ["broadcast_shapes", "isscalar", "fromfunction", "apply_along_axis", "apply_over_axes"],
        "takes no tensors, or functions, in test_choosing.py",
    ),
    **dict.fromkeys(
        ["can_cast", "finfo", "iinfo", "isdtype", "issubdtype", "promote_types", "result_type"],
        "of dtypes, in test_choosing.py",
    ),
    **dict.fromkeys(
        ["piecewise", "put", "place", "put_along_axis"],
        "NumPy's changes its argument, in test_choosing.py",
    ),
    "cross": "in test_einsum.py",
    "cummax": "NumPy's is a method of a ufunc, below",
    "cummin": "NumPy's is a method of a ufunc, below",
    "cumlogsumexp": "NumPy's is a method of a ufunc, below",
    "cumulative_logsumexp": "likewise",
    "einsum": "in test_einsum.py",
    "mask_indices": "takes a function, below",
    "ndim": "a Python integer",
    "iscomplexobj": "a Python bool",
    "isrealobj": "a Python bool",
    "poly": "needs static lengths, below",
    "unstack": "needs static lengths, below",
}


def normal(*shape: int) -> Any:
    return GENERATOR.normal(size=shape)


def _symbolic(value: Any, values: dict[Any, Any], static: bool) -> Any:
    if isinstance(value, np.ndarray):
        shape = value.shape if static else (None,) * value.ndim
        made = ot.tensor(dtype=value.dtype, shape=shape)
        values[made] = value
        return made
    if isinstance(value, list):
        return [_symbolic(each, values, static) for each in value]
    return value


def _listed(result: Any) -> list[Any]:
    return list(result) if isinstance(result, tuple | list) else [result]


def compare(
    ours: Callable[..., Any], theirs: Callable[..., Any], *arguments: Any, **options: Any
) -> None:
    """Arrays are variables for ours, with shapes that are all static or all dynamic; both raise an error, or none."""
    expected: Any
    try:
        with np.errstate(all="ignore"):
            expected = theirs(*arguments, **options)
    except (TypeError, ValueError, IndexError, RuntimeError, ZeroDivisionError) as error:
        expected = error
    for static in (True, False):
        values: dict[Any, Any] = {}

        def call(values: dict[Any, Any] = values, static: bool = static) -> list[Any]:
            taken = [_symbolic(each, values, static) for each in arguments]
            named = {key: _symbolic(each, values, static) for key, each in options.items()}
            return _listed(ours(*taken, **named))

        if isinstance(expected, Exception):
            with pytest.raises((TypeError, ValueError, IndexError, RuntimeError, ArithmeticError)):
                [og.evaluate(each, values) for each in call()]
            continue
        made = call()
        assert len(made) == len(_listed(expected))
        for each, reference in zip(made, map(np.asarray, _listed(expected)), strict=True):
            found = og.evaluate(each, values)
            assert found.dtype == reference.dtype
            tolerance = {"float16": 2e-3, "float32": 1e-6}.get(found.dtype.name, 1e-12)
            np.testing.assert_allclose(found, reference, rtol=tolerance, atol=1e-14)


SHAPES: list[tuple[int, ...]] = [(), (3,), (1,), (0,), (2, 3), (2, 3, 2)]
FLOATS = np.array([0.0, -0.0, 1, -1, 1.5, -2.5, np.inf, -np.inf, np.nan, 5e-324, 1e308, 0.3, 8])
INTEGERS = np.array([0, 1, -1, 3, -8, 63, 64, 100, 127, -128])
Calls = Iterator[tuple[tuple[Any, ...], dict[str, Any]]]


def each(*rest: tuple[Any, ...], **options: Any) -> Callable[[], Calls]:
    """An array of each shape, followed by each of the arguments."""

    def calls() -> Calls:
        for shape, more in itertools.product(SHAPES, rest or [()]):
            yield (normal(*shape), *more), options

    return calls


def given(*calls: tuple[Any, ...], **options: Any) -> Callable[[], Calls]:
    return lambda: ((call, options) for call in calls)


def several(*rows: Callable[[], Calls]) -> Callable[[], Calls]:
    return lambda: itertools.chain.from_iterable(row() for row in rows)


def converted(value: Any, dtype: str) -> Any:
    with np.errstate(over="ignore"):  # the largest numbers become infinite
        return value.astype(dtype)


def pairs(first: Any, second: Any, *dtypes: str) -> Callable[[], Calls]:
    """Two vectors with all pairs of elements, in each of the dtypes."""
    grid = [v.ravel() for v in np.meshgrid(first, second)]
    return given(*(tuple(converted(v, dtype) for v in grid) for dtype in dtypes))


def numbers(*dtypes: str) -> Callable[[], Calls]:
    return given(*((converted(FLOATS, dtype),) for dtype in dtypes), (INTEGERS,))


REAL = ("float64", "float32", "float16")
LISTS = given(
    *(([normal(*shape), normal(*shape)],) for shape in SHAPES), ([normal(2, 2), normal(2, 1)],)
)
ONE = numbers(*REAL)
TWO = several(pairs(FLOATS, FLOATS, *REAL), pairs(INTEGERS, INTEGERS, "int64", "int8"))
WHOLE = pairs(INTEGERS, INTEGERS, "int64", "int8", "uint8")
POSITIONS: list[Any] = [0, 1, -1, [0], [0, 1], [1, 0, 0], [-1, 0], slice(None, None, 2), [], 5]
CUTS: list[tuple[Any, ...]] = [(1,), (2,), (3,), ([1],), ([1, 2],), (0,)]
COEFFICIENTS = [normal(3), normal(1), normal(5), np.array([1, 2, 3]), normal(2) + 1j]
SAMPLES = [
    normal(3),
    normal(2),
    normal(1),
    normal(0),
    np.arange(5) ** 2,
    normal(4) + 1j * normal(4),
]

BYTES = [
    np.array([1, 77, 200]),
    np.arange(6).reshape(2, 3) * 40,
    np.zeros(0, "int64"),
    np.array([[128]]),
]


def each_of_bits(**options: Any) -> Callable[[], Calls]:
    bits = [
        np.arange(20) % 3,
        np.arange(16).reshape(2, 8) % 2 == 0,
        np.zeros((2, 0), "int8"),
        normal(3),
    ]
    return given(*((v, axis) for v in bits for axis in (None, *range(v.ndim))), **options)


CALLS: dict[str, Callable[[], Calls]] = {
    **dict.fromkeys(["hstack", "vstack", "dstack", "column_stack", "row_stack", "concat"], LISTS),
    "block": several(
        LISTS,
        given(([[normal(2, 2), normal(2, 1)], [normal(1, 2), normal(1, 1)]],), ([normal(2), 1.0],)),
        given(([[normal(2)], normal(2)],), ([],), ([[normal(2)], [normal(2)]],)),
    ),
    "append": several(
        given((normal(2, 3), normal(3)), (normal(2, 3), 1.0), (normal(2), np.arange(3))),
        given((normal(2, 3), normal(1, 3)), (normal(2, 3), normal(3)), axis=0),
    ),
    "insert": several(
        each(*((at, 7.0) for at in POSITIONS if not isinstance(at, slice))),
        given(*((normal(3), at, normal(2)) for at in (0, [0, 1], [2, 0], np.array([True, False, True])))),
        given(*((normal(2, 3), at, 7.0) for at in (0, 2, [0, 3, 0], slice(0, 2), 9)), axis=1),
        given((normal(2, 3), 1, normal(2)), (normal(2, 3), [1, 1], normal(2, 2)), axis=1),
    ),
    "delete": several(
        each(*((at,) for at in POSITIONS)),
        given(*((normal(2, 3), at) for at in (0, -1, [0, 2], slice(1, None), 3)), axis=1),
        given((normal(3), [True, False, True]), (normal(3), [True, False]), (normal(3), [1.5])),
    ),
    **dict.fromkeys(["array_split", "hsplit", "vsplit", "dsplit"], each(*CUTS)),
    "rot90": several(each(*((k,) for k in range(-1, 5))), each((1, (2, 0)), (1, (0, 0)))),
    **dict.fromkeys(["fliplr", "flipud", "diagflat", "isreal", "iscomplex"], each()),
    "permute_dims": given((normal(2, 3), (1, 0)), (normal(2, 3), (0, 0)), (normal(2, 3, 1), (2, 0, 1))),
    "rollaxis": several(each((0,), (1, 0)), each(*((a, s) for a in (0, -1) for s in (-1, 1, 2)))),
    "resize": each(((),), (5,), ((2, 2),), ((0, 3),), ((4, 4),)),
    "trim_zeros": given(
        *((np.array(v, "float64"), trim) for v in ([0, 1, 0, 2, 0], [0, 0], [], [3]) for trim in ("fb", "f", "b", "x"))
    ),
    "meshgrid": several(
        *(
            given((), (normal(3),), (normal(3), normal(2)), (normal(2), normal(0), normal(1)), sparse=s, indexing=i)
            for s in (False, True)
            for i in ("xy", "ij", "no")
        )
    ),
    "indices": several(*(given(((),), ((3,),), ((2, 3),), ((0, 2),), sparse=s) for s in (False, True))),
    "ix_": given(([0, 1], [2]), (np.array([True, False, True]), []), (normal(2, 2),)),
    "diag_indices": given((0,), (1, 3), (3,)),
    "diag_indices_from": given((normal(3, 3),), (normal(3, 2),), (normal(3),)),
    "vander": several(
        *(
            given(*((v, n) for v in (normal(3), normal(0), np.int8([2, 3]), np.float32([1, 2]), normal(2, 2)) for n in (None, 0, 5)), increasing=i)
            for i in (False, True)
        )
    ),
    **dict.fromkeys(["acos", "acosh", "asin", "asinh", "atan", "atanh", "absolute", "degrees"], ONE),
    **dict.fromkeys(["radians", "fix", "rint", "fabs", "cbrt", "sinc", "signbit", "modf"], ONE),
    **dict.fromkeys(["logical_not", "negative", "positive", "copy", "around"], ONE),
    "spacing": given((FLOATS,), (converted(FLOATS, "float32"),)),
    "frexp": numbers(*REAL),
    **dict.fromkeys(["atan2", "copysign", "hypot", "logaddexp2", "heaviside", "fmax", "fmin"], TWO),
    **dict.fromkeys(["nextafter", "fmod", "multiply", "subtract", "logical_and"], TWO),
    **dict.fromkeys(["logical_or", "logical_xor", "floor_divide", "remainder"], TWO),
    **dict.fromkeys(["divide", "true_divide"], TWO),
    "float_power": pairs(np.array([0, 1, 2, 3]), np.array([1, 2, 3]), "int64", "float32"),
    **dict.fromkeys(["gcd", "lcm"], WHOLE),
    **dict.fromkeys(["left_shift", "right_shift", "bitwise_left_shift", "bitwise_right_shift"], pairs(INTEGERS, np.array([0, 1, 7, 31, 63, 64, -1]), "int64", "int8")),
    **dict.fromkeys(["bitwise_count", "bitwise_invert"], given((INTEGERS,), (INTEGERS.astype("uint8"),), (normal(2),))),
    "ldexp": several(
        *(
            given(tuple(v.ravel() for v in np.meshgrid(converted(FLOATS, d), [0, 1, -5, 1074, -1074, 2000, -2100])))
            for d in ("float64", "float32")
        )
    ),
    "astype": given((normal(3), "float32"), (INTEGERS, "int8")),
    "inner": given((normal(3), normal(3)), (normal(2, 3), normal(4, 3)), (normal(2), 2.0)),
    "vdot": given((normal(2, 3), normal(3, 2)), (normal(2) * 1j, normal(2))),
    **dict.fromkeys(["amax", "amin"], given((normal(2, 3),), (normal(2, 3), 1))),
    "size": several(each(), given((normal(2, 3), 1))),
    "gradient": several(
        *(
            given(
                *((v,) for v in SAMPLES), *((v, 0.5) for v in SAMPLES), (normal(3), np.array([1.0, 2, 4])),
                (normal(3), np.array([1.0, 2])), (normal(3, 4), 2.0, np.array([1.0, 2, 4, 7])), (normal(3, 4), 1.0, 2.0, 3.0),
                edge_order=order,
            )
            for order in (1, 2, 3)
        ),
        given((normal(3, 4),), (normal(4, 3),), axis=1),
        given((normal(3, 4),), axis=(1,)),
        given((normal(3, 4),), (normal(3, 4), 2.0, np.array([1.0, 2, 4])), axis=(1, -2)),
        given((normal(3, 4, 5),), axis=(-1, 0, 1)),
    ),
    "roll": several(each((1,), (-4, 0)), given((normal(2, 3), (1, 2), (0, 1)))),
    "nan_to_num": several(given((FLOATS,), (INTEGERS,)), given((FLOATS,), nan=2.0, posinf=7)),
    "trapezoid": several(
        given(*((v,) for v in SAMPLES), (normal(3, 4), normal(4)), (normal(3, 4), normal(3, 4))),
        given((normal(4), normal(3, 4)), (normal(2), normal(3, 2, 2))),
        given((normal(3, 4),), axis=0, dx=0.5),
    ),
    "ediff1d": several(
        given(*((v,) for v in SAMPLES), (normal(2, 3),)),
        given((normal(3),), (INTEGERS,), to_end=[1, 2], to_begin=-9),
        given((normal(3),), (INTEGERS,), to_end=[1.5]),
    ),
    "unwrap": several(
        given(*((v * 5,) for v in SAMPLES if v.dtype.kind != "c"), (normal(3, 4) * 6, 4.0)),
        *(given((normal(9) * 4,), (INTEGERS,), period=p) for p in (3, 4, 2.5)),
        given((normal(3, 4) * 6,), axis=0),
    ),
    **dict.fromkeys(
        ["cumulative_sum", "cumulative_prod"],
        several(
            *(given((normal(3),), (normal(0),), (INTEGERS[:4],), include_initial=i) for i in (False, True)),
            given((normal(2, 3),)),
            given((normal(2, 3),), (INTEGERS.reshape(2, 5),), axis=1, dtype="float32"),
        ),
    ),
    "polyval": given(*itertools.product([*COEFFICIENTS, normal(70)], [normal(), normal(4) / 2, np.array([1, 2]), normal(2) + 1j])),
    **dict.fromkeys(["polyadd", "polysub", "polymul"], given(*itertools.product(COEFFICIENTS, COEFFICIENTS))),
    "polyder": given(*itertools.product([*COEFFICIENTS, normal(0)], [0, 1, 2, -1])),
    "polyint": given(*itertools.product(COEFFICIENTS, [0, 1, 2, -1], [None, 3, [3, 4]])),
    "average": several(
        *(
            given((normal(2, 3),), (normal(2, 3), axis), (normal(2, 3), axis, w), (INTEGERS.reshape(2, 5)[:, :3], axis, w), returned=r, keepdims=k)
            for axis in (None, 0, 1, (0, 1), (1, 0))
            for w in (np.full((2, 3), 2.0), np.arange(3) + 1.0, np.arange(2) + 1, np.zeros((2, 3)), np.ones(7))
            for r in (False, True)
            for k in (False, True)
        )
    ),
    "array": given((INTEGERS, "float32"), (normal(2),)),
    "array_equal": several(
        given(*itertools.product([normal(2), np.ones((2, 1)), np.ones((2, 2)), np.ones(2), np.ones(0), INTEGERS], repeat=2)),
        given((FLOATS, FLOATS), (FLOATS, FLOATS[::-1]), equal_nan=True),
        given((FLOATS, FLOATS)),
    ),
    "array_equiv": given(
        *itertools.product([normal(2), np.ones((2, 1)), np.ones((2, 2)), np.ones(2), np.ones(3), np.ones(0), np.ones((1, 0)), INTEGERS, np.float64(1)], repeat=2)
    ),
    "extract": given((INTEGERS > 0, INTEGERS), (np.eye(3), normal(3, 3)), (np.eye(2), normal(3, 3)), (np.eye(3), normal(2))),
    "select": several(
        given(([INTEGERS > 3, INTEGERS > 0], [INTEGERS, 1.5]), ([np.eye(2) > 0, normal(2) > 0], [normal(2, 2), normal(2, 2)], 7)),
        given(([], []), ([INTEGERS], [INTEGERS]), ([INTEGERS > 0], [1, 2]), ([normal(0) > 0], [np.float32([])], 2.5)),
    ),
    "packbits": several(*(each_of_bits(bitorder=order) for order in ("big", "little", "no"))),
    "unpackbits": several(
        *(
            given(*((v.astype("uint8"), axis) for v in BYTES if v.size or (count or 0) <= 0 for axis in (None, *range(v.ndim))), bitorder=order, count=count)
            for order in ("big", "little")
            for count in (None, 0, 5, 12, 30, -3)
        ),
        given((normal(3),)),
    ),
    "corrcoef": several(given((normal(3, 4),), (normal(1, 4),), (normal(2, 5), normal(5)), (normal(2, 3) * 1j,)), given((normal(4, 3),), rowvar=False)),
}  # fmt: skip


def test_every_function_is_compared_or_has_a_reason() -> None:
    public = {name for name in dir(arrays) if callable(getattr(arrays, name)) and name[0] != "_"}
    compared = set(CALLS) | OF_PYTENSOR | OF_JAX | OF_SCIKIT_IMAGE
    assert public == compared | set(NOT_COMPARED)
    assert not set(CALLS) & set(NOT_COMPARED)


def sinc(x: Any) -> Any:
    """NumPy's sinc. That of old releases is NaN at 0 of float16, in which the small number that it takes is 0."""
    value = np.sinc(x)
    return np.where(np.asarray(x) == 0, np.ones((), value.dtype), value)[()]


REFERENCES = {"row_stack": np.vstack, "sinc": sinc}


@pytest.mark.sampled(1)
@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CALLS)
def test_results_are_those_of_numpy(name: str) -> None:
    reference = REFERENCES.get(name) or getattr(np, name, None)
    if reference is None:
        pytest.skip(f"NumPy {np.__version__} has no {name}")
    for arguments, options in CALLS[name]():
        compare(getattr(arrays, name), reference, *arguments, **options)


def test_functions_of_elements_are_elementwise() -> None:
    names = [n for n in CALLS if isinstance(getattr(np, n, None), np.ufunc)]
    assert sum(isinstance(getattr(arrays, n), Elemwise) for n in names) > 30


@pytest.mark.parametrize("name", ["maximum", "minimum"])
def test_running_extremes(name: str) -> None:
    for value in (normal(5), normal(0), normal(2, 3), INTEGERS, np.array([1.0, np.nan, 2.0])):
        ours = arrays.cummax if name == "maximum" else arrays.cummin
        theirs = getattr(np, name).accumulate
        compare(ours, lambda x, theirs=theirs: theirs(x.ravel()), value)
        compare(ours, lambda x, axis, theirs=theirs: theirs(x, axis=axis), value, -1)


def test_functions_that_need_static_lengths() -> None:
    for value in COEFFICIENTS:
        zeros = {ot.tensor(dtype=value.dtype, shape=value.shape): value}
        np.testing.assert_allclose(og.evaluate(arrays.poly(*zeros), zeros), np.poly(value))
    x = ot.dmatrix("x")
    for function in (arrays.unstack, arrays.poly, arrays.hstack):
        with pytest.raises(TypeError, match=r"static length|known when the graph is built"):
            function(x[0] if function is arrays.poly else x)
    rows = arrays.unstack(ot.tensor("m", dtype="float64", shape=(2, None)))
    assert [row.type.shape for row in rows] == [(None,), (None,)]


@pytest.mark.parametrize("trim", [False, True])
def test_products_of_no_coefficients_are_refused(trim: bool) -> None:
    x, y = ot.dvector("x"), ot.dvector("y")
    made = arrays.polymul(x, y, trim_leading_zeros=trim)
    assert og.evaluate(made, {x: [0.0, 2.0], y: [3.0]}).tolist() == [0.0, 6.0][trim:]
    for name, values in (("a1", ([], [1.0])), ("a2", ([1.0, 2.0], [])), ("a1", ([], []))):
        with pytest.raises(ValueError, match=f"{name} of polymul must not be empty"):
            og.evaluate(made, dict(zip((x, y), values, strict=True)))


def test_masks_choose_indices() -> None:
    for k in (-1, 0, 2):
        for ours, theirs in zip(
            arrays.mask_indices(3, ot.triu, k), np.mask_indices(3, np.triu, k), strict=True
        ):
            np.testing.assert_array_equal(ours.eval(), theirs)


def test_static_lengths_are_inferred() -> None:
    x = ot.tensor("x", dtype="float64", shape=(4, 3))
    for made, shape in (
        (arrays.hstack([x, x]), (4, 6)),
        (arrays.block([[x, x], [x, x]]), (8, 6)),
        (arrays.insert(x, [0, 2], 1.0, axis=0), (6, 3)),
        (arrays.insert(x, -1, 1.0), (13,)),
        (arrays.delete(x, 1, axis=1), (4, 2)),
        (arrays.delete(x, [0, 0, 3], axis=0), (2, 3)),
        (arrays.rot90(x), (3, 4)),
        (arrays.meshgrid(x[0], x[:, 0])[1], (4, 3)),
        (arrays.vander(x[0]), (3, 3)),
        (arrays.gradient(x, axis=1, edge_order=2), (4, 3)),
        (arrays.polymul(x[0], x[1]), (5,)),
        (arrays.to_one_hot(np.array([[0], [2]]), 5), (2, 1, 5)),
        (arrays.array_split(x, 3)[0], (2, 3)),
        (arrays.pad(x, ((1, 2), (0, 3)), "linear_ramp"), (7, 6)),
    ):
        assert made.type.shape == shape


@pytest.mark.parametrize("keep", [None, 0, -1, (0, -1)])
def test_what_is_packed_is_unpacked(keep: Any) -> None:
    for shapes in ([(2, 3), (2, 4, 3)], [(2, 5, 3)]):
        values = {ot.tensor(dtype="float64", shape=(None,) * len(s)): normal(*s) for s in shapes}
        if keep == (0, -1):
            values = {v: a for v, a in values.items() if a.ndim > 2}
        joined, lengths = arrays.pack(*values, keep_axes=keep)
        for made, array in zip(
            arrays.unpack(joined, lengths, keep_axes=keep), values.values(), strict=True
        ):
            np.testing.assert_array_equal(og.evaluate(made, values), array)


def test_symbolic_widths_and_modes_of_pad() -> None:
    x, before = ot.dvector("x"), ot.lscalar("before")
    for mode in ("constant", "edge", "linear_ramp", "maximum", "mean", "reflect", "wrap"):
        made = arrays.pad(x, [(before, 2)], mode)
        for width, value in ((0, normal(3)), (5, normal(3)), (2, normal(1))):
            expected = np.pad(value, [(width, 2)], mode)
            np.testing.assert_allclose(og.evaluate(made, {x: value, before: width}), expected)


@pytest.mark.parametrize("shift", [operator.lshift, operator.rshift])
@pytest.mark.parametrize("dtype", ["int8", "uint8", "int64"])
def test_operators_that_shift(shift: Callable[[Any, Any], Any], dtype: str) -> None:
    bits = np.array([1, 3, 77, 127, 0, -5]).astype(dtype)
    counts = np.array([0, 1, 2, 7, 8, 63]).astype(dtype)
    x, n = ot.vector("x", dtype=dtype), ot.vector("n", dtype=dtype)
    for made, expected in (
        (shift(x, n), shift(bits, counts)),
        (shift(x, 3), shift(bits, 3)),
        (shift(3, n), shift(3, counts)),
        (shift(bits, n), shift(bits, counts)),
        (shift(x[:0], n[:0]), bits[:0]),
        (shift(x[::-1], counts[None]), shift(bits[::-1], counts[None])),
        (shift(x, n.astype("int16")), shift(bits, counts.astype("int16"))),
    ):
        found = og.evaluate(made, {x: bits, n: counts})
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(found, expected)
    with pytest.raises(TypeError, match="integers"):
        shift(ot.dvector(), 2)
    with pytest.raises(TypeError, match="integers"):
        shift(x, 1.5)


def test_cumulative_logarithms_of_sums() -> None:
    inf, nan = np.inf, np.nan
    x = ot.dvector("x")
    made = arrays.cumlogsumexp(x)
    weights = ot.arange(1.0, 1.0 + x.shape[0])
    slopes = og.grad((weights * made).sum(), x)
    for row in (
        [1.0, 2, 3],
        [-1e3, 1e3, 0, -1e3],
        [-inf, -inf, 1, 2],
        [1, inf, 2],
        [nan, 1],
        [-800.0],
        [],
    ):
        value = np.array(row, "float64")
        found, slope = (og.evaluate(each, {x: value}) for each in (made, slopes))
        with np.errstate(all="ignore"):
            wanted = np.logaddexp.accumulate(value) if row else value
            parts = np.exp(value[:, None] - wanted) * np.arange(1, 1 + len(row))
        np.testing.assert_allclose(found, wanted, rtol=1e-14)
        if np.isfinite(row).all():
            np.testing.assert_allclose(slope, np.triu(parts).sum(1), rtol=1e-13)
    np.testing.assert_allclose(og.evaluate(slopes, {x: np.array([-inf, -inf, 1, 2])})[:2], 0)
    for shape in SHAPES[1:]:
        value = normal(*shape).astype("float32") * 99
        v = ot.tensor(dtype="float32", shape=(None,) * len(shape))
        for axis in (-1, 0):
            found = og.evaluate(arrays.cumlogsumexp(v[::-1], axis), {v: value})
            assert found.dtype == np.float32
            np.testing.assert_allclose(found, np.logaddexp.accumulate(value[::-1], axis), rtol=1e-5)
        flat = og.evaluate(arrays.cumlogsumexp(v), {v: value})
        np.testing.assert_allclose(flat, np.logaddexp.accumulate(value.ravel()), rtol=1e-5)
    longer = og.evaluate(arrays.cumulative_logsumexp(x, include_initial=True), {x: np.ones(2)})
    np.testing.assert_allclose(longer, [-inf, 1, 1 + np.log(2)])
    assert arrays.cumlogsumexp(ot.lmatrix(), 1).dtype == "float64"
    with pytest.raises(TypeError, match="real"):
        arrays.cumlogsumexp(ot.zvector())
    with pytest.raises(ValueError, match="axis"):
        arrays.cumulative_logsumexp(ot.dmatrix())


@pytest.mark.parametrize("function", [np.ldexp, arrays.ldexp])
def test_exponents_may_be_plain_numbers(function: Any) -> None:
    x = ot.dvector("x")
    np.testing.assert_array_equal(oc.function([x], function(x, 3))([1.5, -2.0]), [12.0, -16.0])
    with pytest.raises(TypeError, match="must be an integer"):
        function(x, 1.5)


@pytest.mark.parametrize("mode", ["reflect", "symmetric"])
def test_odd_extensions_of_dynamic_lengths(mode: Any) -> None:
    """Also of one element, several times around, and with NaN, which stays where the far end is not reached."""
    x, widths = ot.dmatrix("x"), ot.lvectors("before", "after")
    pairs = [(widths[0][i], widths[1][i]) for i in range(2)]
    f = oc.function([x, *widths], arrays.pad(x, pairs, mode, reflect_type="odd"))
    random = np.random.default_rng(1)
    for shape in ((1, 4), (3, 1), (4, 3)):
        for _ in range(5):
            value, chosen = random.normal(size=shape), random.integers(0, 8, (2, 2))
            value[random.random(shape) < 0.2] = np.nan
            expected = np.pad(value, chosen.T.tolist(), mode, reflect_type="odd")
            np.testing.assert_allclose(f(value, *chosen), expected, rtol=1e-12)


@pytest.mark.parametrize("mode", ["edge", "linear_ramp", "maximum", "mean", "reflect", "wrap"])
def test_padding_what_turns_out_empty_is_an_error(mode: Any) -> None:
    x = ot.dvector("x")
    f = oc.function([x], arrays.pad(x, 1, mode))
    assert f([2.0]).shape == (3,)
    with pytest.raises(ValueError, match="empty axis"):
        f([])


def test_a_ramp_of_booleans() -> None:
    x = ot.vector("x", dtype="bool")
    given = np.array([True, False, True])
    expected = np.pad(given, (3, 2), "linear_ramp")
    np.testing.assert_array_equal(arrays.pad(x, (3, 2), "linear_ramp").eval({x: given}), expected)


@pytest.mark.parametrize("dtype", ["uint8", "int8", "float32", "float16"])
@pytest.mark.parametrize(
    "name", ["hypot", "logaddexp2", "heaviside", "nextafter", "copysign", "fmax", "fmod"]
)
def test_python_numbers_take_the_dtype_of_the_tensor(name: str, dtype: str) -> None:
    """Also integers that do not fit it, where the function is of floats."""
    x, value = ot.vector("x", dtype=dtype), np.array([1, 2, 3], dtype)
    numpys: Callable[..., Any] = getattr(np, name)
    for number in (2, 2.5, -1, 300):
        for place in (0, 1):
            try:
                expected: Any = numpys(*((value, number) if place else (number, value)))
            except OverflowError:
                continue
            function = getattr(arrays, name)
            made: Any = function(*((x, number) if place else (number, x)))
            found = og.evaluate(made, {x: value})
            assert (made.dtype, found.dtype) == (expected.dtype, expected.dtype)
            # NumPy's float16 is a few units off
            np.testing.assert_allclose(found, expected, rtol=2e-3 if dtype != "float32" else 0)


@pytest.mark.parametrize("dtype", ["uint8", "int32", "float16", "bool"])
def test_dtypes_of_sinc(dtype: str) -> None:
    x, value = ot.vector("x", dtype=dtype), np.array([0, 1, 1], dtype)
    found, expected = og.evaluate(arrays.sinc(x), {x: value}), sinc(value)
    assert found.dtype == expected.dtype
    np.testing.assert_allclose(found, expected, atol=1e-3 if dtype == "float16" else 1e-15)


def test_unwrapping_integers() -> None:
    x, value = ot.ivector("x"), np.array([0, 3, 1, 7, 2], "int32")
    for period in (2, 5, 2.5):
        found, expected = arrays.unwrap(x, period=period), np.unwrap(value, period=period)
        assert found.dtype == expected.dtype
        np.testing.assert_array_equal(og.evaluate(found, {x: value}), expected)
    with pytest.raises(OverflowError, match="uint8"):
        arrays.unwrap(ot.vector("u", dtype="uint8"), period=2)


@pytest.mark.parametrize("static", [False, True])
@pytest.mark.parametrize(
    ("lengths", "axes", "of_weights"),
    [
        ((3, 5), (1, 0), (5, 3)),
        ((3, 5), (-1, 0), (3, 5)),
        ((4, 4), (1, 0), (4, 4)),
        ((2, 3, 4), (2, 0), (4, 2)),
        ((2, 3, 4), (-1, -2), (4, 3)),
        ((3, 3, 3), (2, 1), (3, 3)),
        ((2, 3, 4), (2, 0, 1), (4, 2, 3)),
        ((2, 3, 4), (1, 2, 0), (3, 4, 2)),
    ],
)
def test_weights_of_average_lie_along_the_axes_in_their_order(
    lengths: tuple[int, ...], axes: tuple[int, ...], of_weights: tuple[int, ...], static: bool
) -> None:
    generator = np.random.default_rng(5)
    values, weights = generator.normal(size=lengths), generator.uniform(0.5, 2.0, of_weights)
    x, w = (
        ot.tensor(dtype="float64", shape=v.shape if static else (None,) * v.ndim)
        for v in (values, weights)
    )
    found, total = arrays.average(x, axes, w, returned=True)
    expected = np.average(values, axes, weights, returned=True)
    given = {x: values, w: weights}
    np.testing.assert_allclose(og.evaluate(found, given), expected[0])
    np.testing.assert_allclose(og.evaluate(total, given), expected[1])
