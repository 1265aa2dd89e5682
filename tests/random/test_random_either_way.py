"""Functions that draw by a key, and without a key with a generator, as PyTensor's do: numbers, arguments, errors."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import occelo_random.functions as random
from occelo_graph import shared
from occelo_graph.tensor import as_tensor
from occelo_graph.tensors.type import TensorType
from occelo_random.ops.generators import DISTRIBUTIONS

PARAMETERS: dict[str, tuple[Any, ...]] = {
    "bernoulli": (0.5,),
    "beta": (2.0, 3.0),
    "betabinom": (5, 2.0, 3.0),
    "binomial": (5, 0.5),
    "categorical": ([0.25, 0.75],),
    "chisquare": (3.0,),
    "choice": (5,),
    "dirichlet": ([1.0, 2.0],),
    "dirichlet_multinomial": ([1.0, 2.0], 4),
    "f": (3.0, 5.0),
    "gamma": (2.0,),
    "gengamma": (2.0, 3.0),
    "geometric": (0.5,),
    "hypergeometric": (4, 5, 3),
    "integers": (2, 9),
    "invgamma": (2.0, 3.0),
    "lkj": (3, 2.0),
    "lomax": (2.0,),
    "multinomial": (5, [0.25, 0.75]),
    "multivariate_normal": ([0.0, 1.0], [[2.0, 1.0], [1.0, 2.0]]),
    "nbinom": (5, 0.5),
    "negative_binomial": (5, 0.5),
    "pareto": (2.0,),
    "permutation": (5,),
    "power": (2.0,),
    "shuffle": ([1.0, 2.0, 3.0],),
    "skewnorm": (2.0,),
    "t": (3.0,),
    "triangular": (0.0, 1.0, 2.0),
    "truncexpon": (2.0,),
    "truncnorm": (-1.0, 2.0),
    "vonmises": (0.5, 2.0),
    "wald": (1.0, 2.0),
    "weibull": (2.0,),
    "wishart": (4.0, [[2.0, 1.0], [1.0, 2.0]]),
}
"""Parameters of the distributions that need some."""


@pytest.mark.parametrize("name", sorted(DISTRIBUTIONS))
def test_each_distribution_draws_either_way(name: str) -> None:
    parameters = [as_tensor(p) if isinstance(p, list) else p for p in PARAMETERS.get(name, ())]
    draw: Any = getattr(random, name)
    rng = random.shared_rng(seed=5)
    by_key = draw(random.key(1), *parameters)
    following, drawn = draw(*parameters, rng=rng, return_next_rng=True, name="drawn")
    alone = draw(*parameters, rng=rng)
    assert by_key.type.ndim == drawn.type.ndim
    assert drawn.name == "drawn"
    assert (following.type == rng.type and following.owner is drawn.owner) or name == "choice"
    expected = DISTRIBUTIONS[name](*parameters, rng=rng)[1]
    if name != "multivariate_normal":  # its method differs
        np.testing.assert_array_equal(drawn.eval(), expected.eval())
    np.testing.assert_array_equal(drawn.eval(), alone.eval())


def test_numbers_are_those_of_numpy() -> None:
    def numpy() -> np.random.Generator:
        return np.random.default_rng(7)

    rng = random.shared_rng(seed=7)
    mean, cov = np.array([0.0, 1.0]), np.array([[2.0, 1.0], [1.0, 2.0]])
    pairs: list[tuple[Any, Any]] = [
        (random.normal(1.0, 2.0, size=(2, 3), rng=rng), numpy().normal(1.0, 2.0, (2, 3))),
        (random.normal(1.0, 2.0, 4, rng=rng), numpy().normal(1.0, 2.0, 4)),
        (random.normal(loc=[1.0, 2.0], rng=rng), numpy().normal([1.0, 2.0])),
        (random.normal(size=0, rng=rng), np.zeros(0)),
        (random.gamma(2.0, 4.0, size=3, rng=rng), numpy().gamma(2.0, 1 / 4.0, 3)),
        (random.gamma(2.0, scale=4.0, size=3, rng=rng), numpy().gamma(2.0, 4.0, 3)),
        (rng.gamma(2.0, rate=4.0, size=3)[1], numpy().gamma(2.0, 1 / 4.0, 3)),
        (random.permutation(5, rng=rng), numpy().permutation(5)),
        (random.integers(2, 9, size=3, rng=rng), numpy().integers(2, 9, 3)),
        (random.choice(9, (2, 2), rng=rng), numpy().choice(9, (2, 2))),
        (
            random.multivariate_normal(mean, cov, size=2, rng=rng),
            numpy().multivariate_normal(mean, cov, 2, method="cholesky"),
        ),
        (random.standard_normal(size=3, rng=rng), numpy().normal(size=3)),
        (random.normal(size=2, rng=shared(numpy())), numpy().normal(size=2)),
    ]
    for draw, expected in pairs:
        np.testing.assert_allclose(draw.eval(), expected, rtol=1e-14)
    assert random.permutation(5, (3,), rng=rng).eval().shape == (3, 5)
    assert random.normal(dtype="float32", rng=rng).dtype == "float32"


def test_what_is_a_key() -> None:
    keys = TensorType("uint64", (None,))("keys")
    assert random.normal(keys, size=2).type.ndim == 2
    assert random.normal(np.uint64(3), size=2).eval().shape == (2,)
    assert random.normal(key=random.key(3), size=2).eval().shape == (2,)
    np.testing.assert_array_equal(
        random.standard_normal(random.key(3), 2).eval(), random.normal(random.key(3), size=2).eval()
    )


def test_a_draw_without_key_and_generator_warns() -> None:
    with pytest.warns(UserWarning, match="each call of a function draws the same") as record:
        draw = random.uniform(2.0, 3.0, size=4)
    assert record[0].filename == __file__
    assert (draw.eval() >= 2).all()
    assert (draw.eval() < 3).all()


def test_mistakes_name_both_ways() -> None:
    rng, key = random.shared_rng(seed=1), random.key(1)
    for wrong in (
        lambda: random.normal(key, rng=rng),
        lambda: random.normal(key=key, rng=rng),
        lambda: random.normal(key, return_next_rng=True),
    ):
        with pytest.raises(TypeError, match=r"by a key, .* or with a generator, rng=; it got both"):
            wrong()
    with pytest.raises(TypeError, match=r"a generator as rng=; a first argument is a key or"):
        random.normal(rng, 0.0, 1.0)
    for wrong_rng in (5, key, np.random.default_rng(1)):
        with pytest.raises(TypeError, match=r"made by random.shared_rng\(\).*random.key\(seed\)"):
            random.normal(0.0, 1.0, rng=wrong_rng)
    with pytest.raises(TypeError, match="a rate or a scale"):
        random.gamma(2.0, 3.0, scale=4.0, rng=rng)
    with pytest.raises(TypeError, match="wrong"):
        random.choice(5, wrong=1, rng=rng)


def test_what_a_distribution_says_of_itself() -> None:
    normal: Any = random.normal
    assert (normal.name, normal.signature, normal.ndim_supp) == ("normal", "(),()->()", 0)
    assert tuple(normal.ndims_params) == (0, 0)
    made: Any = random.dirichlet
    assert made.ndim_supp == 1
    assert tuple(made.ndims_params) == (1,)
