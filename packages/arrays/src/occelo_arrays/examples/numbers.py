"""Example calls of elementwise functions, of sums along axes, and of polynomials and statistics."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_arrays import functions as arrays
from occelo_arrays.examples.structure import make
from occelo_graph.examples.example import Example, draw
from occelo_graph.tensor import specify_shape

_NUMPY: Any = np
A = draw((-1.0, 1.0), (3, 4), salt=41)
B = draw((-1.0, 1.0), (3, 4), salt=42)
V = draw((-1.0, 1.0), (5,), salt=43)
W = draw((0.5, 1.5), (5,), salt=44)
M = draw((0.5, 1.5), (3, 4), salt=45)
I = draw("int", (3, 4), "int64", salt=46)  # noqa: E741
J = draw("nonzero int", (3, 4), "int64", salt=47)
C = draw((-1.0, 1.0), (3, 4), "complex128", salt=48)
SPECIAL = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 1.5, -2.5, 1e-300])
NEAR = np.array([1e-9, 0.1, 0.4, 1.0, -2.3])

_ONE = (
    "acos",
    "asin",
    "atan",
    "asinh",
    "atanh",
    "cbrt",
    "sinc",
    "fabs",
    "absolute",
    "degrees",
    "radians",
)
_ONE_WITHOUT_GRADIENT = ("signbit", "spacing", "rint", "fix", "logical_not", "isreal", "iscomplex")
_TWO = (
    "atan2",
    "copysign",
    "hypot",
    "logaddexp2",
    "fmax",
    "fmin",
    "heaviside",
    "multiply",
    "subtract",
    "divide",
)
_OF_INTEGERS = ("gcd", "lcm", "floor_divide", "remainder", "fmod", "true_divide", "float_power")
_LOGICAL = ("logical_and", "logical_or", "logical_xor")


def _second(name: str, reference: Any, *args: Any) -> Example:
    """An example of a function with two results, of which the second is taken."""

    def ours(*arguments: Any) -> Any:
        return getattr(arrays, name)(*arguments)[1]

    def theirs(*arguments: Any) -> Any:
        return reference(*arguments)[1]

    return Example(name, "arrays", ours, theirs, args)


def _plain(name: str, reference: Any, *args: Any) -> Example:
    """An example that is not differentiated."""
    every = tuple(range(len(args)))
    return Example(name, "arrays", getattr(arrays, name), reference, args, batched=every)


ELEMENTWISE: list[Example] = [
    *(make(name, getattr(np, name), A) for name in _ONE),
    make("acosh", np.arccosh, M + 1),
    *(_plain(name, getattr(np, name), A * 3) for name in _ONE_WITHOUT_GRADIENT),
    *(_plain(name, getattr(np, name), SPECIAL) for name in ("signbit", "cbrt", "spacing")),
    make("sinc", np.sinc, NEAR),
    *(make(name, getattr(np, name), A, B) for name in _TWO),
    *(
        _plain(name, getattr(np, name), SPECIAL, SPECIAL[::-1].copy())
        for name in ("copysign", "hypot", "nextafter")
    ),
    *(_plain(name, getattr(np, name), I, J) for name in _OF_INTEGERS),
    *(_plain(name, getattr(np, name), I, J - 3) for name in _LOGICAL),
    make("fmod", np.fmod, A * 5, M),
    _plain("left_shift", np.left_shift, I, J),
    _plain("right_shift", np.right_shift, I, J),
    _plain("right_shift", np.right_shift, I, np.full((3, 4), 70)),
    _plain("bitwise_count", np.bitwise_count, I),
    _plain("bitwise_invert", np.invert, I),
    Example("ldexp", "arrays", arrays.ldexp, np.ldexp, (A, I), gradient=(0,), batched=(0, 1)),
    _plain(
        "ldexp",
        np.ldexp,
        np.array([3.0, 1e-290, 1e-300, -1.0]),
        np.array([-1074, 1074, 2000, -2000]),
    ),
    make("frexp", lambda x: np.frexp(x)[0], M, ours=lambda x: arrays.frexp(x)[0]),
    _second("frexp", np.frexp, SPECIAL),
    make("modf", lambda x: np.modf(x)[0], A * 3, ours=lambda x: arrays.modf(x)[0]),
    make("negative", np.negative, A),
    make("positive", np.positive, A),
    make("around", np.around, I, decimals=-1),
    make("asarray", np.asarray, A),
    make(
        "astype", lambda x: x.astype("float32"), A * 0, ours=lambda x: arrays.astype(x, "float32")
    ),
    make("inner", np.inner, A, B),
    make("vdot", np.vdot, A, B),
    _plain("vdot", np.vdot, C, C[::-1].copy()),
    make("amax", np.amax, A, axis=1),
    make("amin", np.amin, A, axis=1),
    make("size", lambda x: x * x.size, A, ours=lambda x: x * arrays.size(x)),
    make("ndim", lambda x: x * 2, A, ours=lambda x: x * arrays.ndim(x)),
    make(
        "iscomplexobj",
        lambda x: x * 2,
        A,
        ours=lambda x: x * (1 + arrays.isrealobj(x) - arrays.iscomplexobj(x)),
    ),
]
ALONG_AXES: list[Example] = [
    make("packbits", np.packbits, I, axis=0),
    make("unpackbits", np.unpackbits, np.array([[1, 77], [200, 3]], "uint8"), axis=1, count=13),
    make("gradient", np.gradient, V),
    make("gradient", np.gradient, A, axis=1, edge_order=2),
    make(
        "gradient",
        lambda y, x: np.gradient(y, np.cumsum(x), edge_order=2),
        V,
        W,
        ours=lambda y, x: arrays.gradient(y, x.cumsum(), edge_order=2),
    ),
    make("trapezoid", np.trapezoid, A, dx=0.5, axis=0),
    make("trapezoid", np.trapezoid, V, W),
    make("ediff1d", np.ediff1d, A, to_begin=[1.0], to_end=2.0),
    make("unwrap", np.unwrap, A * 6),
    make(
        "cumulative_sum",
        lambda x: np.insert(np.cumsum(x, 1), 0, 0, 1),
        A,
        ours=lambda x: arrays.cumulative_sum(x, axis=1, include_initial=True),
    ),
    make(
        "cumulative_prod",
        lambda x: x.cumprod(0),
        M,
        ours=lambda x: arrays.cumulative_prod(x, axis=0),
    ),
    make(
        "cumlogsumexp",
        lambda x: np.logaddexp.accumulate(x, 1),
        A,
        ours=lambda x: arrays.cumlogsumexp(x, 1),
    ),
    make(
        "cumulative_logsumexp",
        lambda x: np.logaddexp.accumulate(x),
        V,
        ours=lambda x: arrays.cumulative_logsumexp(x, include_initial=True)[1:],
    ),
    make("nan_to_num", np.nan_to_num, SPECIAL[2:5], differentiated=()),
    make("nan_to_num", np.nan_to_num, SPECIAL[2:6], differentiated=(), nan=7.0, posinf=8.0),
    make(
        "nan_to_num", np.nan_to_num, np.array([complex(np.inf, np.nan), complex(1.0, -np.inf), 2j])
    ),
    make("cummax", np.maximum.accumulate, A, ours=lambda x: arrays.cummax(x, 0)),
    make("cummin", lambda x: np.minimum.accumulate(x, 1), A, ours=lambda x: arrays.cummin(x, 1)),
]
POLYNOMIALS: list[Example] = [
    make("polyval", np.polyval, V, A),
    make("polyadd", np.polyadd, V, W[:2]),
    make("polysub", np.polysub, V[:1], W),
    make("polymul", np.polymul, V, W[:3]),
    make(
        "polymul",
        np.polymul,
        np.array([0.0, 0.0, 1.5, -1.0]),
        np.array([0.0, 2.0]),
        ours=lambda p, q: arrays.polymul(p, q, trim_leading_zeros=True),
        differentiated=(),
        batched=False,
    ),
    make("polyder", np.polyder, V, m=2),
    make("polyint", np.polyint, V, m=2, k=[1.0, 2.0]),
    make("poly", np.poly, V, ours=lambda x: arrays.poly(specify_shape(x, (5,))), batched=False),
]
STATISTICS: list[Example] = [
    make("average", np.average, A, axis=1),
    make(
        "average",
        lambda x, w: np.average(x, 1, w),
        A,
        W[:4],
        ours=lambda x, w: arrays.average(x, 1, w),
    ),
    make("corrcoef", np.corrcoef, A),
    make("minmax", lambda x: np.max(x, 1), A, ours=lambda x: arrays.minmax(x, 1)[1], batched=False),
]
EXAMPLES: list[Example] = [*ELEMENTWISE, *ALONG_AXES, *POLYNOMIALS, *STATISTICS]
