"""Every public function of NumPy applied to variables: a graph that computes the same, or an error."""

from __future__ import annotations

import inspect
import itertools
import os
import warnings
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_arrays.numpy_functions import _FUNCTIONS
from occelo_graph import tensor as ot
from occelo_graph.tensors.numpy_functions import _UFUNCS

DTYPES = ["int64", "bool", "complex128", "float32"]
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"


def _arguments(dtype: str) -> list[tuple[Any, ...]]:
    rng = np.random.default_rng(3)

    def a(*shape: int) -> Any:
        values = rng.integers(0 if dtype in ("bool", "uint8") else -3, 4, shape) * 1.0
        if dtype.startswith(("float", "complex")):
            values += rng.integers(1, 4, shape) / 4
        return (values + 0.5j * rng.integers(0, 3, shape) if "c" in dtype else values).astype(dtype)

    def i(*shape: int) -> Any:
        return rng.integers(0, 2, shape)

    return [
        *[(a(4),), (a(),), (a(2, 3),), (a(3, 3),), (a(2, 1, 3),), (a(0),)],
        *[(a(4), a(4)), (a(3, 3), a(3, 3)), (a(2, 3), a(3)), (a(4), a()), (a(3), a(2, 3))],
        *[([a(3), a(3)],), ([a(2, 3), a(2, 3)],), ((a(), a()),)],
        *[(a(4), 2), (a(2, 3), 1), (a(2, 3), -1), (a(2, 3), (3, 2)), (a(2, 3), (1, 0))],
        *[(a(4), [1, 3]), (a(1, 3), (2, 3)), (a(2, 3), 0, 1), (a(4), i(3)), (a(2, 3), i(2, 3), 1)],
        *[(i(4) > 0, a(4), a(4)), (i(4) > 0, a(4)), (i(3), [a(3), a(3)]), (i(2, 3) > 0,)],
        *[(a(4), None, a()), (a(4), a(), a()), (a(4), a(4), a(4)), (a(2, 3), "float32")],
        *[(i(4), (2, 3)), ((i(4), i(4)), (2, 3)), (a(4), "complex64"), (a(2, 3), (2, 3, 1))],
    ]


OPTIONS: list[dict[str, Any]] = [
    *[{}, {"axis": 0}, {"axis": -1}, {"axis": None}, {"axis": (0, 1)}, {"keepdims": True}],
    *[{"axis": 1, "keepdims": True}, {"dtype": "float32"}, {"ddof": 1, "axis": 0}, {"k": 1}],
    *[{"offset": -1}, {"ord": 1}, {"ord": np.inf, "axis": 0}, {"ord": "fro"}, {"ord": -1}],
    *[{"order": "F"}, {"order": "C"}, {"axes": 1}, {"axes": (1, 0)}, {"mode": "clip"}],
    *[{"decimals": 1}, {"nan": 2.0}, {"deg": True}, {"initial": 1}, {"where": np.True_}],
    *[{"out": None}, {"mode": "edge"}, {"constant_values": 2}, {"rowvar": False}, {"bias": True}],
    *[{"n": 2}, {"num": 4}, {"endpoint": False}, {"retstep": True}, {"min": 0, "max": 1}],
]


def _symbolic(value: Any, given: dict[Any, Any]) -> Any:
    if isinstance(value, np.ndarray | np.generic):
        made = ot.tensor(dtype=value.dtype, shape=tuple(1 if n == 1 else None for n in value.shape))
        if value.ndim == 1 and value.shape[0] == 4:
            made = ot.tensor(dtype=value.dtype, shape=(4,))
        given[made] = np.asarray(value)
        return made
    if isinstance(value, list | tuple) and any(
        isinstance(v, np.ndarray | np.generic) for v in value
    ):
        return type(value)(_symbolic(v, given) for v in value)
    return value


def _public_functions() -> dict[str, Any]:
    found: dict[str, Any] = {}
    for space in ("", "linalg.", "fft.", "emath.", "lib.stride_tricks."):
        module: Any = np
        for part in space.split(".")[:-1]:
            module = getattr(module, part)
        for name in dir(module):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                value = getattr(module, name)
            if name.startswith("_") or isinstance(value, type) or inspect.ismodule(value):
                continue
            if callable(value):
                found[space + name] = value
    return found


# what answers with something that is no variable, and says the truth
PLAIN = {"ndim", "iscomplexobj", "isrealobj", "result_type", "can_cast", "iterable"}
# the dtypes of NumPy's results follow from values, or from lengths: edges of no points are float64
OTHER_DTYPES = {"linalg.eig", "linalg.eigvals", "roots", "histogramdd"}
# plain numbers are arrays in NumPy's, and not weak beside float32
OTHER_DTYPES |= {"polyadd", "polysub", "polymul"}
# what only looks at Python objects, or does something else than to compute
NOT_COMPUTING = {
    *["get_include", "info", "show_config", "show_runtime", "test", "save", "savez", "savetxt"],
    *[
        "savez_compressed",
        "load",
        "loadtxt",
        "genfromtxt",
        "fromfile",
        "memmap",
        "get_printoptions",
    ],
    *[
        "set_printoptions",
        "printoptions",
        "seterr",
        "geterr",
        "seterrcall",
        "geterrcall",
        "setbufsize",
    ],
    *["getbufsize", "errstate", "frompyfunc", "vectorize", "typename", "issubdtype", "isdtype"],
    # array_equal and array_equiv answer False for whatever fails to become an array
    *[
        "array_equal",
        "array_equiv",
        "bmat",
        "isscalar",
        "from_dlpack",
        "typecodes",
        "show_config",
        "lookfor",
        "who",
        "source",
        "deprecate",
        "disp",
    ],
    *[
        "get_array_wrap",
        "issubsctype",
        "sctype2char",
        "format_parser",
        "datetime_data",
        "ctypeslib",
    ],
}


def _stable(a: Any, *args: Any, **options: Any) -> Any:
    return np.argsort(a, *args, **{"kind": "stable", **options})


def _whole_partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    np.partition(a, kth, axis)
    return np.sort(a, axis)


def _order_of_partition(a: Any, kth: Any, axis: Any = -1) -> Any:
    np.argpartition(a, kth, axis)
    return _stable(a, axis)


def _of_any_sets(ar1: Any, ar2: Any, assume_unique: Any = False, **options: Any) -> Any:
    return np.intersect1d(ar1, ar2, **options)


def _of_any_two(ar1: Any, ar2: Any, assume_unique: Any = False) -> Any:
    return np.setxor1d(ar1, ar2)


def _untrimmed(a1: Any, a2: Any) -> Any:
    # the number of coefficients does not follow from their values
    return np.convolve(np.atleast_1d(a1), np.atleast_1d(a2))


def _of_ascending(x: Any, xp: Any, *args: Any, **options: Any) -> Any:
    if options.get("period") is None and np.any(np.diff(np.asarray(xp, "float64")) < 0):
        raise ValueError("the result means nothing")
    return np.interp(x, xp, *args, **options)


def _in_order(x: Any) -> Any:
    return np.unique(x, equal_nan=False)


SETTLED: dict[str, Any] = {
    "argsort": _stable,
    "intersect1d": _of_any_sets,
    "interp": _of_ascending,
    "polymul": _untrimmed,
    "setxor1d": _of_any_two,
    "unique_values": _in_order,
    "partition": _whole_partition,
    "argpartition": _order_of_partition,
}
"""Functions whose results NumPy leaves open in part, and functions of NumPy that give what ours give."""


def _values(result: Any, given: dict[Any, Any]) -> list[Any]:
    listed = list(result) if isinstance(result, list | tuple) else [result]
    return [og.evaluate(v, given) if isinstance(v, og.Variable) else v for v in listed]


def _check(name: str, function: Any, arguments: tuple[Any, ...], options: dict[str, Any]) -> bool:
    """Whether both NumPy and we accepted the call; fails if we gave something else."""
    if name in ("ravel_multi_index", "unravel_index") and not isinstance(arguments[-1], tuple):
        return False  # lengths of 0 and below mean nothing
    try:
        expected = SETTLED.get(name, function)(*arguments, **options)
    except Exception:
        return False
    given: dict[Any, Any] = {}
    symbolic = tuple(_symbolic(a, given) for a in arguments)
    try:
        result = function(*symbolic, **options)
    except (TypeError, ValueError, NotImplementedError, IndexError, AttributeError):
        return False
    what = f"{name}{symbolic}, {options}"
    listed = list(result) if isinstance(result, list | tuple) else [result]
    wanted = list(expected) if isinstance(expected, list | tuple) else [expected]
    if name == "histogramdd":
        listed, wanted = [listed[0], *listed[1]], [wanted[0], *wanted[1]]
    if name == "shape":
        listed, wanted = [og.evaluate(result, given)], [np.array(expected, dtype="int64")]
    elif name.removeprefix("linalg.") in PLAIN:
        assert listed == wanted, what
        return True
    elif wanted:  # the gradient of a scalar has no parts
        assert any(isinstance(v, og.Variable) for v in listed), f"{what} is {result}"
        assert len(listed) == len(wanted), what
    try:
        values = _values(listed, given)
    except ValueError:
        return False
    if name == "linspace" and options.get("retstep"):
        # where there is no step, NumPy's is one NaN; ours, of a number that is only known later, one for each difference
        wanted[1] = np.broadcast_to(wanted[1], np.shape(values[1]))
    for got, want in zip(values, wanted, strict=True):
        assert np.shape(got) == np.shape(want), what
        if name == "empty_like":
            continue
        if name not in OTHER_DTYPES:
            assert np.asarray(got).dtype == np.asarray(want).dtype, what
        single = {"float16", "float32", "complex64"}
        loose = not single.isdisjoint(np.asarray(v).dtype.name for v in (got, want))
        np.testing.assert_allclose(got, want, 2e-3 if loose else 1e-9, 1e-12, err_msg=what)
    return True


FUNCTIONS = {
    n: f for n, f in _public_functions().items() if n.rpartition(".")[2] not in NOT_COMPUTING
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_of_numpy_gives_our_graph_or_raises(name: str) -> None:
    function = FUNCTIONS[name]
    accepted = 0
    other = DTYPES[list(FUNCTIONS).index(name) % len(DTYPES)]
    with np.errstate(all="ignore"):
        for dtype in ("float64", *(DTYPES if THOROUGH else ["int64", other])):
            for arguments in _arguments(dtype):
                for options in OPTIONS if not isinstance(function, np.ufunc) else OPTIONS[:10]:
                    accepted += _check(name, function, arguments, options)
    row = name in _FUNCTIONS or (isinstance(function, np.ufunc) and function.__name__ in _UFUNCS)
    assert accepted or not row, f"{name} is in the table, but no call was compared"


def test_every_row_is_a_function_of_numpy() -> None:
    for name in _FUNCTIONS:
        assert name in FUNCTIONS or (name == "astype" and not hasattr(np, "astype"))


@pytest.mark.parametrize(
    ("ufunc", "method", "hint"),
    [
        (np.add, "reduce", "use occelo.tensor.sum"),
        (np.multiply, "accumulate", "use occelo.tensor.cumprod"),
        (np.minimum, "reduce", "use occelo.tensor.min"),
        (np.minimum, "accumulate", "none of that name"),
        (np.bitwise_xor, "reduce", "none of that name"),
    ],
)
def test_methods_of_ufuncs_are_told_by_their_functions(ufunc: Any, method: str, hint: str) -> None:
    x = ot.lvector("x")
    with pytest.raises(TypeError, match=f"numpy.{ufunc.__name__}.{method} cannot be .* {hint}"):
        getattr(ufunc, method)(*([x, x] if method == "outer" else [x]))


@pytest.mark.parametrize("ufunc", [np.multiply, np.add, np.subtract, np.hypot, np.less])
def test_outer_products_by_ufuncs(ufunc: Any) -> None:
    """As NumPy's, for all numbers of dimensions, and with arrays among the operands."""
    for a, b in itertools.product(
        (np.array(2.0), np.zeros(0), np.arange(3.0), np.arange(4.0).reshape(2, 2)), repeat=2
    ):
        x, y = (ot.tensor(dtype="float64", shape=(None,) * v.ndim) for v in (a, b))
        expected = ufunc.outer(a, b)
        for made in (ufunc.outer(x, y), ufunc.outer(x, b), ufunc.outer(a, y)):
            np.testing.assert_array_equal(og.evaluate(made, {x: a, y: b}), expected)
