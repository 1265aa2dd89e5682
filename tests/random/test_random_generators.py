"""Draws with generators of NumPy: each distribution beside NumPy, sizes, batches, distributions of one's own, types, errors, streams."""

from __future__ import annotations

import pickle
from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import MethodNotDefined
from occelo_random import functions as random
from occelo_random.ops.generators import DISTRIBUTIONS
from occelo_random.ops.random_variable import RandomVariable, normalize_size_param

P = np.array([0.2, 0.5, 0.3])
COV = np.array([[2.0, 0.5], [0.5, 1.0]])
SIZE = (4, 3)


def _shuffled(g: Any, x: Any, axis: int = 0) -> Any:
    found = np.array(x)
    g.shuffle(found, axis)
    return found


def _correlations(g: Any, size: Any, n: int = 3, eta: float = 0.7) -> Any:
    """The matrices of `lkj`, row by row of each."""
    normals = g.normal(size=(*size, n * (n - 1) // 2))
    before = g.gamma(np.arange(1, n) / 2, size=(*size, n - 1))
    rest = g.gamma(eta + np.arange(n - 2, -1, -1) / 2, size=(*size, n - 1))
    found = np.empty((*size, n, n))
    for at in np.ndindex(*size):
        rows = [np.eye(n)[0]]
        numbers = list(normals[at])
        for k in range(1, n):
            direction = np.array([numbers.pop(0) for _ in range(k)])
            whole = before[at][k - 1] + rest[at][k - 1]
            row = np.zeros(n)
            row[:k] = (
                direction / np.sqrt(direction @ direction) * np.sqrt(before[at][k - 1] / whole)
            )
            row[k] = np.sqrt(rest[at][k - 1] / whole)
            rows.append(row)
        found[at] = [[one @ other for one in rows] for other in rows]
    return found


# the distribution, its parameters, and the same draw by NumPy or SciPy
TABLE: dict[str, tuple[tuple[Any, ...], Any]] = {
    "bernoulli": ((0.3,), lambda g, n: scipy.stats.bernoulli.rvs(0.3, size=n, random_state=g)),
    "beta": ((2.0, P), lambda g, n: g.beta(2.0, P, n)),
    "betabinom": (
        (9, 2.0, 3.0),
        lambda g, n: scipy.stats.betabinom.rvs(9, 2.0, 3.0, size=n, random_state=g),
    ),
    "binomial": ((9, P), lambda g, n: g.binomial(9, P, n)),
    "categorical": ((P,), lambda g, n: np.searchsorted(P.cumsum(), g.uniform(size=n))),
    "cauchy": ((1.0, 2.0), lambda g, n: 1.0 + 2.0 * g.standard_cauchy(n)),
    "chisquare": ((P,), lambda g, n: g.chisquare(P, n)),
    "choice": ((7,), lambda g, n: g.choice(7, n)),
    "dirichlet": ((P,), lambda g, n: g.dirichlet(P, n)),
    "dirichlet_multinomial": (
        (P, 8),
        lambda g, n: g.multinomial(8, g.dirichlet(P, n)),
    ),
    "exponential": ((P,), lambda g, n: g.exponential(P, n)),
    "f": ((P, 4.0), lambda g, n: g.f(P, 4.0, n)),
    "gamma": ((P, 2.0), lambda g, n: g.gamma(P, 2.0, n)),
    "gengamma": (
        (2.0, 3.0, 0.5),
        lambda g, n: scipy.stats.gengamma.rvs(2 / 3, 3.0, scale=0.5, size=n, random_state=g),
    ),
    "geometric": ((P,), lambda g, n: g.geometric(P, n)),
    "gumbel": ((1.0, P), lambda g, n: g.gumbel(1.0, P, n)),
    "gumbel_l": ((1.0, P), lambda g, n: 1.0 - P * g.gumbel(0.0, 1.0, n)),
    "halfcauchy": (
        (1.0, 2.0),
        lambda g, n: scipy.stats.halfcauchy.rvs(1.0, 2.0, size=n, random_state=g),
    ),
    "halfnormal": (
        (1.0, 2.0),
        lambda g, n: scipy.stats.halfnorm.rvs(1.0, 2.0, size=n, random_state=g),
    ),
    "hypergeometric": ((5, 6, 7), lambda g, n: g.hypergeometric(5, 6, 7, n)),
    "integers": ((-3, 9), lambda g, n: g.integers(-3, 9, n)),
    "invgamma": ((2.0, P), lambda g, n: P / g.standard_gamma(2.0, n)),
    "laplace": ((1.0, P), lambda g, n: g.laplace(1.0, P, n)),
    "lkj": ((3, 0.7), _correlations),
    "logistic": ((1.0, P), lambda g, n: g.logistic(1.0, P, n)),
    "lognormal": ((1.0, P), lambda g, n: g.lognormal(1.0, P, n)),
    "lomax": ((2.0, 1.0, P), lambda g, n: 1.0 + P * g.pareto(2.0, n)),
    "multinomial": ((8, P), lambda g, n: g.multinomial(8, P, n)),
    "multivariate_normal": (
        (np.array([1.0, 2.0]), COV),
        lambda g, n: g.multivariate_normal([1.0, 2.0], COV, n),
    ),
    "nbinom": ((4, P), lambda g, n: g.negative_binomial(4, P, n)),
    "negative_binomial": ((4, P), lambda g, n: g.negative_binomial(4, P, n)),
    "normal": ((1.0, P), lambda g, n: g.normal(1.0, P, n)),
    "pareto": ((2.0, P), lambda g, n: (g.pareto(2.0, n) + 1) * P),
    "permutation": (
        (P,),
        lambda g, n: np.reshape([g.permutation(P) for _ in range(12)], (*n, 3)),
    ),
    "poisson": ((P,), lambda g, n: g.poisson(P, n)),
    "power": ((P,), lambda g, n: g.power(P, n)),
    "rayleigh": ((P,), lambda g, n: g.rayleigh(P, n)),
    "shuffle": ((P,), lambda g, n: np.reshape([_shuffled(g, P) for _ in range(12)], (*n, 3))),
    "skewnorm": (
        (P - 0.3, 1.0, 2.0),
        lambda g, n: scipy.stats.skewnorm.rvs(P - 0.3, 1.0, 2.0, size=n, random_state=g),
    ),
    "standard_normal": ((), lambda g, n: g.standard_normal(n)),
    "t": ((5.0, 1.0, 2.0), lambda g, n: 1.0 + 2.0 * g.standard_t(5.0, n)),
    "triangular": ((0.0, P, 2.0), lambda g, n: g.triangular(0.0, P, 2.0, n)),
    "truncexpon": (
        (2.0, 1.0, 3.0),
        lambda g, n: scipy.stats.truncexpon.rvs(2.0, 1.0, 3.0, size=n, random_state=g),
    ),
    "truncnorm": (
        (P - 0.4, 2.0, 1.0, 3.0),
        lambda g, n: scipy.stats.truncnorm.rvs(P - 0.4, 2.0, 1.0, 3.0, size=n, random_state=g),
    ),
    "uniform": ((-1.0, P), lambda g, n: g.uniform(-1.0, P, n)),
    "vonmises": ((1.0, P), lambda g, n: g.vonmises(1.0, P, n)),
    "wald": ((1.0, P), lambda g, n: g.wald(1.0, P, n)),
    "weibull": ((P,), lambda g, n: g.weibull(P, n)),
    "wishart": (
        (3.5, COV),
        lambda g, n: scipy.stats.wishart.rvs(3.5, COV, size=n, random_state=g),
    ),
}


def drawn(variable: Any) -> Any:
    return np.asarray(og.evaluate(variable, {}))


def test_the_table_has_all_distributions() -> None:
    assert set(TABLE) == set(DISTRIBUTIONS)


@pytest.mark.parametrize("distribution", TABLE)
def test_a_distribution_draws_what_numpy_draws(distribution: str) -> None:
    given, reference = TABLE[distribution]
    rng = random.default_rng(11)
    following, draw = getattr(rng, distribution)(*given, size=SIZE)
    generator = np.random.default_rng(11)
    expected = reference(generator, SIZE)
    found, after = og.evaluate([draw, following], {})
    # SciPy adds and multiplies in an order of its own, and sums of numbers of both signs lose digits
    np.testing.assert_allclose(found, expected, rtol=1e-14, atol=2e-15)
    assert draw.type.shape == expected.shape
    assert draw.type.dtype == expected.dtype
    assert after.bit_generator.state == generator.bit_generator.state
    # once more with the next generator, and with lengths that are known late
    n = ot.lvector("n")
    again = getattr(following, distribution)(*given, size=(n.shape[0], 3))[1]
    reached = og.evaluate([again, again.shape], {n: np.zeros(4, "int64")})
    np.testing.assert_allclose(reached[0], reference(generator, SIZE), rtol=1e-14, atol=2e-15)
    assert reached[1].tolist() == list(expected.shape)


def test_a_seed_may_be_an_input() -> None:
    for seed, value in ((ot.lscalar(), 5), (ot.lvector(), [5, 6])):
        found = og.evaluate(random.default_rng(seed).normal(size=3)[1], {seed: np.array(value)})
        np.testing.assert_array_equal(found, np.random.default_rng(value).normal(size=3))


def test_sizes() -> None:
    rng = random.default_rng(3)
    rows = ot.dmatrix("rows")
    for size in (None, (), 5, (2, 0), np.array([2, 3]), ot.constant(np.array([2, 3]))):
        _, draw = rng.normal(size=size)
        plain = size.data if isinstance(size, og.Constant) else size
        expected = np.asarray(np.random.default_rng(3).normal(size=plain))
        np.testing.assert_array_equal(drawn(draw), expected)
        assert draw.type.shape == expected.shape
    _, draw = rng.normal(rows)
    assert draw.type.shape == (None, None)
    shape, values = og.evaluate([draw.shape, draw], {rows: np.zeros((2, 3))})
    assert shape.tolist() == [2, 3]
    np.testing.assert_array_equal(values, np.random.default_rng(3).normal(size=(2, 3)))
    with pytest.raises(ValueError, match="does not broadcast"):
        rng.normal(np.zeros(4), size=3)
    with pytest.raises(ValueError, match="1 lengths"):
        rng.normal(np.zeros((2, 3)), size=3)
    with pytest.raises(ValueError, match="do not broadcast"):
        rng.normal(np.zeros(4), np.ones(3))
    with pytest.raises(ValueError, match="negative"):
        rng.normal(size=(2, -1))
    with pytest.raises(TypeError, match="integer"):
        rng.normal(size=2.5)
    with pytest.raises(ValueError, match="not known"):
        rng.normal(size=ot.lvector())


def test_parameters_by_name_and_dtypes() -> None:
    rng = random.default_rng(3)
    g = np.random.default_rng(3)
    np.testing.assert_array_equal(
        drawn(rng.normal(scale=2.0, size=3)[1]), g.normal(scale=2.0, size=3)
    )
    single = rng.normal(0.0, 1.0, 3, dtype="float32", name="z")[1]
    assert (single.dtype, single.name) == ("float32", "z")
    np.testing.assert_array_equal(
        drawn(single), np.random.default_rng(3).normal(size=3).astype("float32")
    )
    small = rng.integers(0, 200, 4, dtype="uint8")[1]
    expected = np.random.default_rng(3).integers(0, 200, 4, dtype="uint8")
    np.testing.assert_array_equal(drawn(small), expected)
    closed = rng.integers(5, size=9, endpoint=True)[1]
    np.testing.assert_array_equal(
        drawn(closed), np.random.default_rng(3).integers(5, size=9, endpoint=True)
    )
    with pytest.raises(TypeError, match="needs the parameter alpha"):
        rng.beta()
    with pytest.raises(TypeError, match="no parameter named sd"):
        rng.normal(sd=2.0)


def test_choice_and_permutation() -> None:
    rng = random.default_rng(3)
    rows = np.arange(12.0).reshape(4, 3)
    for options in ({}, {"replace": False}, {"p": np.array([0.1, 0.2, 0.3, 0.4])}):
        expected = np.random.default_rng(3).choice(rows, 2, **options)
        np.testing.assert_array_equal(drawn(rng.choice(rows, 2, **options)[1]), expected)
    for x in (rows, rows[:, 0], np.array(5)):
        expected = np.random.default_rng(3).permutation(x if x.ndim else int(x))
        np.testing.assert_array_equal(drawn(rng.permutation(x)[1]), expected)


@pytest.mark.parametrize("name", ["permutation", "shuffle"])
def test_random_orders_along_an_axis(name: str) -> None:
    cube = np.arange(24).reshape(2, 3, 4)
    cases: list[Any] = [
        cube,
        cube.astype("float32") / 3,
        cube % 3 == 1,
        cube * (1 - 2j),
        cube.astype("uint8")[::-1, ::-2],
        *(np.zeros((n, 2)) for n in (0, 1)),
        np.zeros((3, 0)),
    ]
    for x in cases:
        for axis in (*range(x.ndim), -1):
            given = ot.as_tensor(x).type("given")
            following, draw = getattr(random.default_rng(3), name)(given, axis=axis)
            before, g = x.copy(), np.random.default_rng(3)
            expected = g.permutation(x, axis) if name == "permutation" else _shuffled(g, x, axis)
            found, after = og.evaluate([draw, following], {given: x})
            np.testing.assert_array_equal(found, expected)
            np.testing.assert_array_equal(x, before)
            assert found.dtype == draw.type.dtype == x.dtype
            assert after.bit_generator.state == g.bit_generator.state
    method = getattr(random.default_rng(3), name)
    with pytest.raises(ValueError, match="axis"):
        method(cube, axis=3)
    with pytest.raises(TypeError):
        method(2.5)
    # a batch has an order for each array
    row, rows = ot.lvector("row"), ot.lmatrix("rows")
    batched = og.vectorize_graph(method(row)[1], {row: rows})
    g = np.random.default_rng(3)
    expected = [g.permutation(r) if name == "permutation" else _shuffled(g, r) for r in cube[0]]
    np.testing.assert_array_equal(og.evaluate(batched, {rows: cube[0]}), expected)


def test_matrices_of_batches_and_other_shapes() -> None:
    rng = random.default_rng(3)
    dfs, scales = np.array([[2.0], [4.0]]), np.stack([COV, 2 * COV, 3 * COV])
    g = np.random.default_rng(3)
    expected = [
        [scipy.stats.wishart.rvs(df, scale, random_state=g) for scale in scales] for df in dfs[:, 0]
    ]
    np.testing.assert_allclose(drawn(rng.wishart(dfs, scales)[1]), expected, rtol=1e-14, atol=1e-14)
    for n in (1, 2, 5):
        for eta, size in ((2.0, None), (2.0, 0), (0.3, (2, 1))):
            draw = rng.lkj(n, eta, size=size)[1]
            found, shape = og.evaluate([draw, draw.shape], {})
            whole = (*(np.atleast_1d(size) if size is not None else ()), n, n)
            assert draw.type.shape == found.shape == tuple(shape) == whole
            want = _correlations(np.random.default_rng(3), whole[:-2], n, eta)
            np.testing.assert_allclose(found, want, rtol=1e-13, atol=1e-15)
            assert (np.diagonal(found, axis1=-2, axis2=-1) == 1.0).all()
    # a batch of parameters, and of a graph
    eta, etas = ot.dscalar("eta"), np.array([0.5, 50.0, 1e6])
    batched = og.vectorize_graph(rng.lkj(3, eta)[1], {eta: ot.constant(etas)})
    found = drawn(batched)
    np.testing.assert_array_equal(found, drawn(rng.lkj(3, etas)[1]))
    assert (np.linalg.eigvalsh(found) > 0).all()
    spread = abs(found - np.eye(3)).max((1, 2))
    assert spread[1] < 0.5
    assert spread[2] < 0.01
    with pytest.raises(ValueError, match="n must be at least 1"):
        rng.lkj(0)
    with pytest.raises(TypeError, match="Python integer"):
        rng.lkj(2.0)


def test_batches_without_elements() -> None:
    rng, none = random.default_rng(3), ot.dtensor3("none")
    for draw, shape in (
        (rng.wishart(3.0, none), (0, 2, 2)),
        (rng.multivariate_normal(np.zeros(2), none), (0, 2)),
        (rng.dirichlet(none), (0, 2, 2)),
        (rng.shuffle(none), (0, 2, 2)),
    ):
        found, lengths = og.evaluate([draw[1], draw[1].shape], {none: np.zeros((0, 2, 2))})
        assert found.shape == tuple(lengths) == shape


def test_truncated_and_skewed_numbers_at_the_edges() -> None:
    rng = random.default_rng(3)
    bounds = [
        (-np.inf, np.inf), (-np.inf, -3.0), (5.0, np.inf), (40.0, 41.0), (-41.0, -40.0), (2.0, 2.0 + 1e-12),
        (1e200, np.inf), (-1e308, -1e200), (-1e300, 1e300), (1e6, 1e6 + 1e-8), (0.0, 1e-300), (-1e-300, 0.0),
    ]  # fmt: skip
    u = np.random.default_rng(3).uniform(size=(len(bounds), 1000))
    a, b = (np.array(column)[:, None] for column in zip(*bounds, strict=True))
    found = drawn(rng.truncnorm(a, b, size=u.shape)[1])
    assert ((found >= a) & (found <= b) & np.isfinite(found)).all()
    np.testing.assert_allclose(found[0], scipy.stats.norm.ppf(u[0]), rtol=1e-11)
    beyond = scipy.stats.norm.logsf(found[3]) - scipy.stats.norm.logsf(40.0)
    np.testing.assert_allclose(beyond, np.log1p(-u[3]), atol=1e-11)
    np.testing.assert_allclose(found[5] - 2.0, u[5] * 1e-12, atol=2e-15)
    np.testing.assert_array_equal(found[6], 1e200)
    np.testing.assert_array_equal(found[7], -1e200)
    skewed = drawn(rng.skewnorm([-np.inf, -1e200, 0.0, 1e200, np.inf], size=(50, 5))[1])
    g = np.random.default_rng(3)
    one, other = g.normal(size=(50, 5)), g.normal(size=(50, 5))
    np.testing.assert_array_equal(skewed[:, 3:], abs(one[:, 3:]))
    np.testing.assert_array_equal(skewed[:, :2], -abs(one[:, :2]))
    np.testing.assert_array_equal(skewed[:, 2], np.where(one >= 0, other, -other)[:, 2])


def test_a_batch_is_one_draw_with_more_dimensions() -> None:
    rng = random.default_rng(3)
    loc, scale = ot.dvector("loc"), ot.dscalar("scale")
    locs, scales = ot.dmatrix("locs"), ot.dvector("scales")
    values = {locs: np.arange(6.0).reshape(2, 3), scales: np.array([1.0, 5.0])}
    for size in (None, (4, 3)):
        _, draw = rng.normal(loc, scale, size=size)
        batched = og.vectorize_graph(draw, {loc: locs, scale: scales})
        g = np.random.default_rng(3)
        if size is None:
            expected = g.normal(values[locs], values[scales][:, None])
        else:
            expected = g.normal(values[locs][:, None, :], values[scales][:, None, None], (2, 4, 3))
        np.testing.assert_array_equal(og.evaluate(batched, values), expected)
    means, covs = np.zeros((3, 2)), np.stack([COV, COV * 4, COV * 9])
    found = drawn(rng.multivariate_normal(means, covs)[1])
    g = np.random.default_rng(3)
    np.testing.assert_array_equal(
        found, [g.multivariate_normal(m, c) for m, c in zip(means, covs, strict=True)]
    )


class PowerRV(RandomVariable):
    name = "power"
    signature = "()->()"
    _print_name = ("Power", r"\operatorname{Power}")

    @classmethod
    def rng_fn(cls, rng: Any, a: Any, size: Any) -> Any:
        return rng.power(a, size)


class CornersRV(RandomVariable):
    name = "corners"
    signature = "(n)->(m,n)"

    def rng_fn(self, rng: Any, x: Any, size: Any) -> Any:
        return rng.choice([0.0, 1.0], (*(size or ()), 2, x.shape[-1])) * x

    def _supp_shape_from_params(self, parameters: Any, shapes: Any) -> Any:
        return [2, shapes[0][-1]]


def test_a_distribution_of_ones_own() -> None:
    rng = random.default_rng(3)
    a = ot.dvector("a")
    following, x = PowerRV()(a, rng=rng, size=(2, 3), name="x", return_next_rng=True)
    given = np.array([1.0, 2.0, 3.0])
    g = np.random.default_rng(3)
    np.testing.assert_array_equal(og.evaluate(x, {a: given}), g.power(given, (2, 3)))
    np.testing.assert_array_equal(
        og.evaluate(PowerRV()(a, rng=following), {a: given}), g.power(given)
    )
    batched = og.vectorize_graph(x, {a: ot.constant(np.ones((4, 3)))})
    assert drawn(batched).shape == (4, 2, 3)
    corners = CornersRV()(a, rng=rng, size=5)
    shape, value = og.evaluate([corners.shape, corners], {a: given})
    assert tuple(shape) == value.shape == (5, 2, 3)
    assert PowerRV() == PowerRV() != PowerRV(dtype="float32")
    stream = random.RandomStream(7)
    own = np.random.default_rng(np.random.SeedSequence(7).spawn(1)[0])
    np.testing.assert_array_equal(drawn(stream.gen(PowerRV(), 2.0, size=3)), own.power(2.0, 3))


class MatrixNormalRV(RandomVariable):
    name = "matrix_normal"
    signature = "(m,n),(m,m),(n,n)->(m,n)"
    parameters = {"mean": ..., "rows": ..., "columns": ...}
    one_batch = False

    def rng_fn(self, rng: Any, mean: Any, rows: Any, columns: Any, size: Any) -> Any:
        return mean + rows @ rng.normal(size=(*(size or ()), *mean.shape)) @ columns.T


def _matrices(seed: int, mean: Any, rows: Any, columns: Any) -> Any:
    g = np.random.default_rng(seed)
    return mean + rows @ g.normal(size=np.shape(mean)) @ columns


def test_numpys_method_of_the_name_draws_by_default() -> None:
    class GumbelMethod(RandomVariable):
        name, signature, dtype = "gumbel", "(),()->()", "float64"

    class NoMethod(RandomVariable):
        name, signature, dtype = "no_such", "()->()", "float64"

    draw = GumbelMethod()(1.0, 2.0, size=(3,), rng=random.default_rng(4))
    np.testing.assert_array_equal(drawn(draw), np.random.default_rng(4).gumbel(1.0, 2.0, 3))
    with pytest.raises(NotImplementedError, match="NumPy's generators have no no_such"):
        NoMethod()(1.0, rng=random.default_rng(4)).eval()


def test_a_draw_without_a_generator_has_one_of_its_own() -> None:
    with pytest.warns(UserWarning, match="power got no generator as rng=") as caught:
        x = PowerRV()(2.0, size=(3,))
    assert caught[0].filename == __file__
    expected = x.owner.op.rng_param(x.owner).get_value().power(2.0, 3)
    for _ in range(2):
        np.testing.assert_array_equal(og.evaluate(x), expected)


def test_what_a_draw_says_of_itself() -> None:
    class Sums(RandomVariable):
        name, dtype, ndim_supp, ndims_params = "sums", "float64", 1, [1, 0]

        @classmethod
        def rng_fn(cls, rng: Any, x: Any, y: Any, size: Any) -> Any:
            return x + y

        def _supp_shape_from_params(self, parameters: Any, shapes: Any) -> Any:
            return [shapes[0][-1]]

    rng, x = random.default_rng(3), ot.dmatrix("x")
    following, draw = Sums()(x, 2.0, rng=rng, return_next_rng=True)
    node = draw.owner
    assert (node.op.ndim_supp, list(node.op.ndims_params), node.op.batch_ndim(node)) == (
        1,
        [1, 0],
        1,
    )
    assert node.op.signature == "(d00),()->(s0)"
    assert node.default_output() is draw
    assert node.op.dist_params(node)[0] is x
    assert node.op.update(node) == {rng: following}
    np.testing.assert_array_equal(og.evaluate(draw, {x: np.eye(2)}), np.eye(2) + 2.0)


def test_a_distribution_of_matrices() -> None:
    mean, rows, columns = (ot.dmatrix(name) for name in ("mean", "rows", "columns"))
    means, n = ot.dtensor3("means"), ot.lscalar("n")
    distribution, rng = MatrixNormalRV(), random.default_rng(3)
    x = distribution(mean, rows, columns=columns, rng=rng)
    m, u, v = np.arange(6.0).reshape(2, 3), np.diag([1.0, 2.0]), np.diag([1.0, 2.0, 4.0])
    given = {mean: m, rows: u, columns: v, means: np.stack([m, 2 * m, 3 * m]), n: 4}
    np.testing.assert_array_equal(og.evaluate(x, given), _matrices(3, m, u, v))
    # a batch of one parameter, by the graph and by hand
    batched = og.vectorize_graph(x, {mean: means})
    assert batched.type == distribution(means, rows, columns, rng=rng).type
    np.testing.assert_array_equal(og.evaluate(batched, given), _matrices(3, given[means], u, v))
    # shapes come from the parameters and the size, without a draw
    sized = distribution(mean, rows, columns, rng=rng, size=(n, 5))
    for draw, expected in ((x, (2, 3)), (batched, (3, 2, 3)), (sized, (4, 5, 2, 3))):
        assert og.evaluate(draw, given).shape == expected
        node = draw.owner
        shapes = [None, None, *(tuple(p.shape) for p in node.inputs[2:])]
        lengths = [ot.as_tensor(k) for k in node.op.infer_shape(node, shapes)[1]]
        assert tuple(int(k) for k in og.evaluate(lengths, given)) == expected
        assert not any(isinstance(a.op, MatrixNormalRV) for a in og.apply_ancestors(lengths))
    for call, error, text in (
        (lambda: distribution(mean, rows, rng=rng), TypeError, "needs the parameter columns"),
        (lambda: distribution(mean, rows[0], columns, rng=rng), TypeError, "at least 2 dimensions"),
        (lambda: distribution(m, np.eye(3), v, rng=rng), ValueError, "m of .* lengths 2 and 3"),
        (lambda: distribution(means, rows, columns, rng=rng, size=()), ValueError, "has 0 lengths"),
    ):
        with pytest.raises(error, match=text):
            call()


def test_sizes_as_inputs_of_nodes() -> None:
    n = ot.lscalar("n")
    assert normalize_size_param(None).data is None
    pairs: list[tuple[Any, list[int]]] = [
        (3, [3]),
        ((), []),
        ([2, np.int8(3)], [2, 3]),
        (np.array([2, 3]), [2, 3]),
        (n, [4]),
        ((n, 2), [4, 2]),
        (ot.stack([n, n + 1]), [4, 5]),
    ]
    for given, expected in pairs:
        made = normalize_size_param(given)
        assert made.type == og.TensorType("int64", (len(expected),))
        assert og.evaluate(made, {n: 4}).tolist() == expected
    for wrong in ("a", 2.5, True, np.nan, np.inf, (None, 2), ot.dscalar(), b"1"):
        with pytest.raises(TypeError, match="A length must be"):
            normalize_size_param(wrong)
    with pytest.raises(ValueError, match="is not known when the graph is built"):
        normalize_size_param(ot.lvector())


def test_errors_name_the_parameter() -> None:
    rng = random.default_rng(3)
    scale = ot.dscalar("scale")
    for draw, text in (
        (rng.normal(0.0, scale), "scale < 0"),
        (rng.cauchy(0.0, scale), "scale < 0"),
        (rng.gumbel_l(0.0, scale), "scale < 0"),
        (rng.lomax(1.0, 0.0, scale), "scale < 0"),
        (rng.lomax(scale), "a <= 0"),
        (rng.skewnorm(1.0, 0.0, scale), "scale < 0"),
        (rng.truncnorm(0.0, scale), "a >= b"),
        (rng.truncnorm(0.0, 1.0, 0.0, scale), "scale < 0"),
        (rng.truncnorm(0.0, scale * np.nan), "a >= b"),
        (rng.lkj(3, scale), "eta <= 0"),
        (rng.wishart(scale, np.eye(2)), "df <= n - 1"),
        (rng.dirichlet_multinomial(ot.stack([scale, 2.0]), 4), "alpha < 0"),
        (rng.dirichlet_multinomial([1.0, 2.0], scale.astype("int64")), "n < 0"),
        (rng.binomial(3, scale), "p < 0"),
        (rng.categorical(ot.stack([scale, 2.0])), "p < 0"),
    ):
        with pytest.raises(ValueError, match=text):
            og.evaluate(draw[1], {scale: np.array(-1.0)})
    with pytest.raises(MethodNotDefined, match="normal with a generator"):
        og.grad(rng.normal(0.0, scale)[1], scale)


@pytest.mark.parametrize("kind", ["PCG64", "PCG64DXSM", "Philox", "SFC64", "MT19937"])
def test_every_bit_generator(kind: str) -> None:
    def made() -> Any:
        g = np.random.Generator(getattr(np.random, kind)(8))
        g.integers(2**20, dtype="uint32")  # half a word is left
        g.normal(size=3)
        return g

    kind_of = random.random_generator_type
    g = made()
    through = kind_of.from_parts(kind_of.to_parts(g))
    assert kind_of.values_eq(through, g)
    assert kind_of.values_eq(kind_of.copy(g), g)
    np.testing.assert_array_equal(
        through.integers(2**20, size=9, dtype="uint32"),
        made().integers(2**20, size=9, dtype="uint32"),
    )
    assert not kind_of.values_eq(through, g)
    assert not kind_of.may_share_memory(through, g)
    assert kind_of.may_share_memory(g, g)
    with pytest.raises(TypeError, match="spawn"):
        through.spawn(1)
    shared = random.shared_rng(g)
    draw = shared.uniform(size=3)[1]
    expected = made().uniform(size=3)
    for _ in range(2):  # a draw does not change the state
        np.testing.assert_array_equal(drawn(draw), expected)
    loaded = pickle.loads(pickle.dumps(draw))
    np.testing.assert_array_equal(drawn(loaded), expected)


def test_states() -> None:
    g = np.random.default_rng(1)
    shared = og.shared(g, "g")
    assert type(shared) is random.generators.RandomGeneratorSharedVariable
    g.normal(size=3)  # of the user, not of the variable
    np.testing.assert_array_equal(
        shared.get_value().normal(size=2), np.random.default_rng(1).normal(size=2)
    )
    assert shared.get_value(borrow=True) is shared.container.storage[0]
    shared.set_value(g)
    assert shared.get_value(borrow=True) is not g
    shared.set_value(g, borrow=True)
    assert shared.get_value(borrow=True) is g
    for wrong in (
        lambda: random.shared_rng(3),
        lambda: shared.set_value(3),
        lambda: random.shared_rng(g, seed=3),
    ):
        with pytest.raises(TypeError):
            wrong()
    with pytest.raises(TypeError, match="seed"):
        random.default_rng(None)
    seeds = ot.lvector("seeds")
    drawn_by_seed = og.evaluate(
        random.default_rng(seeds).normal(size=2)[1], {seeds: np.array([1, 2])}
    )
    np.testing.assert_array_equal(drawn_by_seed, np.random.default_rng([1, 2]).normal(size=2))
    given = random.rng("given")
    values = og.evaluate(given.normal()[1], {given: np.random.default_rng(4)})
    assert values == np.random.default_rng(4).normal()
    first, second = random.default_rng(4), random.default_rng(4)
    assert first.equals(second)
    assert not first.equals(random.default_rng(5))


def test_methods_of_a_stream_take_arguments_as_functions_of_pytensor() -> None:
    cov = np.array([[2.0, 0.5], [0.5, 1.0]])
    stream = random.RandomStream(5)
    draws = [
        stream.gamma(2.0, 4.0, size=3, name="by rate"),
        stream.gamma(2.0, scale=4.0, size=3),
        stream.multivariate_normal([0.0, 1.0], cov, 3),
        stream.permutation(5),
    ]
    seeds = np.random.SeedSequence(5).spawn(len(draws))
    by_rate, by_scale, normal, permuted = map(np.random.default_rng, seeds)
    expected = [
        by_rate.gamma(2.0, 0.25, 3),
        by_scale.gamma(2.0, 4.0, 3),
        normal.multivariate_normal([0.0, 1.0], cov, 3, method="cholesky"),
        permuted.permutation(5),
    ]
    for draw, values in zip(draws, expected, strict=True):
        np.testing.assert_array_equal(draw.eval(), values)
    assert draws[0].name == "by rate"


def test_streams() -> None:
    stream = random.RandomStream(5)
    x, y = stream.normal(1.0, 2.0, size=3), stream.integers(9)
    own = [np.random.default_rng(s) for s in np.random.SeedSequence(5).spawn(2)]
    np.testing.assert_array_equal(drawn(x), own[0].normal(1.0, 2.0, 3))
    assert drawn(y) == own[1].integers(9)
    (state, following), _ = stream.updates()
    assert state.default_update is following
    stream.seed(6)
    again = np.random.default_rng(np.random.SeedSequence(6).spawn(2)[0])
    np.testing.assert_array_equal(drawn(x), again.normal(1.0, 2.0, 3))
    with pytest.raises(AttributeError, match="no distribution"):
        stream.nomal()
