"""Every elementwise function over every dtype, at special values, against NumPy and SciPy."""

from __future__ import annotations

import importlib.util
import os
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.tensors.type import TensorType
from occelo_link import make_linker
from occelo_testing.examples import SCALAR_FUNCTIONS
from occelo_testing.loop_programs import has_compiler

special = pytest.importorskip(
    "scipy.special", reason="the references of special functions are SciPy's"
)

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
DTYPES = (
    "bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128"
).split()
MIXED = [
    ("bool", "int8"),
    ("int8", "uint8"),
    ("uint8", "int8"),
    ("int64", "uint64"),
    ("uint64", "int8"),
    ("uint32", "int32"),
    ("float16", "int16"),
    ("int8", "float16"),
    ("float32", "int32"),
    ("uint64", "float32"),
    ("float16", "float32"),
    ("complex64", "float64"),
    ("float32", "complex64"),
    ("int64", "complex64"),
    ("bool", "float16"),
    ("bool", "complex128"),
    ("uint16", "bool"),
]
NUMPY = {
    "mul": "multiply",
    "sub": "subtract",
    "true_div": "true_divide",
    "int_div": "floor_divide",
    "mod": "remainder",
    "neg": "negative",
    "sqr": "square",
    "eq": "equal",
    "neq": "not_equal",
    "lt": "less",
    "le": "less_equal",
    "gt": "greater",
    "ge": "greater_equal",
    "and": "bitwise_and",
    "or": "bitwise_or",
    "xor": "bitwise_xor",
    "switch": "where",
    "pow": "power",
    "round_half_to_even": "rint",
    "supremum": "maximum",
}
SCIPY = {"i0"}
OWN: dict[str, Callable[..., Any]] = {
    "second": lambda x, y: np.broadcast_to(y, np.broadcast_shapes(x.shape, y.shape)),
    "identity": lambda x: x,
    "clip": lambda x, low, high: np.minimum(np.maximum(x, low), high),
    "sigmoid": lambda x: (
        1 / (1 + np.exp(-x)) if x.dtype.kind == "c" else special.expit(x.astype("float64"))
    ),
    "softplus": lambda x: (
        np.log1p(np.exp(x)) if x.dtype.kind == "c" else np.logaddexp(0.0, x.astype("float64"))
    ),
    "softsign": lambda x: np.true_divide(
        x, 1 + np.abs(np.asarray(x, np.result_type(x, "float16")))
    ),
    "complex": lambda x, y: _complex(x, y),
    "beta_by_scipy": lambda a, b: special.beta(a, b),
    "hyp1f1_by_scipy": lambda a, b, x: special.hyp1f1(a, b, x),
    "poch_by_scipy": lambda z, m: special.poch(z, m),
    "betaln_by_scipy": lambda a, b: special.betaln(a, b),
    "beta": lambda a, b: _beta(a, b),
    "betaln": lambda a, b: _betaln(a, b),
    "zeta_hurwitz": lambda x, q: special.zeta(x, q),
    "exponent": lambda x: np.frexp(x)[1],
    "nextafter_of_halves": np.nextafter,
    "expn": lambda n, x: special.expn(n.astype("int64"), x),
    **{
        name: lambda *a, function=function, i=i: getattr(special, function)(*a)[i]
        for function, names in {
            "sici": ("sine_integral", "cosine_integral"),
            "shichi": ("hyperbolic_sine_integral", "hyperbolic_cosine_integral"),
            "ellipj": ("jacobi_sn", "jacobi_cn", "jacobi_dn", "jacobi_am"),
        }.items()
        for i, name in enumerate(names)
    },
    # SciPy's are NaN where the square of a number overflows
    **{
        name: lambda x, i=i: np.where(np.abs(x) > 1e150, np.copysign(0.5, x), special.fresnel(x)[i])
        for i, name in enumerate(("fresnel_sine", "fresnel_cosine"))
    },
    **{
        name: lambda x, i=i: _airy(i, x)
        for i, name in enumerate(("airy_ai", "airy_ai_prime", "airy_bi", "airy_bi_prime"))
    },
}
# SciPy's Bessel functions are NaN at infinity, and of negative orders have no sign at 0
BESSEL_LIMITS = {"j0": 0.0, "j1": 0.0, "jv": 0.0, "ive": 0.0, "kve": 0.0, "i0": np.inf, "i1": np.inf, "iv": np.inf, "y0": 0.0, "y1": 0.0, "yv": 0.0, "spence": -np.inf}  # fmt: skip
OF_POSITIVE = ("kve", "spence", "y0", "y1", "yv")
AIRY_LIMITS = ((0.0, 0.0), (np.nan, 0.0), (0.0, np.inf), (np.nan, np.inf))
# their rules for dtypes are our own: SciPy's differ from version to version
OWN_DTYPE = {
    "sigmoid", "softplus", "complex", "angle", "beta", "betaln", "beta_by_scipy", "betaln_by_scipy", "poch_by_scipy",
    "hyp1f1", "hyp1f1_by_scipy",
    *(name for name in OWN if name.startswith(("airy", "fresnel", "jacobi")) or name.endswith("integral")),
    "spherical_jn", "spherical_yn", "spherical_in", "spherical_kn", "expn", "wofz",
}  # fmt: skip
# a zero's sign is not defined by NumPy, and depends on its loops
EITHER_ZERO = {"maximum", "minimum", "supremum", "clip", "fmax", "fmin", "entr", "spherical_yn"}
# digits that NumPy's or SciPy's own loops lose: relative errors of theirs
LOOSE = {
    "log1p": 1e-3,
    "logaddexp": 1e-4,
    "logaddexp2": 1e-3,
    "betaln": 1e-5,
    "softplus": 1e-4,
    "sigmoid": 1e-4,
}
LOOSE_IN_SINGLE = {"betainc": 1e-5, "betaincinv": 1e-5, "betainccinv": 1e-5, "exp2": 1e-5}
# C's rules for one infinite or undefined part are not followed: both parts may be NaN
UNDEFINED = {"exp", "exp2", "sin", "cos", "tan", "sinh", "cosh", "tanh", "sigmoid"}
# SciPy's loops for float32 give other limits than those for float64
NO_LIMITS = {"kv"}
NO_REFERENCE = {
    "reciprocal",  # of integers, which NumPy divides as such
    "log1mexp",
    # SciPy's lose digits, and have no limits; they are compared with mpmath
    "boxcox",
    "boxcox1p",
    "inv_boxcox",
    "inv_boxcox1p",
    "kl_div",
    "pseudo_huber",
    "round_half_away_from_zero",
    "tri_gamma",
    "polygamma",
    "kn",
    "gammainc_dk",
    "gammainc_dx",
    "betainc_da",
    "betainc_db",
    "psi_rise",
    "hyp2f1",
    "hyp2f1_da",
    "hyp2f1_dc",
    "sph_legendre_p",  # SciPy before 1.15 has none
}
TABLE = {name: ScalarFunction(name) for name in sorted(SCALAR_FUNCTIONS)}


def _beta(a: Any, b: Any) -> Any:
    """SciPy's, with its limit at infinite positive numbers."""
    value = special.beta(a, b)
    return np.where(np.isnan(value) & (a > 0) & (b > 0), 0.0, value)


def _betaln(a: Any, b: Any) -> Any:
    """SciPy's, with its limit at infinite positive numbers."""
    value = special.betaln(a, b)
    return np.where(np.isnan(value) & (a > 0) & (b > 0), -np.inf, value)


def _airy(i: int, x: Any) -> Any:
    """SciPy's, with limits at infinity."""
    value = special.airy(x)[i]
    limit = np.where(x < 0, *AIRY_LIMITS[i])
    return np.where(np.isinf(x), limit, value).astype(value.dtype)


def _complex(x: Any, y: Any) -> Any:
    made = np.empty(np.broadcast_shapes(x.shape, y.shape), "complex128")
    made.real, made.imag = x, y
    return made


def _bessel(name: str) -> Callable[..., Any]:
    def compare(*given: Any) -> Any:
        value = getattr(special, name)(*given)
        x = given[-1]
        order = given[0] if len(given) == 2 else np.asarray(float(name[1:] == "1"))
        whole = (order == np.floor(order)) & (name not in OF_POSITIVE)
        if name in ("iv", "ive"):
            pole = (x == 0) & (order < 0) & ~whole
            value = np.where(pole, np.copysign(np.inf, special.gamma(order + 1)), value)
        sign = np.where((x < 0) & (order % 2 == 1), -1.0, 1.0)
        end = np.isinf(x) & np.isfinite(order) & ((x > 0) | whole)
        return np.where(end, sign * BESSEL_LIMITS[name], value).astype(value.dtype)

    return compare


def reference(name: str) -> Callable[..., Any]:
    """What a function is compared with."""
    if name in OWN:
        return OWN[name]
    if name in BESSEL_LIMITS:
        return _bessel(name)
    found = None if name in SCIPY else getattr(np, NUMPY.get(name, name), None)
    return getattr(special, name) if found is None else found  # type: ignore[no-any-return]


def values(dtype: str) -> Any:
    """Numbers of a dtype among which are its special ones."""
    kind = np.dtype(dtype)
    if kind.kind == "b":
        return np.array([False, True])
    if kind.kind in "iu":
        limits = np.iinfo(kind)
        few = [limits.min, limits.max, limits.max - 1, limits.max // 2, 0, 1, 2, 5]
        return np.unique(np.array([*few, *([-1, -2, -7] if kind.kind == "i" else [])], kind))
    if kind.kind == "c":
        parts = [0.0, -0.0, np.nan, np.inf, -np.inf, 1.5, -0.5, 1e-3, 30.0]
        return np.array([complex(x, y) for x in parts for y in parts], kind)
    limits = np.finfo(kind)
    least = limits.smallest_subnormal
    ordinary = [1, -1, 0.5, -0.5, 2.5, -2.5, 3, 7.25, 0.1, -0.9, 30, -30, 1e-3]
    ends = [limits.max, limits.min, limits.tiny, -limits.tiny, least, -least, limits.eps]
    return np.array([0.0, -0.0, np.nan, np.inf, -np.inf, *ordinary, *ends], kind)


def combinations(name: str, count: int) -> list[tuple[str, ...]]:
    """The dtypes of the arguments that a function is tried with."""
    if name == "switch":
        mixed = [("float64", "int8", "uint8"), ("uint8", "float16", "int8")]
        return [("bool", d, d) for d in DTYPES] + mixed
    return [(d,) * count for d in DTYPES] + (MIXED if count == 2 else [])


def arguments(name: str, dtypes: Sequence[str]) -> list[Any]:
    """Vectors, each to be along a dimension of its own."""
    found = [values(d)[: 12 if len(dtypes) > 2 else None] for d in dtypes]
    if name == "pow" and found[1].dtype.kind == "i":
        # others are an error, which depends on the data
        found[1] = found[1][found[1] >= 0]
    if name.startswith("spherical_") or name == "expn":
        # SciPy takes as many steps as the order says, which is whole
        order = found[0].real.astype("float64")
        found[0] = found[0][(np.abs(order) <= 1000) & (order == np.trunc(order))]
    # SciPy's have no limits there; ours are compared with mpmath
    if name in ("iv", "ive"):
        found = [
            each[(each == 0) | ~(np.abs(each.astype("complex128")) < 1e-300)] for each in found
        ]
    if name == "poch":
        found = [each[~(np.abs(each.astype("complex128")) > 1e300)] for each in found]
    if name.startswith("hyp1f1"):
        # SciPy's does not return for some larger ones
        found = [each[np.abs(each.astype("complex128")) <= 100] for each in found]
    return found


def agree(name: str, dtypes: Sequence[str], given: Sequence[Any], found: Any) -> None:
    """Compare with the reference, element by element."""
    count = len(given)
    across = [a.reshape([-1 if i == j else 1 for j in range(count)]) for i, a in enumerate(given)]
    compare = reference(name)
    if compare is getattr(special, name, None) or name in BESSEL_LIMITS:
        across = [a if a.dtype.kind == "c" else a.astype(found.dtype) for a in across]
    with np.errstate(all="ignore"):
        expected = np.asarray(compare(*across))
        if name in OWN_DTYPE:
            expected = expected.astype(found.dtype)
    what = f"{name} of {', '.join(dtypes)}"
    assert found.dtype == expected.dtype, what
    assert found.shape == expected.shape, what
    magnified: Any = 1.0
    if name == "pow" and expected.dtype.kind == "c":
        # z**w is exp(w log(z)): the rounding of w log(z) is multiplied by its size
        with np.errstate(all="ignore"):
            exponent = across[1] * np.log(across[0].astype("complex128"))
        magnified = np.maximum(1.0, np.nan_to_num(np.abs(exponent), posinf=0.0))
    if name in ("beta", "iv", "ive", "poch"):
        magnified = 100.0  # SciPy's lose digits for large or small numbers
    wrong = ~_equal(name, found, expected, magnified)
    finite = [np.isfinite(np.broadcast_to(a, wrong.shape)) for a in across]
    if name in NO_LIMITS or (name == "softplus" and expected.dtype.kind == "c"):
        wrong &= np.logical_and.reduce(finite)
    if name in UNDEFINED and expected.dtype.kind == "c":
        wrong &= finite[0] | (np.isfinite(found) & ~np.isfinite(expected))
    if name == "pow" and expected.dtype.kind == "c":
        # NumPy's powers of infinite numbers are NaN, as are parts of those that overflow
        wrong &= np.logical_and.reduce(finite) & (~np.isnan(expected) | np.isfinite(found))
    if wrong.any():
        at = tuple(np.argwhere(wrong)[0])
        listed = ", ".join(str(np.broadcast_to(a, wrong.shape)[at]) for a in across)
        pytest.fail(f"{what}: of {listed} it is {found[at]} instead of {expected[at]}")


def _equal(name: str, found: Any, expected: Any, magnified: Any = 1.0) -> Any:
    if expected.dtype.kind in "biu":
        return found == expected
    limits = np.finfo(expected.dtype)
    rtol = max(8 * float(limits.eps), LOOSE.get(name, 0.0))
    if limits.eps > 1e-10:
        rtol = max(rtol, LOOSE_IN_SINGLE.get(name, 0.0))
    least = 2 * float(limits.smallest_subnormal)
    is_complex = expected.dtype.kind == "c"
    with np.errstate(all="ignore"):
        # the size of a complex64 number may be too large for float32
        size = np.abs(expected.astype("complex128") if is_complex else expected).astype("float64")
        if name in LOOSE:
            size = np.maximum(size, 1.0)
        tolerance = magnified * rtol * np.where(np.isfinite(size), size, 0.0) + least
        equal = np.ones(expected.shape, bool)
        pairs = [(found.real, expected.real), (found.imag, expected.imag)]
        for a, b in pairs if is_complex else [(found, expected)]:
            x, y = a.astype("float64"), b.astype("float64")
            near = (x == y) | (np.isnan(x) & np.isnan(y)) | (np.abs(x - y) <= tolerance)
            # the angle of an infinite number is a number
            near |= is_complex & (np.abs(x - y) <= rtol * np.abs(y))
            if not is_complex and name not in EITHER_ZERO:
                near &= (np.signbit(x) == np.signbit(y)) | np.isnan(y)
            equal &= near
    return equal


def programs(name: str) -> list[tuple[tuple[str, ...], list[Any], Any]]:
    """For each dtypes that a function takes: these, inputs, the output."""
    row = TABLE[name]
    count = row.arity or 2
    made: list[tuple[tuple[str, ...], list[Any], Any]] = []
    for dtypes in combinations(name, count):
        inputs = [TensorType(d, (None,)).make_variable() for d in dtypes]
        orders = [[*["x"] * i, 0, *["x"] * (count - 1 - i)] for i in range(count)]
        try:
            output = Elemwise(row)(
                *(ot.dimshuffle(v, o) for v, o in zip(inputs, orders, strict=True))
            )
        except TypeError:
            continue
        made.append((dtypes, inputs, output))
    assert made, name
    return made


NAMES = [name for name in TABLE if name not in NO_REFERENCE]


@pytest.mark.parametrize("name", NAMES)
def test_the_interpreter_gives_the_values_of_numpy(name: str) -> None:
    for dtypes, inputs, output in programs(name):
        given = arguments(name, dtypes)
        found = og.evaluate(output, dict(zip(inputs, given, strict=True)))
        assert output.type.dtype == found.dtype.name
        agree(name, dtypes, given, found)


def compiled(linker: str, name: str, chosen: slice, tmp_path: Any) -> None:
    """Compile one function of all dtypes as one graph, and compare."""
    cases = programs(name)[chosen]
    inputs = [v for _, own, _ in cases for v in own]
    with config.change_flags(compiledir=str(tmp_path)):
        fgraph = og.FunctionGraph(inputs, [output for *_, output in cases])
        vm, containers, results = make_linker(linker).accept(fgraph).make_thunk()
    given = [arguments(name, dtypes) for dtypes, *_ in cases]
    for container, array in zip(containers, [a for each in given for a in each], strict=True):
        container.value = array
    vm()
    for (dtypes, *_), own, result in zip(cases, given, results, strict=True):
        agree(name, dtypes, own, result.value)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("name", NAMES)
def test_machine_code_gives_the_values_of_numpy(name: str, tmp_path: Any) -> None:
    # elementary functions of complex numbers are long programs
    start = 0 if THOROUGH else NAMES.index(name) % 3
    compiled("native", name, slice(start, None, 1 if THOROUGH else 3), tmp_path)


@pytest.mark.skipif(not has_compiler(), reason="there is no C compiler")
@pytest.mark.parametrize("name", NAMES if THOROUGH else NAMES[:40:3])
def test_c_gives_the_values_of_numpy(name: str, tmp_path: Any) -> None:
    compiled("c", name, slice(None, None, 1 if THOROUGH else 4), tmp_path)


def test_rows_without_a_reference_are_known() -> None:
    # without the families, there are fewer rows
    assert set(TABLE) >= NO_REFERENCE or importlib.util.find_spec("occelo") is None
    for name in NAMES:
        assert callable(reference(name)), name


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_triangle_keeps_its_dtype(dtype: str) -> None:
    x = TensorType(dtype, (None, None)).make_variable()
    a = np.resize(values(dtype), (3, 4))
    for function, of_numpy in ((ot.triu, np.triu), (ot.tril, np.tril)):
        for k in (-1, 0, 2):
            found, expected = og.evaluate(function(x, k), {x: a}), of_numpy(a, k)
            assert found.dtype == expected.dtype
            np.testing.assert_array_equal(found, expected)
