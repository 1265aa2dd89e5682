"""Every class of PyTensor's ops has a conversion, or is listed here with what happens instead; and so the way back."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytensor
import pytensor.xtensor as px
import pytest
from pytensor.compile.mode import Mode
from pytensor.graph.op import Op as TheirOp
from pytensor.scalar.basic import ScalarOp

import occelo as oc
import occelo_pytensor as bridge
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_pytensor.conversions.scalars import SCALARS
from occelo_pytensor.equals.registry import NoEqual
from occelo_pytensor.registry import conversion_of
from occelo_testing.checks import symbolic
from occelo_testing.examples import EXAMPLES

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:`axes` should not be"),  # NumPy's, in PyTensor's rfft
]
ELSEWHERE = (
    "pytensor.link.",
    "pytensor.typed_list.",
    "pytensor.bin.",
    "pytensor.d3viz",
)
"""Modules of ops for other backends, and of lists, which are refused."""
NEED_MORE = ("pytensor.graph.rewriting.kanren", "pytensor.ipython")
"""Modules that need further packages; they have no ops."""
IN_C = "C code that PyTensor's rewriting puts in for its own C linker"
CALLED = {
    "PdbBreakpoint": "stops in Python's debugger",
    **dict.fromkeys(
        ("AddSparseDenseC", "CSMGradC", "MulSDCSC", "MulSDCSR", "MulSVCSR", "SamplingDotCSR"), IN_C
    ),
    **dict.fromkeys(("StructuredAddSparseDenseVectorCSR", "UsmmCscDense"), IN_C),
    "FromFunctionOp": "a user's Python function",
}
"""Classes whose own Python code runs, and why."""
BASES = {
    "AbstractRNGConstructor", "Output", "RNGConsumerOp", "ScipyScalarWrapperOp", "ScipyVectorWrapperOp",
    "ScipyWrapperOp", "SolveBase", "Stack", "__ComparisonOpSparseDense", "__ComparisonOpSparseSparse", "TypeCastingOp", "XTypeCastOp", "_NoPythonOp",
}  # fmt: skip
"""Base classes of other ops, of which no graph has nodes."""
SCALAR_BASES = {
    "BinaryBitOp", "BinaryScalarOp", "FixedLogicalComparison", "LogicalComparison", "ScalarOp",
    "UnaryBitOp", "UnaryScalarOp",
}  # fmt: skip
LOOPS = {"Composite", "Grad2F1Loop", "ScalarInnerGraphOp", "ScalarLoop"}
"""Scalar ops with inner graphs, which are converted."""


def _subclasses(kind: type) -> Iterator[type]:
    for each in kind.__subclasses__():
        yield each
        yield from _subclasses(each)


def _theirs() -> list[Any]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for module in pkgutil.walk_packages(pytensor.__path__, "pytensor."):
            # those of `misc` are programs, which run when they are imported
            if module.name.startswith((*ELSEWHERE, "pytensor.misc")):
                continue
            if module.name not in NEED_MORE:
                importlib.import_module(module.name)
    return [
        c
        for c in dict.fromkeys(_subclasses(TheirOp))
        if c.__module__.startswith("pytensor.") and not c.__module__.startswith(ELSEWHERE)
    ]


def test_every_op_of_pytensor_is_converted_or_called() -> None:
    classes = _theirs()
    assert len(classes) > 300
    ops = [c for c in classes if not issubclass(c, ScalarOp)]
    without = {
        c.__name__
        for c in ops
        if not inspect.isabstract(c) and conversion_of(object.__new__(c)) is None
    }
    assert without - BASES == set(CALLED)
    scalars = {c.__name__ for c in classes if issubclass(c, ScalarOp)}
    assert scalars - SCALARS.keys() - LOOPS <= SCALAR_BASES


WITHOUT_EQUAL = {
    "ArgOrderStatistics": "decomposes into a sort where its rows are static only",
    "LinearRecurrence": "loops of one formula",
    "LexicographicOrder": "PyTensor sorts by one key",
    "Iterate": "loops without traces or without a bound",
    "Logm": "SciPy's function", "Sqrtm": "SciPy's function",
    "MakeList": "typed lists",
    "Scatter": "PyTensor writes by sets and sums only",
    "SlidingWindow": "views of windows",
    "SolveBanded": "bands", "SolvePositiveBanded": "bands", "SolveToeplitz": "Toeplitz systems",
    "SparseSLogDet": "sparse factorizations", "SparseSolve": "sparse factorizations",
    "SortedOrder": "orders by keys of random numbers",
    "SortedSchur": "PyTensor's does not say how many eigenvalues come first",
    "QRFactors": "LAPACK's reflectors",
    "BalancingScale": "SciPy's balancing of pencils",
    "CumOp": "running maxima and minima",
    "WishartRV": "draws",
    "TruncatedNormalRV": "draws",
    "SearchSorted": "PyTensor searches one row",
    "FFT": "PyTensor transforms complex numbers of 128 bits",
    "MvNormalRV": "draws", "ChoiceRV": "draws", "PermutationRV": "draws",
}  # fmt: skip
"""Classes of ops of Occelo without an equal in PyTensor and without a decomposition, and why."""
WITHOUT_FUNCTION = {
    # PyTensor has no such functions
    "copysign", "exponent", "gcd", "lcm", "ldexp", "left_shift", "nextafter", "right_shift", "signbit", "spacing",
    "airy_ai", "airy_ai_prime", "airy_bi", "airy_bi_prime", "beta_by_scipy", "betaincc", "betainccinv",
    "betaln_by_scipy", "binom", "cosine_integral", "dawsn", "ellipe", "ellipeinc", "ellipk", "ellipkinc", "ellipkm1",
    "elliprd", "elliprf", "erfi", "exp1", "expi", "expn", "exprel", "fresnel_cosine", "fresnel_sine", "hyp1f1", "gammasgn",
    "hyperbolic_cosine_integral", "hyperbolic_sine_integral", "jacobi_am", "jacobi_cn", "jacobi_dn", "jacobi_sn",
    "log_ndtr", "ndtri", "poch_by_scipy", "rgamma", "sine_integral", "spence", "spherical_in", "spherical_jn",
    "spherical_kn", "spherical_yn", "sph_legendre_p", "wofz", "y0", "y1", "yv", "zeta_hurwitz", "zetac",
    # parts of draws with keys
    "binomial_accepted", "gamma_accepted", "hypergeometric_accepted", "poisson_accepted", "vonmises_accepted",
}  # fmt: skip
"""Elementwise functions of Occelo without an equal in PyTensor."""


@pytest.mark.sampled(30)
@pytest.mark.parametrize("position", range(len(EXAMPLES)))
def test_every_op_goes_to_pytensor_or_is_refused(position: int) -> None:
    example = EXAMPLES[position]
    try:
        inputs, output = symbolic(example)
    except ImportError as error:
        pytest.skip(f"the example needs a package: {error}")
    try:
        theirs, (converted,) = bridge.to_pytensor([output], inputs)
    except NoEqual as error:
        op = error.op
        name = op.scalar_op.name if isinstance(op, Elemwise) else type(op).__name__
        assert name in WITHOUT_EQUAL or name in WITHOUT_FUNCTION, name
        return
    f = pytensor.function(theirs, converted, mode=Mode("py", None), on_unused_input="ignore")
    with np.errstate(all="ignore"):
        found = f(*example.arguments)
        wanted = oc.function(inputs, output, on_unused_input="ignore", mode="py")(
            *example.arguments
        )
    assert found.dtype == wanted.dtype
    single = wanted.dtype.name in ("float16", "float32", "complex64")
    if wanted.size:  # the traces of no steps have no lengths in PyTensor
        np.testing.assert_allclose(found, wanted, rtol=1e-4 if single else 1e-9, atol=1e-12)


def test_named_dimensions_are_converted() -> None:
    x = px.xtensor("x", dims=("a", "b"), shape=(2, 3))
    y = (px.math.exp(x) * x.mean("b")).sum("a").rename({"b": "c"}).isel(c=slice(1, None))
    values = np.arange(6.0).reshape(2, 3)
    wanted = pytensor.function([x], y.values, mode="FAST_COMPILE")(values)
    np.testing.assert_allclose(pytensor.function([x], y, mode="OCCELO")(values), wanted, rtol=1e-12)
    ours, converted = bridge.from_pytensor(y.values, [x])
    np.testing.assert_allclose(oc.function(ours, converted)(values), wanted, rtol=1e-12)
