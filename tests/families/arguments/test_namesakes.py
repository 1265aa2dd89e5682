"""Functions with the names of functions of NumPy and SciPy: the same results, or an error.

Every such function is elementwise, or in the table `CALLS`, or in `REASONS` with the difference. Calls that NumPy or
SciPy rejects are not compared. The error of a call that only our function rejects must name the argument or the value.
"""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import occelo.tensor as ot
import occelo_graph as og
import occelo_graph.tensor
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_special.ops import special_functions

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("scipy") is None, reason="half of the names are SciPy's"
)
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"

REASONS = {
    "atleast_3d": "adds all dimensions in front, as in older systems; np.atleast_3d of a variable is NumPy's",
    "broadcast_shape": "not a function of arrays",
    "cast": "NumPy's np.astype by its older name",
    "choose": "compared with its own tests of broadcasting and modes",
    "complex": "a type in NumPy",
    "empty": "values do not matter",
    "empty_like": "values do not matter",
    "fill_diagonal": "NumPy's changes its argument",
    "matrix": "makes variables",
    "mgrid": "compared with its own tests",
    "ogrid": "compared with its own tests",
    "reciprocal": "gives floats for integers, where NumPy divides integers",
    "shape": "a vector of lengths, where NumPy's is a tuple",
    "split": "takes the lengths of the parts, where NumPy takes where they begin",
    "take_along_axis": "compared with its own tests; its axis has no default",
    "vectorize": "vectorizes graphs",
}
# dtypes of SciPy's special functions for these differ between its versions
SMALL = ("bool", "int8", "float16")


OF_ARRAYS = (
    "cross",
    "einsum",
    "bartlett",
    "choose",
    "compress",
    "cov",
    "geomspace",
    "linspace",
    "logspace",
    "pad",
    "ravel_multi_index",
    "unravel_index",
)


def _reference(name: str) -> Callable[..., Any] | None:
    special = importlib.import_module("scipy.special")
    for module in (np, np.linalg, special):
        if module is np and name in ("gamma", "beta", "softmax", "i0"):
            continue
        found = getattr(module, name, None)
        if callable(found) and not isinstance(found, type):
            return found  # type: ignore[no-any-return]
    return None


NAMESAKES = sorted(
    n
    for n in (*dir(og.tensor), *special_functions.__all__, *OF_ARRAYS)
    if not n.startswith("_")
    and callable(getattr(ot, n))
    and not isinstance(getattr(ot, n), type)
    and importlib.util.find_spec("scipy") is not None
    and _reference(n) is not None
)

Call = tuple[tuple[Any, ...], dict[str, Any]]
SHAPES: list[tuple[int, ...]] = [(), (4,), (1,), (0,), (2, 3), (1, 3), (3, 3), (0, 3), (2, 1, 3)]


def _array(shape: tuple[int, ...], dtype: str, seed: int = 0) -> Any:
    rng = np.random.default_rng([len(shape), *shape, seed])
    whole = rng.integers(0 if dtype in ("bool", "uint8") else -3, 4, shape) * 1.0
    if dtype.startswith(("float", "complex")):
        whole += rng.integers(1, 4, shape) / 4
    if dtype.startswith("complex"):
        whole = whole + 1j * rng.integers(-2, 3, shape)
    return np.asarray(whole).astype(dtype)


# before 2.2 NumPy's cov did not transpose a single row
COLUMNS: list[dict[str, Any]] = (
    [{"rowvar": False}] if np.lib.NumpyVersion(np.__version__) >= "2.2.0" else []
)


def _one(*options: dict[str, Any]) -> Callable[[str], Iterator[Call]]:
    """One array of each shape, with each of the options."""

    def calls(dtype: str) -> Iterator[Call]:
        for shape in SHAPES:
            for option in options or ({},):
                yield (_array(shape, dtype),), option

    return calls


def _two(*options: dict[str, Any]) -> Callable[[str], Iterator[Call]]:
    pairs: list[tuple[tuple[int, ...], tuple[int, ...]]] = [
        *[((4,), (4,)), ((2, 3), (3, 3)), ((2, 3), (3,)), ((3,), (3, 3)), ((4,), ()), ((), ())],
        *[
            ((2, 2, 3), (2, 3, 2)),
            ((3, 3), (3, 3)),
            ((0, 3), (3, 3)),
            ((2, 1, 3), (3, 3)),
            ((0,), (0,)),
        ],
        *[((2, 2), (2,)), ((2,), (2, 2))],
    ]

    def calls(dtype: str) -> Iterator[Call]:
        for first, second in pairs:
            for option in options or ({},):
                yield (_array(first, dtype), _array(second, dtype, 1)), option
        yield (_array((4,), dtype), 2), {}
        yield (3, _array((2, 3), dtype)), {}

    return calls


def _after(*rest: tuple[Any, ...], **options: Any) -> Callable[[str], Iterator[Call]]:
    """One array of each shape, followed by each of the given arguments."""

    def calls(dtype: str) -> Iterator[Call]:
        for shape in SHAPES:
            for more in rest:
                yield (_array(shape, dtype), *more), options

    return calls


def _vectors(*options: dict[str, Any]) -> Callable[[str], Iterator[Call]]:
    """Two arrays, most of which have a dimension of length 3 at the front or the end."""

    def calls(dtype: str) -> Iterator[Call]:
        for first, second in (
            ((2, 3), (3,)),
            ((3, 3), (3, 3)),
            ((3,), (2, 1, 3)),
            ((0, 3), (0, 3)),
        ):
            for option in options:
                yield (_array(first, dtype), _array(second, dtype, 1)), option

    return calls


def _einsum(dtype: str) -> Iterator[Call]:
    a, b, c = _array((2, 3), dtype), _array((3, 3), dtype, 1), _array((1, 3), dtype, 2)
    for subscripts in ("ij,jk", "ij,jk->ki", "ij,kj", "ij,ij", "...j,j...", "ij,ik->i", "ij,jj->i"):
        for second in (b, c):
            yield (subscripts, a, second), {}
            yield (subscripts, a, second), {"optimize": False}
    for subscripts in ("ii", "ii->i", "ij->", "ji", "...i->...", "ij->j", "i->i"):
        for only in (a, b, c):
            yield (subscripts, only), {}
    yield (a, [0, 1], b, [1, 2], [2, 0]), {}
    yield (a, [..., 1], b, [1, 40]), {}
    yield ("ij,jk,kl->il", a, b, b), {"out": None}
    for optimize in (True, False, "greedy", "optimal", ["einsum_path", (1, 2), (0, 1)]):
        yield ("ij,jk,kl->il", a, b, b), {"optimize": optimize}


def _lists(*options: dict[str, Any]) -> Callable[[str], Iterator[Call]]:
    groups: list[list[tuple[int, ...]]] = [
        *[[(3,), (3,)], [(2, 3), (2, 3)], [(2, 3), (1, 3)], [(), ()], [(2,), (0,)], [(3,), (2, 3)]],
        [(2, 1, 3), (2, 2, 3)],
    ]

    def calls(dtype: str) -> Iterator[Call]:
        for group in groups:
            for option in options or ({},):
                yield ([_array(s, dtype, i) for i, s in enumerate(group)],), option

    return calls


def _plain(*arguments: tuple[Any, ...], **options: Any) -> Callable[[str], Iterator[Call]]:
    """Arguments that are no arrays."""
    return lambda dtype: iter([(a, options) for a in arguments])


def _all(*parts: Callable[[str], Iterator[Call]]) -> Callable[[str], Iterator[Call]]:
    def calls(dtype: str) -> Iterator[Call]:
        for part in parts:
            yield from part(dtype)

    return calls


AXES: list[dict[str, Any]] = [
    *[{}, {"axis": 0}, {"axis": 1}, {"axis": -1}, {"axis": None}, {"axis": (0, 1)}],
    *[{"axis": (-1, 0)}, {"axis": ()}, {"axis": 3}, {"axis": (0, 0)}],
]
KEPT = [{**a, "keepdims": k} for a in AXES for k in (False, True)]
REFUSED = [{"out": None}, {"where": np.True_}, {"initial": 0}]
DTYPES_OF_SUM: list[dict[str, Any]] = [
    {"dtype": d, **a}
    for d in ("float32", "int8", "float64", "complex128")
    for a in ({}, {"axis": 0})
]
DDOF = [{"ddof": d, **a} for d in (0, 1, 5) for a in KEPT[:6]]
ORDERS: list[Any] = [None, 0, 1, -1, 2, -2, 3, 0.5, np.inf, -np.inf, "fro", "nuc", "other"]
NORMS = [
    {"ord": o, **a} for o in ORDERS for a in ({}, *KEPT[2:8], {"axis": (1, 0)}, {"axis": (0, 1)})
]
ENDS = [
    *[(0.5, 4.0), (2, 7), (-3.0, 1.0, 4), (1.0, 9.0, 1), (1.0, 9.0, 0), (5.0, 2.0, 7)],
    *[(np.float32(1), np.float32(3), 5), (np.array([1.0, 2.0]), np.array([3.0, 8.0]), 3)],
]
SPACES = _all(
    _plain(*ENDS),
    _plain(*ENDS, endpoint=False),
    _plain(*ENDS, dtype="int64"),
    _plain(*ENDS, axis=0),
)
POSITIONS = (np.array([0, 1, 1]), np.array([[0], [1]]), 0, np.array([True, False]), -1)

CALLS: dict[str, Callable[[str], Iterator[Call]]] = {
    "all": _one(*KEPT, *REFUSED),
    "any": _one(*KEPT, *REFUSED),
    "sum": _one(*KEPT, *REFUSED, *DTYPES_OF_SUM),
    "prod": _one(*KEPT, *REFUSED, *DTYPES_OF_SUM),
    "mean": _one(*KEPT, *REFUSED, *DTYPES_OF_SUM),
    "max": _one(*KEPT, *REFUSED),
    "min": _one(*KEPT, *REFUSED),
    "ptp": _one(*KEPT, {"out": None}),
    "argmax": _one(*KEPT, {"out": None}),
    "argmin": _one(*KEPT, {"out": None}),
    "var": _one(*KEPT, *REFUSED, *DDOF, {"correction": 1}),
    "std": _one(*KEPT, *REFUSED, *DDOF, {"correction": 1}),
    "cumsum": _one(*AXES, {"dtype": "float32"}),
    "cumprod": _one(*AXES, {"dtype": "float32"}),
    "norm": _one(*NORMS),
    "logsumexp": _all(
        _one(*AXES[:6], {"axis": 0, "keepdims": True}),
        lambda dtype: iter(  # SciPy gives a sum of no elements the sign -1
            [
                (a, {"return_sign": True, **more})
                for a, _ in _one()(dtype)
                if a[0].size
                for more in ({}, {"b": -1}, {"b": 2.5, "axis": -1 if a[0].ndim else None})
            ]
        ),
    ),
    "softmax": _one(*AXES[:6]),
    "log_softmax": _one(*AXES[:6]),
    "cov": _all(
        _one({}, *COLUMNS, {"bias": True}, {"ddof": 0}, {"ddof": 9}, {"fweights": [1, 2]}),
        lambda dtype: iter([((_array((2, 3), dtype), _array((1, 3), dtype)), {})]),
    ),
    "dot": _two({}, {"out": None}),
    "matmul": _two({}, {"out": None}, {"dtype": "float32"}, {"dtype": "int64"}),
    "outer": _two(),
    "vecdot": _two({}, {"axis": 0}, {"axis": -2}, {"keepdims": True}, {"dtype": "complex64"}),
    "cross": _all(_two(), _vectors(*[{}, {"axis": 0}, {"axisa": 0, "axisc": 0}, {"axisb": -2}])),
    "einsum": _einsum,
    "kron": _two(),
    "matvec": _two(),
    "vecmat": _two(),
    "tensordot": _two(
        *[{"axes": a} for a in (0, 1, 2, ([0], [0]), ([-1], [0]), (0, 0), ([0, 1], [1, 0]), 3)]
    ),
    "trace": _one(
        {}, {"offset": 1}, {"offset": -1}, {"axis1": 1, "axis2": 0}, {"dtype": "float32"}
    ),
    "diagonal": _one({}, {"offset": 1}, {"offset": -2}, {"axis1": -1, "axis2": 0}, {"axis1": 1}),
    "diag": _one({}, {"k": 1}, {"k": -1}, {"k": 1.5}),
    "tril": _one({}, {"k": 1}, {"k": -1}, {"k": 1.5}),
    "triu": _one({}, {"k": 1}, {"k": -1}, {"k": 1.5}),
    "transpose": _one(
        {}, {"axes": (1, 0)}, {"axes": (0, -1)}, {"axes": (2, 0, 1)}, {"axes": (0, 0)}
    ),
    "matrix_transpose": _one(),
    "angle": _one({}, {"deg": True}),
    "swapaxes": _after((0, 1), (-1, 0), (0, 0), (2, 0), (0, 5)),
    "moveaxis": _after((0, 1), (-1, 0), ((0, 1), (1, 0)), (0, 3), ((0, 0), (1, 0))),
    "expand_dims": _after((0,), (-1,), ((0, 2),), (1,), (5,), ((0, 0),)),
    "squeeze": _one({}, {"axis": 0}, {"axis": -1}, {"axis": 1}, {"axis": (0, 1)}),
    "ravel": _one({}, {"order": "F"}),
    "reshape": _after((-1,), ((3, -1),), ((-1, 1),), ((2, 2),), ((3, 2),), ((-1, -1),), (6, "F")),
    "broadcast_to": _after(((2, 3),), ((3, 3),), ((4,),), ((2, 2, 3),), ((0, 3),), (4,)),
    "broadcast_arrays": _two(),
    "atleast_1d": _one(),
    "atleast_2d": _one(),
    "concatenate": _lists(*AXES[:5], {"dtype": "float32"}, {"out": None}),
    "stack": _lists(*AXES[:4], {"axis": -2}, {"axis": 5}),
    "flip": _one(*AXES),
    "roll": _after((1,), (-2, 0), (1, -1), (5, 1), ((1, 2), (0, 1)), (0,), (1, 7)),
    "repeat": _after(
        (2,), (0,), (2, 0), (3, -1), (np.array([1, 0, 2]), -1), ([2], 0), (-1,), (1.5,)
    ),
    "tile": _after((2,), ((2, 1),), ((0,),), ((1, 2, 3),)),
    "pad": _all(
        *[
            _after((1,), ((1, 2),), (0,), (((1, 0), (2, 1)),), mode=m)
            for m in ("constant", "edge", "reflect", "symmetric", "wrap", "linear_ramp", "mean")
        ],
        _after((1,), ((0, 2),), constant_values=2),
        _after((2,), mode="reflect", reflect_type="odd"),
    ),
    "diff": _one({}, {"n": 2}, {"n": 0}, {"axis": 0}, {"n": 5}, {"n": -1}, {"prepend": 0}),
    "zeros_like": _one({}, {"dtype": "int8"}, {"shape": (2,)}),
    "ones_like": _one({}, {"dtype": "int8"}, {"shape": (2,)}),
    "full_like": _after((2,), (1.5,), (2, "float32")),
    "zeros": _plain((3,), ((2, 3),), ((),), ((2, 0), "int8"), (-1,)),
    "ones": _plain((3,), ((2, 3),), ((),), ((2, 0), "int8"), (-1,)),
    "full": _plain((3, 2.5), ((2, 3), 1), ((), 1.5), ((2,), 3, "float32"), ((2,), np.True_)),
    "eye": _all(
        _plain((3,), (3, 4), (3, 4, 1), (3, 2, -1), (3, None, 5), (0,)),
        *(_plain((), **given) for given in ({"N": 3}, {"N": 2, "M": 3, "k": 1}, {"M": 2})),
        _plain((3,), M=2),
    ),
    "identity": _plain((3,), (0,)),
    "tri": _plain((3,), (3, 4), (3, 4, 1), (3, 2, -1), (3, None, 5), (0,)),
    "tril_indices": _plain((3,), (3, 1), (3, -1, 4), (3, 0, 2)),
    "triu_indices": _plain((3,), (3, 1), (3, -1, 4), (3, 0, 2)),
    "tril_indices_from": _one({}, {"k": 1}),
    "triu_indices_from": _one({}, {"k": 1}),
    "arange": _plain(
        (5,), (2, 7), (7, 2), (7, 2, -2), (0.5, 3.0, 0.5), (3.0,), (np.float32(3),), (0,)
    ),
    "linspace": SPACES,
    "logspace": _all(SPACES, _plain(*ENDS, base=2.0)),
    "geomspace": SPACES,
    "bartlett": _plain((5,), (1,), (0,), (2,), (8,)),
    "take": _after(*[(p, *a) for p in POSITIONS for a in ((), (0,), (-1,), (0, None, "wrap"))]),
    "compress": lambda dtype: iter(
        [((np.array([True, False, True]), _array(s, dtype)), a) for s in SHAPES for a in AXES[:4]]
    ),
    "nonzero": _one(),
    "flatnonzero": _one(),
    "where": lambda dtype: iter(
        [
            ((_array((4,), dtype) > 0, _array((4,), dtype), _array((4,), dtype, 1)), {}),
            ((_array((2, 3), dtype) > 0, _array((3,), dtype), 2), {}),
            ((_array((2, 3), dtype),), {}),
            ((_array((2, 3), dtype), _array((3,), dtype), _array((), dtype)), {}),
        ]
    ),
    "clip": _after((-1, 1), (0.5, 2.5), (None, 1), (2, 1), (-300, 300)),
    "round": _one({}, {"decimals": 1}, {"decimals": -1}, {"out": None}),
    "nan_to_num": _one({}, {"nan": 2.0}, {"copy": False}),
    "isclose": _two({}, {"atol": 2.0}, {"rtol": 0.5}, {"equal_nan": True}),
    "allclose": _two({}, {"atol": 2.0}, {"rtol": 0.5}, {"equal_nan": True}),
    "isposinf": _one(),
    "isneginf": _one(),
    "logaddexp": _two(),
    "divmod": _two(),
    "factorial": _one(),
    "ravel_multi_index": _plain(
        *[
            ((np.array([0, 1]), np.array([2, 0])), (2, 3), *m)
            for m in ((), ("clip",), ("raise", "F"))
        ]
    ),
    "unravel_index": _plain(
        (np.array([0, 5, 3]), (2, 3)), (np.array([1]), (2, 3), "F"), (4, (2, 3))
    ),
}


def _calls_of(name: str) -> Callable[[str], Iterator[Call]]:
    function = getattr(ot, name)
    if isinstance(function, Elemwise) and name not in CALLS:
        count = function.scalar_op.nin
        if count == 1:
            return _one({})
        if count in (2, None):
            return _two({})
        shapes: list[tuple[int, ...]] = [(4,), (1,), (2, 3)]
        return lambda dtype: iter(
            [(tuple(_array(s, dtype, i) for i in range(count)), {}) for s in shapes]
        )
    return CALLS[name]


def test_every_namesake_is_compared_or_has_a_reason() -> None:
    assert NAMESAKES
    for name in NAMESAKES:
        elementwise = isinstance(getattr(ot, name), Elemwise)
        assert (elementwise or name in CALLS) != (name in REASONS and not elementwise), name


def _symbolic(value: Any, given: dict[Any, Any]) -> Any:
    if isinstance(value, np.ndarray):
        shape = tuple(1 if n == 1 else None for n in value.shape)
        made = ot.tensor(dtype=value.dtype, shape=shape)
        given[made] = value
        return made
    if isinstance(value, list | tuple) and any(isinstance(v, np.ndarray) for v in value):
        return type(value)(_symbolic(v, given) for v in value)
    return value


def _compare(name: str, call: Call, check_dtype: bool) -> bool:
    arguments, options = call
    reference = _reference(name)
    assert reference is not None
    try:
        expected = reference(*arguments, **options)
    except Exception:
        return False
    given: dict[Any, Any] = {}
    try:
        result = getattr(ot, name)(*(_symbolic(a, given) for a in arguments), **options)
        listed = list(result) if isinstance(result, list | tuple) else [result]
        values = og.evaluate([ot.as_tensor(v) for v in listed], given)
    except (TypeError, ValueError, IndexError, NotImplementedError, OverflowError):
        return False
    wanted = list(expected) if isinstance(expected, list | tuple) else [expected]
    what = f"{name}({', '.join(f'{a!r}' for a in arguments)}, {options})"
    assert len(values) == len(wanted), what
    for got, want in zip(values, map(np.asarray, wanted), strict=True):
        assert got.shape == want.shape, what
        if check_dtype and want.size:
            assert got.dtype == want.dtype, what
        loose = any(
            d in ("float16", "float32", "complex64") for d in (want.dtype.name, got.dtype.name)
        )
        narrow = any(getattr(a, "dtype", None) == np.float32 for a in arguments)
        np.testing.assert_allclose(
            got, want, 5e-3 if loose else 1e-6 if narrow else 1e-9, 1e-9, err_msg=what
        )
    return True


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", [n for n in NAMESAKES if n not in REASONS])
def test_namesakes_compute_the_same(name: str) -> None:
    special = name == "i0" or not (hasattr(np, name) or hasattr(np.linalg, name))
    accepted = 0
    with np.errstate(all="ignore"):
        for dtype in (
            "float64",
            "int64",
            "bool",
            "complex128",
            "float32",
            "int8",
            "uint8",
            "float16",
        )[: None if THOROUGH else 4]:
            if special and dtype in (*SMALL, "uint8"):
                continue
            for call in _calls_of(name)(dtype):
                accepted += _compare(name, call, not (special and dtype == "float32"))
    assert accepted, f"no call of {name} was compared"
