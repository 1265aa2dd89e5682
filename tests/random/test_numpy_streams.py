"""Draws with NumPy's generators in machine code of our own: the numbers and the states of `numpy.random.Generator`, bit by bit."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import pytest

from occelo_compile import function
from occelo_graph import tensor as ot
from occelo_link.capabilities import reason_for_python
from occelo_random import functions as random

BIT_GENERATORS = ("PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937")
LINKERS = ("native", "c")

# the method, and its parameters as scalars: several branches of each algorithm
CASES: dict[str, list[tuple[Any, ...]]] = {
    "chisquare": [(3.0,), (0.5,), (2.0,)],
    "exponential": [(1.5,), (0.0,)],
    "f": [(2.0, 5.0)],
    "gamma": [(2.5, 2.0), (0.3, 1.0), (1.0, 3.0), (0.0, 1.0)],
    "geometric": [(0.2,), (0.7,), (1.0,), (1e-12,)],
    "gumbel": [(0.5, 2.0)],
    "laplace": [(-1.0, 2.0)],
    "logistic": [(0.5, 2.0)],
    "lognormal": [(0.5, 2.0)],
    "normal": [(0.0, 1.0), (-1.5, 2.0), (np.inf, 1.0), (0.0, np.nan)],
    "poisson": [(4.0,), (25.0,), (0.0,), (1e9,)],
    "power": [(2.0,)],
    "rayleigh": [(2.0,)],
    "triangular": [(0.0, 0.3, 1.0)],
    "uniform": [(0.0, 1.0), (-2.0, 5.0)],
    "weibull": [(1.5,), (0.0,)],
}
# parameters that broadcast to (3, 4)
COLUMN, ROW = np.array([[0.25], [1.0], [3.5]]), np.array([0.5, 2.0, 7.0, 30.0])
BATCHES: dict[str, tuple[Any, ...]] = {
    "chisquare": (COLUMN * ROW,),
    "exponential": (ROW,),
    "f": (COLUMN, ROW),
    "gamma": (COLUMN, ROW),
    "geometric": (ROW / 40,),
    "gumbel": (COLUMN, ROW),
    "laplace": (COLUMN, ROW),
    "logistic": (COLUMN, ROW),
    "lognormal": (COLUMN, ROW / 10),
    "normal": (COLUMN, ROW),
    "poisson": (COLUMN * ROW - 0.125,),
    "power": (ROW,),
    "rayleigh": (ROW,),
    "triangular": (-COLUMN, ROW, ROW + COLUMN),
    "uniform": (-COLUMN, ROW),
    "weibull": (COLUMN - 0.25,),
}


def _generator(name: str, seed: int = 3) -> Any:
    generator = np.random.Generator(getattr(np.random, name)(seed))
    generator.integers(0, 5, dtype="int32")  # leaves half a word behind
    return generator


def _state(generator: Any) -> Any:
    """The state, with its arrays as lists."""

    def plain(value: Any) -> Any:
        if isinstance(value, dict):
            return {k: plain(value[k]) for k in cast("dict[str, Any]", value)}
        return value.tolist() if isinstance(value, np.ndarray) else value

    return plain(generator.bit_generator.state)


def _drawing(linker: str, law: str, parameters: Any, size: Any, **options: Any) -> Any:
    """A compiled function of a generator and the parameters, which gives the next generator and the draw."""
    rng = random.rng("rng")
    given = [ot.as_tensor_variable(p).type() for p in parameters]
    following, draw = getattr(rng, law)(*given, size=size, **options)
    drawing = function([rng, *given], [following, draw], mode=linker)
    assert drawing.vm.python_nodes == []
    return drawing


def _compiled(inputs: Any, outputs: Any, **options: Any) -> Any:
    return cast("Any", function(inputs, outputs, **options))


def _equal(found: Any, expected: Any) -> None:
    assert found.dtype == expected.dtype
    assert found.shape == expected.shape
    assert found.tobytes() == expected.tobytes()


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("law", CASES)
def test_bits_and_states(law: str, linker: str) -> None:
    size = ot.lscalar("n")
    rng = random.rng("rng")
    parameters = [ot.dscalar(f"p{k}") for k in range(len(CASES[law][0]))]
    following, draw = getattr(rng, law)(*parameters, size=(size,))
    drawing = function([rng, size, *parameters], [following, draw], mode=linker)
    assert drawing.vm.python_nodes == []
    for name in BIT_GENERATORS:
        for case in CASES[law]:
            ours, theirs = _generator(name), _generator(name)
            for n in (1, 0, 7, 64, 3000, 2):
                before = _state(ours)
                after, draws = drawing(ours, n, *case)
                expected = getattr(theirs, law)(*case, size=n)
                _equal(draws, expected)
                assert _state(after) == _state(theirs), (name, case, n)
                assert _state(ours) == before
                ours = after


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("law", BATCHES)
def test_batches_of_parameters(law: str, linker: str) -> None:
    parameters = BATCHES[law]
    shape = np.broadcast_shapes(*(np.shape(p) for p in parameters))
    for size in (None, (2, *shape)):
        drawing = _drawing(linker, law, parameters, size)
        for name in BIT_GENERATORS:
            ours, theirs = _generator(name), _generator(name)
            for _ in range(40):
                ours, draws = drawing(ours, *parameters)
                _equal(draws, getattr(theirs, law)(*parameters, size=size))
            assert _state(ours) == _state(theirs)


BOUNDS = {
    "int64": [(0, 11), (-5, 2**31), (0, 2**32), (0, 2**32 + 1), (-(2**63), 2**63 - 1), (3, 4), (0, 2**62 + 1)],
    "uint64": [(0, 11), (0, 2**63 - 1)],
    "int32": [(-7, 100), (-(2**31), 2**31), (0, 2**30 + 1), (4, 5)],
    "uint32": [(0, 2**32), (1, 2**31 + 2)],
    "int16": [(-300, 300), (-(2**15), 2**15)],
    "uint16": [(0, 2**16), (7, 8)],
    "int8": [(-100, 27), (-128, 128)],
    "uint8": [(0, 256), (0, 130)],
}  # fmt: skip


@pytest.mark.parametrize("linker", LINKERS)
@pytest.mark.parametrize("dtype", BOUNDS)
def test_integers(dtype: str, linker: str) -> None:
    rng, low, high, n = random.rng("rng"), ot.lscalar("low"), ot.lscalar("high"), ot.lscalar("n")
    following, draw = rng.integers(low, high, size=(n,), dtype=dtype)
    drawing = function([rng, low, high, n], [following, draw], mode=linker)
    assert drawing.vm.python_nodes == []
    for name in BIT_GENERATORS:
        ours, theirs = _generator(name), _generator(name)
        for bounds in BOUNDS[dtype]:
            for count in (0, 1, 5, 999, 2000):
                ours, draws = drawing(ours, *bounds, count)
                _equal(draws, theirs.integers(*bounds, size=count, dtype=dtype))
                assert _state(ours) == _state(theirs), (name, bounds, count)


@pytest.mark.parametrize("linker", LINKERS)
def test_integers_between_arrays(linker: str) -> None:
    low, high = np.array([[0], [-7]]), np.array([1, 10, 2**33, 3, 2**40])
    drawing = _drawing(linker, "integers", (low, high), None)
    for name in BIT_GENERATORS:
        ours, theirs = _generator(name), _generator(name)
        for _ in range(30):
            ours, draws = drawing(ours, low, high)
            _equal(draws, theirs.integers(low, high))
        assert _state(ours) == _state(theirs)


def test_other_dtypes_are_cast_from_the_same_numbers() -> None:
    for law, parameters, dtype in (
        ("normal", (0.5, 2.0), "float32"),
        ("poisson", (4.0,), "int32"),
        ("poisson", (4.0,), "float64"),
    ):
        drawing = _drawing("native", law, parameters, (50,), dtype=dtype)
        ours, theirs = _generator("PCG64"), _generator("PCG64")
        after, draws = drawing(ours, *parameters)
        _equal(draws, getattr(theirs, law)(*parameters, size=50).astype(dtype))
        assert _state(after) == _state(theirs)


def test_parameters_of_other_dtypes_and_strides() -> None:
    rng = random.rng("rng")
    loc, scale = ot.TensorType("int8", (None,))("loc"), ot.fmatrix("scale")
    following, draw = rng.normal(loc, scale)
    drawing = function([rng, loc, scale], [following, draw], mode="native")
    assert drawing.vm.python_nodes == []
    means = np.arange(6, dtype="int8")[::-2]
    for scales in (
        np.ones((4, 1), "float32"),  # broadcast at run time
        np.arange(24.0, dtype="float32").reshape(6, 4)[:, ::-1][:, :3],
        np.ones((0, 3), "float32"),
    ):
        _, draws = drawing(_generator("PCG64"), means, scales)
        _equal(draws, _generator("PCG64").normal(means, scales))
    with pytest.raises(ValueError, match="broadcast"):
        drawing(_generator("PCG64"), means, np.ones((4, 2), "float32"))


def test_parameters_of_one_element() -> None:
    rng = random.rng("rng")
    loc, scale = ot.TensorType("float64", (1, 1))("loc"), ot.TensorType("float64", (1,))("scale")
    drawing = _compiled([rng, loc, scale], rng.normal(loc, scale, size=(2, 3))[1], mode="native")
    _equal(
        drawing(_generator("PCG64"), [[1.0]], [2.0]), _generator("PCG64").normal(1.0, 2.0, (2, 3))
    )


def test_wrong_parameters_raise_numpys_errors() -> None:
    cases: list[tuple[str, tuple[Any, ...]]] = [
        ("normal", (0.0, -1.0)),
        ("normal", (0.0, -0.0)),
        ("uniform", (1.0, 0.0)),
        ("uniform", (0.0, np.inf)),
        ("gamma", (-1.0, 1.0)),
        ("poisson", (-1.0,)),
        ("poisson", (np.nan,)),
        ("poisson", (1e30,)),
        ("geometric", (0.0,)),
        ("triangular", (0.0, 2.0, 1.0)),
        ("chisquare", (0.0,)),
        ("integers", (3, 3)),
    ]
    for law, parameters in cases:
        drawing = _drawing("native", law, parameters, (3,))
        with pytest.raises((ValueError, OverflowError)) as expected:
            getattr(_generator("PCG64"), law)(*parameters, size=3)
        for n in range(2):  # the first call, and the entry of later ones
            with pytest.raises(expected.type, match=r".") as found:
                drawing(_generator("PCG64"), *parameters)
            assert str(expected.value) in str(found.value), n
    small = _drawing("native", "integers", (0, 300), (3,), dtype="int8")
    with pytest.raises(ValueError, match="out of bounds"):
        small(_generator("PCG64"), 0, 300)
    n, rng = ot.lscalar("n"), random.rng("rng")
    drawing = _compiled([rng, n], rng.normal(size=(n,))[1], mode="native")
    with pytest.raises(ValueError, match="negative"):
        drawing(_generator("PCG64"), -1)


def test_several_draws_and_updates() -> None:
    for name in BIT_GENERATORS:
        rng = random.shared_rng(_generator(name))
        first, x = rng.normal(0.0, 1.0, size=5)
        second, k = first.integers(0, 10, size=3)
        third, y = second.exponential(x**2)
        again = rng.uniform(size=2)[1]
        with pytest.warns(UserWarning, match="same state"):  # of x and again
            drawing = function([], [x, k, y, again], updates={rng: third}, mode="native")
        theirs = _generator(name)
        for _ in range(3):
            found = drawing()
            _equal(found[3], _copy(theirs).uniform(size=2))
            numbers = theirs.normal(size=5)
            _equal(found[0], numbers)
            _equal(found[1], theirs.integers(0, 10, size=3))
            _equal(found[2], theirs.exponential(numbers**2))
            assert _state(rng.get_value()) == _state(theirs)


def _copy(generator: Any) -> Any:
    other = np.random.Generator(type(generator.bit_generator)(0))
    other.bit_generator.state = generator.bit_generator.state
    return other


def test_what_numpy_draws_has_a_reason() -> None:
    rng = random.rng("rng")
    for law, parameters in (("binomial", (5, 0.5)), ("vonmises", (0.0, 1.0)), ("dirichlet", (np.ones(3),))):  # fmt: skip
        following, draw = getattr(rng, law)(*parameters)
        assert reason_for_python(draw.owner)
        drawing = function([rng], [following, draw], mode="native")
        assert [node.op for node in drawing.vm.python_nodes] == [draw.owner.op]


def test_ten_million_draws() -> None:
    for law in ("normal", "exponential"):
        drawing = _drawing("native", law, (), (10**6,))
        ours, theirs = _generator("PCG64"), _generator("PCG64")
        for _ in range(10):
            ours, draws = drawing(ours)
            assert (draws == getattr(theirs, law)(size=10**6)).all()
        assert _state(ours) == _state(theirs)
