"""Functions of core dimensions: products, linear algebra, convolutions, random numbers, and batches of graphs."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg
import xarray as xr

import occelo_compile as oc
import occelo_graph as og
from occelo_dims import (
    apply_ufunc,
    as_xtensor,
    dot,
    linalg,
    math,
    random,
    signal,
    vectorize_graph,
    xtensor,
)
from occelo_graph import tensor as ot
from occelo_linalg import functions as plain_linalg
from occelo_random import functions as plain_random
from occelo_testing.beside_xarray import array, compare, evaluated


@pytest.mark.parametrize(
    "dims", ["ab,bc", "ab,ab", "ab,ba", "a,b", "abc,cb", "a,a", ",a", "ab,b", "ade,ea"]
)
@pytest.mark.parametrize("dim", [None, ..., "a", ["a", "b"]], ids=str)
def test_dot(dims: str, dim: Any) -> None:
    x, y = (array(d, seed=i) for i, d in enumerate(dims.split(",")))
    wanted = {"a", "b"} if isinstance(dim, list) else {dim} - {None, ...}
    if not wanted <= {*x.dims, *y.dims}:
        with pytest.raises(ValueError, match="dot: neither"):
            dot(as_xtensor(x), as_xtensor(y), dim)
        return
    for static in (False, True):
        compare(
            lambda x, y: dot(x, y, dim),
            (x, y),
            lambda x, y: xr.dot(x, y, dim=dim),
            static=static,
            rtol=1e-10,
        )
    compare(lambda x, y: x.dot(y), (x, y), rtol=1e-10)
    compare(lambda x, y: x @ y, (x, y), rtol=1e-10)


def test_dot_of_other_dtypes() -> None:
    for dtype in ("float32", "int64", "int8"):
        compare(lambda x, y: x.dot(y), (array("ab", dtype), array("bc", dtype)), rtol=1e-5)
    x, y = xtensor("x", dims="a", shape=(2,)), xtensor("y", dims="a", shape=(3,))
    with pytest.raises(ValueError, match=r"Dimension 'a' has length 2 in x .* and 3 in y"):
        dot(x, y)


def _positive(*batch: int) -> Any:
    x = np.random.default_rng(1).normal(size=(*batch, 3, 3))
    return x @ x.swapaxes(-1, -2) + 3 * np.eye(3)


def test_cholesky_inverse_and_determinant() -> None:
    value = _positive(2)
    for order in (("z", "r", "c"), ("r", "z", "c"), ("c", "r", "z")):
        x = xr.DataArray(value, dims=("z", "r", "c")).transpose(*order)
        for lower in (True, False):
            found = linalg.cholesky(as_xtensor(x), lower, dims=("r", "c"))
            assert found.dims == ("z", "r", "c")
            factor = np.linalg.cholesky(value)
            np.testing.assert_allclose(
                evaluated(found, {}), factor if lower else factor.swapaxes(1, 2)
            )
        inverse = linalg.inv(as_xtensor(x), dims=("r", "c"))
        assert inverse.dims == ("z", "c", "r")
        np.testing.assert_allclose(evaluated(inverse, {}), np.linalg.inv(value))
        determinant = linalg.det(as_xtensor(x), dims=("r", "c"))
        assert determinant.dims == ("z",)
        np.testing.assert_allclose(evaluated(determinant, {}), np.linalg.det(value))


def test_solve() -> None:
    a = xr.DataArray(_positive(2), dims=("z", "r", "c"))
    vectors = xr.DataArray(np.arange(6.0).reshape(3, 2), dims=("r", "z"))
    many = xr.DataArray(np.arange(12.0).reshape(3, 4), dims=("r", "n"))
    one = linalg.solve(as_xtensor(a), as_xtensor(vectors), dims=("r", "c"))
    assert one.dims == ("z", "c")
    wanted = np.stack([scipy.linalg.solve(a[i].values, vectors[:, i].values) for i in range(2)])
    np.testing.assert_allclose(evaluated(one, {}), wanted)
    for dims in (("r", "c", "n"), ("n", "c", "r")):
        found = linalg.solve(
            as_xtensor(a.transpose("c", "z", "r")), as_xtensor(many.T), dims=dims, assume_a="pos"
        )
        assert found.dims == ("z", "c", "n")
        np.testing.assert_allclose(evaluated(found, {}), np.linalg.solve(a.values, many.values))
    # equations along the other dimension: the transposed matrices
    other = linalg.solve(as_xtensor(a), as_xtensor(many.rename(r="c")), dims=("r", "c", "n"))
    assert other.dims == ("z", "r", "n")
    np.testing.assert_allclose(
        evaluated(other, {}), np.linalg.solve(a.values.swapaxes(1, 2), many.values)
    )
    slope = og.grad(
        linalg.solve(as_xtensor(a), xtensor("v", dims="r"), ("r", "c")).sum(),
        xtensor("u", dims="q"),
        disconnected_inputs="ignore",
    )
    assert slope.dims == ("q",)


LINALG: dict[str, tuple[Any, str]] = {
    "one dim": (lambda x, v: linalg.cholesky(x, dims=("r",)), "cholesky needs two dims"),
    "unknown": (lambda x, v: linalg.cholesky(x, dims=("r", "z")), "cholesky: x .* lacks the core dimension 'z'"),
    "inv": (lambda x, v: linalg.inv(x, dims="r"), "inv needs two dims"),
    "det": (lambda x, v: linalg.det(x, dims=("r", "s")), "lacks the core dimension 's'"),
    "solve one": (lambda x, v: linalg.solve(x, v, dims=("r",)), "solve needs two dims"),
    "solve strange": (lambda x, v: linalg.solve(x, v, dims=("r", "z")), "must have two of"),
    "solve both": (lambda x, v: linalg.solve(x, x, dims=("r", "c")), "must have two of"),
    "solve columns": (lambda x, v: linalg.solve(x, v, dims=("r", "c", "n")), "and the third one"),
    "lengths": (lambda x, v: linalg.solve(x, xtensor("w", dims="r", shape=(4,)), dims=("r", "c")), "Dimension 'r' has length 3 in x .* and 4 in w"),
    "convolve": (lambda x, v: signal.convolve1d(v, v, dims=("r", "r")), "must differ"),
    "convolve two": (lambda x, v: signal.convolve1d(v, v, dims=("r",)), "needs two dims"),
    "a core dimension of another": (lambda x, v: signal.convolve1d(v, xtensor("k", dims=("r", "s")), dims=("r", "s")), "is a core dimension of another argument only"),
    "arguments": (lambda x, v: apply_ufunc(ot.exp, x, input_core_dims=[]), "1 arguments, and core dimensions of 0"),
    "results": (lambda x, v: apply_ufunc(ot.exp, x, output_core_dims=[["k"]]), "3 dims"),
}  # fmt: skip


@pytest.mark.parametrize("case", LINALG)
def test_wrong_core_dimensions(case: str) -> None:
    call, text = LINALG[case]
    with pytest.raises(ValueError, match=text):
        call(xtensor("x", dims=("r", "c"), shape=(3, 3)), xtensor("v", dims="r", shape=(3,)))


@pytest.mark.parametrize("mode", ["full", "valid", "same"])
def test_convolve(mode: Any) -> None:
    x, kernel = array("abc"), array("bd").rename(b="k").isel(d=0)
    made = signal.convolve1d(as_xtensor(x), as_xtensor(kernel), mode, dims=("c", "k"))
    assert made.dims == ("a", "b", "c")
    wanted = np.apply_along_axis(lambda row: np.convolve(row, kernel.values, mode), 2, x.values)
    np.testing.assert_allclose(evaluated(made, {}), wanted)
    moved = signal.convolve1d(as_xtensor(x), as_xtensor(kernel), mode, dims=("a", "k"))
    assert moved.dims == ("b", "c", "a")


def test_apply_ufunc() -> None:
    x, y = array("abc"), array("cb", seed=1)
    compare(
        lambda x, y: apply_ufunc(
            lambda p, q: (p * q).sum(-1), x, y, input_core_dims=[["c"], ["c"]]
        ),
        (x, y),
        lambda x, y: xr.apply_ufunc(
            lambda p, q: (p * q).sum(-1), x, y, input_core_dims=[["c"], ["c"]]
        ),
    )
    values, vectors = apply_ufunc(
        plain_linalg.eigh,
        as_xtensor(xr.DataArray(_positive(2), dims=("z", "r", "c"))),
        input_core_dims=[["r", "c"]],
        output_core_dims=[["k"], ["r", "k"]],
    )
    assert values.dims == ("z", "k")
    assert vectors.dims == ("z", "r", "k")
    np.testing.assert_allclose(evaluated(values, {}), np.linalg.eigvalsh(_positive(2)))
    with pytest.raises(ValueError, match="2 results, and 1 output_core_dims"):
        apply_ufunc(
            plain_linalg.eigh, as_xtensor(_positive(), ("r", "c")), input_core_dims=[["r", "c"]]
        )


KEY = plain_random.key(5)
SCALARS: dict[str, tuple[float, ...]] = {
    "bernoulli": (0.3,), "beta": (2.0, 3.0), "betabinom": (5, 2.0, 3.0), "binomial": (5, 0.3), "cauchy": (1.0, 2.0), "chisquare": (3.0,),
    "exponential": (2.0,), "gamma": (2.0, 3.0), "gengamma": (2.0, 1.5, 3.0), "geometric": (0.3,), "gumbel": (1.0, 2.0), "halfcauchy": (0.0, 2.0),
    "halfnormal": (0.0, 2.0), "hypergeometric": (5, 6, 4), "integers": (1, 9), "invgamma": (3.0, 2.0), "laplace": (1.0, 2.0), "logistic": (1.0, 2.0),
    "lognormal": (0.5, 0.3), "nbinom": (4, 0.3), "negative_binomial": (4, 0.3), "normal": (1.0, 2.0), "pareto": (3.0, 2.0), "poisson": (4.0,),
    "rayleigh": (2.0,), "standard_normal": (), "t": (4.0, 1.0, 2.0), "triangular": (0.0, 1.0, 3.0), "truncexpon": (2.0, 0.0, 1.0), "uniform": (1.0, 2.0),
    "vonmises": (0.5, 2.0), "wald": (1.0, 2.0), "weibull": (2.0,),
}  # fmt: skip


@pytest.mark.sampled(6)
@pytest.mark.parametrize("name", SCALARS)
def test_draws_are_those_of_tensors(name: str) -> None:
    params = SCALARS[name]
    own, plain = getattr(random, name), getattr(plain_random, name)
    drawn = own(*params, extra_dims={"s": 2, "t": 3}, rng=KEY)
    assert drawn.dims == ("s", "t")
    np.testing.assert_array_equal(
        evaluated(drawn, {}), og.evaluate(plain(KEY, *params, size=(2, 3)), {})
    )
    generator = np.random.default_rng(3)
    rng = random.rng("rng")
    following, made = getattr(rng, name)(*params, extra_dims={"s": 4})
    assert made.dims == ("s",)
    first = og.evaluate(made.values, {rng.generator: generator})
    tensor_rng = plain_random.rng()
    second = og.evaluate(
        getattr(tensor_rng, name)(*params, size=(4,))[1], {tensor_rng: np.random.default_rng(3)}
    )
    np.testing.assert_array_equal(first, second)
    assert isinstance(following, random.XRandomGenerator)


def test_parameters_are_matched() -> None:
    loc, scale = array("ab"), abs(array("cb"))
    made = random.normal(as_xtensor(loc), as_xtensor(scale), extra_dims={"s": 2}, rng=KEY)
    assert made.dims == ("s", "a", "b", "c")
    plain = plain_random.normal(
        KEY, loc.values[:, :, None], scale.values.T[None], size=(2, 2, 3, 4)
    )
    np.testing.assert_array_equal(evaluated(made, {}), og.evaluate(plain, {}))
    free = xtensor("free", dims=("a", "b"))
    again = random.normal(free, as_xtensor(scale), extra_dims={"s": ot.constant(2)}, rng=KEY)
    np.testing.assert_array_equal(evaluated(again, {free: loc.values}), evaluated(made, {}))
    p = abs(array("ab"))
    p = p / p.sum("b")
    for name, args, dims in [
        ("categorical", (p,), ("s", "a")),
        ("dirichlet", (p + 1,), ("s", "a", "b")),
        ("multinomial", (5, p), ("s", "a", "b")),
    ]:
        params = [as_xtensor(x) if isinstance(x, xr.DataArray) else x for x in args]
        found = getattr(random, name)(*params, core_dims="b", extra_dims={"s": 3}, rng=KEY)
        assert found.dims == dims
        values = [x.values if isinstance(x, xr.DataArray) else x for x in args]
        np.testing.assert_array_equal(
            evaluated(found, {}),
            og.evaluate(getattr(plain_random, name)(KEY, *values, size=(3, 2)), {}),
        )
    cov = as_xtensor(_positive(), ("k", "l"))
    for order in (("k", "l"), ("l", "k")):
        drawn = random.multivariate_normal(
            as_xtensor(np.zeros((2, 3)), ("z", "k")), cov, core_dims=order, rng=KEY
        )
        assert drawn.dims == ("z", "k")


def test_generators() -> None:
    rng = random.shared_rng(seed=7, name="rng")
    following, x = rng.normal(0.0, 1.0, extra_dims={"a": 3})
    f = oc.function([], x, updates={rng: following})
    expected = np.random.default_rng(7)
    np.testing.assert_array_equal(f(), expected.normal(size=3))
    np.testing.assert_array_equal(f(), expected.normal(size=3))
    rng.set_value(seed=7)
    np.testing.assert_array_equal(f(), np.random.default_rng(7).normal(size=3))
    assert rng.name == "rng"
    assert isinstance(rng.get_value(), np.random.Generator)
    free = random.rng("free")
    g = oc.function([oc.In(free.generator)], free.uniform(extra_dims={"a": 2})[1])
    np.testing.assert_array_equal(
        g(np.random.default_rng(1)), np.random.default_rng(1).uniform(size=2)
    )
    h = oc.function([free], free.uniform(extra_dims={"a": 2})[1])
    np.testing.assert_array_equal(
        h(np.random.default_rng(1)), np.random.default_rng(1).uniform(size=2)
    )
    assert "named" in repr(free)


RANDOM: dict[str, tuple[Any, type[Exception], str]] = {
    "no rng": (lambda x: random.normal(x), TypeError, "normal needs rng"),
    "a key has no next one": (lambda x: random.normal(x, rng=KEY, return_next_rng=True), TypeError, "a key has no next generator"),
    "core_dims": (lambda x: random.categorical(x, rng=KEY), ValueError, "categorical needs 1 core_dims"),
    "too many core_dims": (lambda x: random.normal(x, core_dims="a", rng=KEY), ValueError, "normal needs 0 core_dims"),
    "unknown core_dims": (lambda x: random.categorical(x, core_dims="z", rng=KEY), ValueError, "categorical: x .* lacks the core dimension 'z'"),
    "an extra dimension that is there": (lambda x: random.normal(x, extra_dims={"a": 2}, rng=KEY), ValueError, "the extra dimension 'a'"),
    "lengths": (lambda x: random.normal(x, xtensor("y", dims="a", shape=(3,)), rng=KEY), ValueError, "Dimension 'a' has length 2 in x .* and 3 in y"),
    "parameters": (lambda x: random.categorical(x, x, core_dims="a", rng=KEY), TypeError, "takes 1 parameters, got 2"),
    "a draw that is none": (lambda x: random.rng().zipf(2.0), AttributeError, "no draw 'zipf'"),
}  # fmt: skip


@pytest.mark.parametrize("case", RANDOM)
def test_wrong_draws(case: str) -> None:
    call, error, text = RANDOM[case]
    with pytest.raises(error, match=text):
        call(xtensor("x", dims="a", shape=(2,)))


def test_batches() -> None:
    x, y = xtensor("x", dims=("a",)), xtensor("y", dims=("a",))
    out = (x * y).sum("a") + x
    new_x, new_y = xtensor("new_x", dims=("c", "a")), xtensor("new_y", dims=("a", "b"))
    made = vectorize_graph(out, {x: new_x, y: new_y})
    assert made.dims == ("c", "b", "a")
    values = {new_x: array("ca").values, new_y: array("ab").values}
    wanted = ((array("ca") * array("ab")).sum("a") + array("ca")).transpose("c", "b", "a")
    np.testing.assert_allclose(evaluated(made, values), wanted.values)
    first, second = vectorize_graph([x + 1, math.exp(y)], {x: new_x, y: new_y})
    assert first.dims == second.dims == ("c", "b", "a")
    whole = (array("ca") + 1).expand_dims(b=3, axis=1)
    np.testing.assert_allclose(evaluated(first, values), whole.values)
    other = xtensor("other", dims="a")
    assert vectorize_graph([other * 1], {x: new_x})[0].dims == ("a",)


def test_batches_with_tensors() -> None:
    x, y = xtensor("x", dims="a", shape=(5,)), ot.dvector("y")
    out = x + as_xtensor(y, "a")
    new_x, new_y = xtensor("new_x", dims=("a", "c"), shape=(5, 3)), ot.dmatrix("new_y")
    made = vectorize_graph(out, {x: new_x, y: new_y}, new_tensor_dims=["c"])
    assert made.dims == ("c", "a")
    values = {new_x: np.arange(15.0).reshape(5, 3), new_y: np.ones((3, 5))}
    found = og.evaluate(made.values, {new_x.values: values[new_x], new_y: values[new_y]})
    np.testing.assert_allclose(found, values[new_x].T + 1)
    both = vectorize_graph(out, {x: new_x, y: new_y}, new_tensor_dims=["b"])
    assert both.dims == ("c", "b", "a")
    assert vectorize_graph(y * 2, {y: new_y}, new_tensor_dims="b").ndim == 2


BATCHES: dict[str, tuple[Any, str]] = {
    "a dimension is lacking": (lambda x, y: vectorize_graph(x * y, {x: xtensor("n", dims="c")}), "n .* lacks the dimension 'a' of x"),
    "a known dimension": (lambda x, y: vectorize_graph(x * y, {x: xtensor("n", dims=("a", "b"))}), "The new dimension 'b' of n .* rename it"),
    "no names": (lambda x, y: vectorize_graph(x.values * 2, {x.values: ot.dmatrix("m")}), "new_tensor_dims names 0"),
}  # fmt: skip


@pytest.mark.parametrize("case", BATCHES)
def test_wrong_batches(case: str) -> None:
    call, text = BATCHES[case]
    with pytest.raises(ValueError, match=text):
        call(xtensor("x", dims="a"), xtensor("y", dims="b"))
