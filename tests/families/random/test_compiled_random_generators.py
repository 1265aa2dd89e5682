"""Draws with generators in compiled functions: NumPy's numbers on every linker, in loops and branches, updates, copies, the cache."""

from __future__ import annotations

import copy
import pickle
import warnings
from typing import Any

import numpy as np
import pytest
import scipy.stats

import occelo_compile as oc
import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.ops.control import ifelse
from occelo_loops.ops.building.loops import loop
from occelo_random import functions as random

LINKERS = ["py", "vm", "native", "c", "c|py"]

pytestmark = pytest.mark.filterwarnings("ignore:.*runs in Python:UserWarning")


def compiled(linker: str, inputs: Any, outputs: Any, **options: Any) -> Any:
    return oc.function(inputs, outputs, mode=oc.Mode(linker, "fast_run"), **options)


@pytest.mark.parametrize("linker", LINKERS)
def test_numbers_are_those_of_numpy(linker: str) -> None:
    state = random.shared_rng(seed=3)
    x, many = ot.dvector("x"), ot.iscalar("many")
    following, noise = state.normal(x, 2.0, size=(2, 3))
    following, counts = following.poisson(4.0, size=(many,))
    f = compiled(linker, [x, many], [(noise * x).sum(0), counts], updates={state: following})
    g = np.random.default_rng(3)
    values = np.array([1.0, 2.0, 3.0])
    for n in (2, 0, 3):
        found = f(values, n)
        expected = [(g.normal(values, 2.0, (2, 3)) * values).sum(0), g.poisson(4.0, n)]
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b)
    assert state.get_value().bit_generator.state == g.bit_generator.state


@pytest.mark.parametrize("linker", LINKERS)
def test_distributions_that_numpy_lacks(linker: str) -> None:
    state = random.shared_rng(seed=3)
    a, scale, x = ot.dvector("a"), ot.dmatrix("scale"), ot.tensor3("x", dtype="int32")
    following, bounded = state.truncnorm(a, 4.0, size=(2, 3))
    following, skewed = following.skewnorm(a)
    following, covariances = following.wishart(5, scale, size=2)
    following, shuffled = following.shuffle(x, axis=1)
    following, counts = following.dirichlet_multinomial(ot.exp(a), 50, size=(2,))
    following, correlation = following.lkj(2, a[0] ** 2)
    made = [bounded, skewed, covariances, shuffled, counts, correlation]
    f = compiled(linker, [a, scale, x], made, updates={state: following})
    g = np.random.default_rng(3)
    values, cov = np.array([-1.0, 0.5, 2.0]), np.array([[2.0, 0.5], [0.5, 1.0]])
    stats = scipy.stats
    for _ in range(2):
        cube = np.arange(24, dtype="int32").reshape(2, 3, 4)
        found = f(values, cov, cube)
        expected = [
            stats.truncnorm.rvs(values, 4.0, size=(2, 3), random_state=g),
            stats.skewnorm.rvs(values, size=3, random_state=g),
            stats.wishart.rvs(5, cov, size=2, random_state=g),
        ]
        g.shuffle(cube, axis=1)
        expected += [cube, g.multinomial(50, g.dirichlet(np.exp(values), 2))]
        z, one = g.normal(), g.gamma(0.5)
        sine = np.sign(z) * np.sqrt(one / (one + g.gamma(1.0)))
        expected.append(np.array([[1.0, sine], [sine, 1.0]]))
        for mine, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(mine, other, rtol=1e-13, atol=1e-14)
            assert mine.dtype == other.dtype
    assert state.get_value().bit_generator.state == g.bit_generator.state
    with pytest.raises(ValueError, match="df <= n - 1") as caught:
        f(values, np.eye(6), cube)
    assert "test_compiled_random_generators.py" in str(caught.value)
    assert state.get_value().bit_generator.state == g.bit_generator.state


@pytest.mark.parametrize("linker", LINKERS)
def test_loops_and_branches(linker: str) -> None:
    state, given = random.shared_rng(seed=3), random.rng("given")
    at = ot.dscalar("at")

    def step(carried: Any, _: Any) -> Any:
        x, rng = carried
        rng, move = rng.normal(0.0, 0.5)
        start = random.default_rng(9).uniform()[1]  # a constant of the body
        return (x + move, rng), x + move + 0.0 * start

    (_, last), xs = loop(step, (at, state), ot.arange(20))
    chosen = ifelse(at > 0.0, given.uniform(size=2)[1], given.normal(size=2)[1])
    f = compiled(linker, [at, given], [xs, chosen], updates={state: last})
    g = np.random.default_rng(3)
    for start in (1.0, -1.0):
        sign, mine = start, np.random.default_rng(8)
        found = f(start, mine)
        moves = []
        for _ in range(20):
            start += g.normal(0.0, 0.5)
            moves.append(start)
        np.testing.assert_array_equal(found[0], moves)
        again = np.random.default_rng(8)
        expected = again.uniform(size=2) if sign > 0 else again.normal(size=2)
        np.testing.assert_array_equal(found[1], expected)
        # the generator of the user has not changed
        assert mine.bit_generator.state == np.random.default_rng(8).bit_generator.state


@pytest.mark.parametrize("linker", LINKERS)
def test_a_call_that_fails_draws_nothing(linker: str) -> None:
    state = random.shared_rng(seed=3)
    scale = ot.dscalar("scale")
    following, x = state.normal(size=2)
    following, y = following.normal(0.0, scale)
    f = compiled(linker, [scale], [x, y], updates={state: following})
    with pytest.raises(ValueError, match="scale < 0"):
        f(-1.0)
    g = np.random.default_rng(3)
    assert state.get_value().bit_generator.state == g.bit_generator.state
    np.testing.assert_array_equal(f(1.0)[0], g.normal(size=2))


@pytest.mark.parametrize("linker", ["py", "native"])
def test_results_and_states_are_not_shared(linker: str) -> None:
    state = random.shared_rng(seed=3)
    following, x = state.normal(size=2)
    f = compiled(linker, [], [x, following], updates={state: following})
    _, returned = f()
    returned.normal(size=5)  # a result belongs to the user
    g = np.random.default_rng(3)
    g.normal(size=2)
    np.testing.assert_array_equal(f()[0], g.normal(size=2))
    other = f.copy(swap={state: random.shared_rng(seed=4)})
    np.testing.assert_array_equal(other()[0], np.random.default_rng(4).normal(size=2))
    apart = copy.deepcopy(f)
    loaded = pickle.loads(pickle.dumps(f))
    expected = g.normal(size=2)
    for each in (f, apart, loaded):
        np.testing.assert_array_equal(each()[0], expected)


def test_streams_update_by_default() -> None:
    stream = random.RandomStream(5)
    x = stream.normal(size=3)
    f, fixed = oc.function([], x), oc.function([], x, no_default_updates=True)
    own = np.random.default_rng(np.random.SeedSequence(5).spawn(1)[0])
    first = own.normal(size=3)
    np.testing.assert_array_equal(fixed(), first)
    np.testing.assert_array_equal(f(), first)
    second = own.normal(size=3)
    np.testing.assert_array_equal(fixed(), second)
    np.testing.assert_array_equal(f(), second)
    stream.seed()
    np.testing.assert_array_equal(f(), first)


def test_constants_have_streams_of_their_own() -> None:
    f, g, again = (oc.function([], random.default_rng(s).normal(size=2)[1]) for s in (1, 2, 1))
    assert not np.array_equal(f(), g())
    np.testing.assert_array_equal(f(), again())
    np.testing.assert_array_equal(f(), f())


def test_only_states_that_nothing_else_reads_are_changed_in_place() -> None:
    state = random.shared_rng(seed=3)
    following, x = state.normal(size=2)
    last, y = following.normal(size=2)
    f = compiled("vm", [], [x, y], updates={state: last})
    flags = [node.op.inplace for node in f.maker.fgraph.toposort() if hasattr(node.op, "rng_fn")]
    assert flags == [False, True]
    g = np.random.default_rng(3)
    for _ in range(2):
        for found in f():
            np.testing.assert_array_equal(found, g.normal(size=2))
    # the generator in between is a result as well
    both = compiled("vm", [], [following, y])
    between, _ = both()
    h = np.random.default_rng()
    h.bit_generator.state = g.bit_generator.state
    h.normal(size=2)
    assert between.bit_generator.state == h.bit_generator.state


def test_dead_draws_are_dropped_on_request() -> None:
    state = random.shared_rng(seed=3)
    following, _ = state.normal(size=2)
    _, y = following.normal(size=2)
    g = np.random.default_rng(3)
    first, second = g.normal(size=2), g.normal(size=2)
    np.testing.assert_array_equal(oc.function([], y)(), second)
    mode = oc.get_default_mode().including("random_unsafe")
    np.testing.assert_array_equal(oc.function([], y, mode=mode)(), first)


def test_lengths_need_no_draw() -> None:
    state, n = random.shared_rng(seed=3), ot.lscalar("n")
    x = state.multivariate_normal(np.zeros(2), np.eye(2), size=(n, 3))[1]
    f = oc.function([n], x.shape)
    assert f(4).tolist() == [4, 3, 2]
    ops = {type(node.op).__name__ for node in f.maker.fgraph.apply_nodes}
    assert "MvNormalRV" not in ops
    assert og.evaluate(x, {n: 2}).shape == (2, 3, 2)


def _reused(outputs: Any, **options: Any) -> list[str]:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        oc.function([], outputs, on_unused_input="ignore", mode="fast_compile", **options)
    assert all(each.filename == __file__ for each in caught)
    return [str(each.message) for each in caught]


def test_a_state_that_is_used_twice_is_a_warning() -> None:
    state = random.shared_rng(seed=3, name="state")
    following, x = state.normal()
    y, again = state.uniform()[1], state.normal()[1]
    for outputs in ([x, y], [following, y], [x, state.normal(size=2)[1]]):
        (message,) = _reused(outputs)
        assert "The generator state (RandomGenerator)" in message
        assert message.count("test_compiled_random_generators.py") == 3
    assert _reused(y, updates={state: following})
    # a chain, the same draw again, and lengths
    assert not _reused([x, following.uniform()[1]], updates={state: following})
    assert not _reused([x, again])
    assert not _reused([x, y.shape])
    # copies of one draw for the outputs and the updates
    n = ot.lscalar("n")
    later, z = state.normal(ot.exp(n))
    assert not _reused([z], givens={n: ot.as_tensor(2)}, updates={state: later})


def test_states_in_loops_and_branches_that_are_used_twice() -> None:
    state, flag = random.shared_rng(seed=3, name="state"), oc.shared(np.array(True))
    x, y = state.normal()[1], state.uniform()[1]
    assert not _reused(ifelse(flag, x, y))
    assert not _reused(ifelse(flag, ifelse(flag, x, 1.0), ifelse(flag, y, 2.0)))
    assert _reused([ifelse(flag, x, y), x])
    assert _reused(ifelse(flag, x + y, 1.0))

    def step(carried: Any, _: Any) -> Any:
        (rng,) = carried
        following, a = rng.normal()
        return (following,), a + (rng.uniform()[1] if twice else 0.0)

    for twice in (False, True):
        (_, traces) = loop(step, (state,), ot.arange(3))
        assert bool(_reused(traces)) == twice
    twice = False
    assert _reused([loop(step, (state,), ot.arange(3))[1], x])


def _lifted(outputs: Any, given: dict[Any, Any], **options: Any) -> Any:
    """The results of a function that is compiled with `random_unsafe`; all draws are read directly."""
    mode = oc.get_default_mode().including("random_unsafe")
    f = oc.function(list(given), outputs, mode=mode, **options)
    for node in f.maker.fgraph.apply_nodes:
        read = node.inputs[0].owner if node.inputs else None
        assert read is None or not hasattr(read.op, "rng_fn"), node
    return f(*given.values())


def test_reads_of_draws_move_into_the_parameters() -> None:
    mu, n, i = ot.dvector("mu"), ot.lscalar("n"), ot.lscalar("i")
    m, s = np.arange(5.0) * 100, np.arange(1.0, 6.0)
    cases: list[tuple[Any, dict[Any, Any], Any]] = [
        (lambda g: g.normal(mu, 2.0)[1][1:3], {mu: m}, lambda g: g.normal(m[1:3], 2.0)),
        (
            lambda g: g.normal(mu[:, None], mu[None, :] + 1)[1][i, ::2],
            {mu: m, i: -2},
            lambda g: g.normal(m[-2], m[::2] + 1),
        ),
        (
            lambda g: g.normal(mu[:, None], mu[None, :] + 1)[1].T[1],
            {mu: m},
            lambda g: g.normal(m, m[1] + 1),
        ),
        (
            lambda g: g.normal(s[:, None], 2.0, size=(5, 3))[1][::-1, 1:],
            {},
            lambda g: g.normal(s[::-1, None], 2.0, (5, 2)),
        ),
        (
            lambda g: g.normal(0.0, 1.0, size=(4, n))[1][1:, n // 2 :],
            {n: 5},
            lambda g: g.normal(size=(3, 3)),
        ),
        (
            lambda g: g.normal(s, 1.0)[1].dimshuffle("x", 0),
            {},
            lambda g: g.normal(s, 1.0)[None],
        ),
        (
            lambda g: g.multivariate_normal([0.0, 1.0], np.eye(2), size=(3, 4))[1].transpose(
                1, 0, 2
            )[0],
            {},
            lambda g: g.multivariate_normal([0.0, 1.0], np.eye(2), 3),
        ),
        (lambda g: g.poisson(2.0, size=3)[1][:0], {}, lambda g: g.poisson(2.0, 0)),
    ]
    for build, given, expected in cases:
        state = random.shared_rng(seed=3)
        found = _lifted(build(state), given)
        np.testing.assert_array_equal(found, expected(np.random.default_rng(3)))
    # the generator after the draw is the one after the smaller draw
    state = random.shared_rng(seed=3)
    following, x = state.normal(s, 1.0)
    _lifted(x[:2], {}, updates={state: following})
    g = np.random.default_rng(3)
    g.normal(size=2)
    assert state.get_value().bit_generator.state == g.bit_generator.state


def test_reads_that_stay() -> None:
    state, i = random.shared_rng(seed=3), ot.lscalar("i")
    following, x = state.normal(0.0, 1.0, size=3)
    mode = oc.get_default_mode().including("random_unsafe")
    later = following.integers(3)[1]
    g = np.random.default_rng(3)
    # a position that comes from the generator after the draw, two readers, choices that depend on each other
    numbers = g.normal(size=3)
    at = g.integers(3)
    assert oc.function([], x[later], mode=mode)() == numbers[at]
    both = oc.function([], [x[1:], x[:1]], mode=mode)()
    np.testing.assert_array_equal(both[0], numbers[1:])
    chosen = state.choice(5, size=5, replace=False)[1][2:]
    expected = np.random.default_rng(3).choice(5, 5, replace=False)[2:]
    np.testing.assert_array_equal(oc.function([], chosen, mode=mode)(), expected)
    # a position that may be out of bounds, and columns of vectors
    with pytest.raises(IndexError):
        oc.function([i], x[i], mode=mode)(3)
    vectors = state.multivariate_normal(np.zeros(2), np.eye(2), size=3)[1]
    column = np.random.default_rng(3).multivariate_normal(np.zeros(2), np.eye(2), 3)[:, 1]
    np.testing.assert_array_equal(oc.function([], vectors[:, 1], mode=mode)(), column)
    # without the tag
    np.testing.assert_array_equal(oc.function([], x[1:])(), numbers[1:])


def test_sizes_move_into_the_parameters() -> None:
    n, mode = ot.lscalar("n"), oc.get_default_mode().including("random_sizes")
    for build, expected in (
        (lambda g: g.normal(0.0, 1.0, size=(2, n)), lambda g: g.normal(size=(2, 3))),
        (
            lambda g: g.gamma([2.0, 3.0], 1.0, size=(n, 2)),
            lambda g: g.gamma([2.0, 3.0], size=(3, 2)),
        ),
        (
            lambda g: g.multivariate_normal(np.zeros(2), np.eye(2), size=n),
            lambda g: g.multivariate_normal(np.zeros(2), np.eye(2), 3),
        ),
    ):
        f = oc.function([n], build(random.shared_rng(seed=3))[1], mode=mode)
        (draw,) = (v for v in f.maker.fgraph.apply_nodes if hasattr(v.op, "rng_fn"))
        assert draw.inputs[1].data is None
        np.testing.assert_array_equal(f(3), expected(np.random.default_rng(3)))


def test_a_size_that_is_a_filled_vector() -> None:
    n, state = ot.lscalar("n"), random.shared_rng(seed=3)
    for size, lengths in ((ot.full((3,), n), [4, 4, 4]), (ot.ones((2,), dtype="int64"), [1, 1])):
        x = state.normal(size=size)[1]
        assert len(x.type.shape) == len(lengths)
        f = oc.function([n], [x, x.shape], on_unused_input="ignore")
        assert list(f(4)[0].shape) == f(4)[1].tolist() == lengths
