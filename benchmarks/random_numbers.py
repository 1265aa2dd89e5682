"""Draws of random numbers for the benchmarks, beside those of NumPy, JAX, PyTorch and PyTensor: the part `random` of `run`.

Libraries draw different numbers, so what is compared before timing is the mean of each draw with that of its law.
"""

from __future__ import annotations

import importlib
import importlib.util
from collections.abc import Callable
from typing import Any

import numpy as np

__all__ = ["random_goal", "random_times"]

COUNT = 1_000_000
LENGTH, VECTORS, STEPS = 50, 10_000, 10_000
SHARES = np.arange(1.0, 11.0) / 55.0

GENERATORS: dict[str, tuple[tuple[Any, ...], float]] = {
    "uniform": ((0.0, 1.0), 0.5),
    "normal": ((0.0, 1.0), 0.0),
    "exponential": ((1.0,), 1.0),
    "gamma": ((2.5,), 2.5),
    "integers": ((0, 11), 5.0),
    "poisson": ((4.0,), 4.0),
}
"""Laws that are drawn with generators of NumPy as well, with their parameters and means."""

Draw = Callable[[], Any]


def _generators(name: str) -> str:
    return f"{name}, NumPy's generator"


def random_goal(case: str) -> float:
    """How many times as fast as the best peer a case is to be. Poisson numbers of NumPy's generators need as many words as theirs."""
    return 1.3 if case == _generators("poisson") else 2.0


def _covariance() -> Any:
    root = np.random.default_rng(1).normal(size=(LENGTH, LENGTH))
    return root @ root.T / LENGTH + np.eye(LENGTH)


COVARIANCE = _covariance()
MEANS = {
    "uniforms": 0.5,
    "normals": 0.0,
    "exponentials": 1.0,
    "gammas": 2.5,
    "categoricals": float(SHARES @ np.arange(10)),
    "mean of exp(normal)": float(np.exp(0.5)),
    "normal vectors": 0.0,
    "10 normals in a loop": 0.0,
    **{_generators(name): mean for name, (_, mean) in GENERATORS.items()},
}


def _occelo() -> dict[str, Draw]:
    import occelo as oc
    import occelo.tensor as ot

    random = ot.random
    key = ot.scalar("key", dtype="uint64")

    def step(total: Any, mine: Any) -> Any:
        return total + random.normal(mine, size=10), None

    looped, _ = oc.loop(step, ot.zeros(10), random.split(key, STEPS))
    made = {
        "uniforms": random.uniform(key, size=COUNT),
        "normals": random.normal(key, size=COUNT),
        "exponentials": random.exponential(key, size=COUNT),
        "gammas": random.gamma(key, 2.5, size=COUNT),
        "categoricals": random.categorical(key, SHARES, size=COUNT),
        "mean of exp(normal)": ot.exp(random.normal(key, size=COUNT)).mean(),
        "normal vectors": random.multivariate_normal(
            key, np.zeros(LENGTH), COVARIANCE, size=VECTORS
        ),
        "10 normals in a loop": looped / STEPS,
    }
    seed = np.uint64(2024)
    functions = {name: oc.function([key], value) for name, value in made.items()}
    draws: dict[str, Draw] = {name: lambda f=f: f(seed) for name, f in functions.items()}
    for name, (parameters, _) in GENERATORS.items():
        rng = random.shared_rng(seed=1)
        following, drawn = getattr(rng, name)(*parameters, size=COUNT)
        draws[_generators(name)] = oc.function([], drawn, updates={rng: following})
    return draws


def _numpy() -> dict[str, Draw]:
    rng = np.random.default_rng(1)
    return {
        "uniforms": lambda: rng.random(COUNT),
        "normals": lambda: rng.standard_normal(COUNT),
        "exponentials": lambda: rng.standard_exponential(COUNT),
        "gammas": lambda: rng.standard_gamma(2.5, COUNT),
        "categoricals": lambda: rng.choice(10, size=COUNT, p=SHARES),
        "mean of exp(normal)": lambda: np.exp(rng.standard_normal(COUNT)).mean(),
        "normal vectors": lambda: rng.multivariate_normal(
            np.zeros(LENGTH), COVARIANCE, size=VECTORS, method="cholesky"
        ),
        "10 normals in a loop": lambda: sum(rng.standard_normal(10) for _ in range(STEPS)) / STEPS,
        **{
            _generators(name): lambda name=name, p=p: getattr(rng, name)(*p, size=COUNT)
            for name, (p, _) in GENERATORS.items()
        },
    }


def _jax() -> dict[str, Draw]:
    import jax
    import jax.numpy as jnp

    jax.config.update("jax_enable_x64", True)
    random, key = jax.random, jax.random.key(1)

    def looped(k: Any) -> Any:
        def step(total: Any, mine: Any) -> Any:
            return total + random.normal(mine, (10,)), None

        return jax.lax.scan(step, jnp.zeros(10), random.split(k, STEPS))[0] / STEPS

    made: dict[str, Callable[[Any], Any]] = {
        "uniforms": lambda k: random.uniform(k, (COUNT,)),
        "normals": lambda k: random.normal(k, (COUNT,)),
        "exponentials": lambda k: random.exponential(k, (COUNT,)),
        "gammas": lambda k: random.gamma(k, 2.5, (COUNT,)),
        "categoricals": lambda k: random.choice(k, 10, (COUNT,), p=jnp.asarray(SHARES)),
        "mean of exp(normal)": lambda k: jnp.exp(random.normal(k, (COUNT,))).mean(),
        "normal vectors": lambda k: random.multivariate_normal(
            k, jnp.zeros(LENGTH), jnp.asarray(COVARIANCE), (VECTORS,)
        ),
        "10 normals in a loop": looped,
    }
    compiled = {name: jax.jit(f) for name, f in made.items()}
    return {name: lambda f=f: f(key).block_until_ready() for name, f in compiled.items()}


def _torch() -> dict[str, Draw]:
    import torch

    rng, dtype = torch.Generator().manual_seed(1), torch.float64
    shares, factor = torch.asarray(SHARES), torch.linalg.cholesky(torch.asarray(COVARIANCE))
    a = torch.full((COUNT,), 2.5, dtype=dtype)

    def exponentials() -> Any:
        return torch.empty(COUNT, dtype=dtype).exponential_(generator=rng)

    def normals(*shape: int) -> Any:
        return torch.randn(*shape, dtype=dtype, generator=rng)

    return {
        "uniforms": lambda: torch.rand(COUNT, dtype=dtype, generator=rng),
        "normals": lambda: normals(COUNT),
        "exponentials": exponentials,
        "gammas": lambda: torch._standard_gamma(a, generator=rng),
        "categoricals": lambda: torch.multinomial(shares, COUNT, True, generator=rng),
        "mean of exp(normal)": lambda: normals(COUNT).exp().mean(),
        "normal vectors": lambda: normals(VECTORS, LENGTH) @ factor.T,
        "10 normals in a loop": lambda: sum(normals(10) for _ in range(STEPS)) / STEPS,
    }


def _pytensor() -> dict[str, Draw]:
    pytensor: Any = importlib.import_module("pytensor")
    tensor: Any = importlib.import_module("pytensor.tensor")
    importlib.import_module("pytensor.tensor.random")

    def compiled(rng: Any, made: Any, of_draw: Callable[[Any], Any] = lambda x: x) -> Draw:
        # version 3 returns the next generator and the draw, earlier ones the draw
        following, x = made if isinstance(made, list | tuple) else made.owner.outputs
        function: Draw = pytensor.function([], of_draw(x), updates={rng: following}, mode="NUMBA")
        return function

    def drawing(name: str, *parameters: Any, size: int = COUNT, of_draw: Any = lambda x: x) -> Draw:
        rng = pytensor.shared(np.random.default_rng(1))
        scale = {"scale": 1.0} if name == "gamma" else {}
        made = getattr(tensor.random, name)(*parameters, size=size, rng=rng, **scale)
        return compiled(rng, made, of_draw)

    def looped() -> Draw:
        rng = pytensor.shared(np.random.default_rng(1))

        def step(total: Any, mine: Any) -> Any:
            made = tensor.random.normal(0.0, 1.0, size=10, rng=mine)
            following, x = made if isinstance(made, list | tuple) else made.owner.outputs
            return [total + x, following]

        (totals, last), _ = pytensor.scan(
            step, outputs_info=[tensor.zeros(10), rng], n_steps=STEPS, return_updates=True
        )
        function: Draw = pytensor.function(
            [], totals[-1] / STEPS, updates={rng: last}, mode="NUMBA"
        )
        return function

    return {
        "uniforms": drawing("uniform", 0.0, 1.0),
        "normals": drawing("normal", 0.0, 1.0),
        "exponentials": drawing("exponential", 1.0),
        "gammas": drawing("gamma", 2.5),
        "categoricals": drawing("categorical", SHARES),
        "mean of exp(normal)": drawing("normal", 0.0, 1.0, of_draw=lambda x: tensor.exp(x).mean()),
        "normal vectors": drawing(
            "multivariate_normal", np.zeros(LENGTH), COVARIANCE, size=VECTORS
        ),
        "10 normals in a loop": looped(),
    }


PEERS: dict[str, tuple[str, Callable[[], dict[str, Draw]]]] = {
    "occelo": ("occelo", _occelo),
    "numpy": ("numpy", _numpy),
    "jax": ("jax", _jax),
    "torch": ("torch", _torch),
    "pytensor": ("pytensor", _pytensor),
}


def _check(name: str, peer: str, value: Any) -> None:
    values = np.asarray(value, "float64")
    expected = MEANS[name]
    if abs(values.mean() - expected) > 0.02:
        raise ValueError(f"{name} of {peer} have the mean {values.mean()} instead of {expected}")


def random_times(
    rounds: int, chosen: str, clock: Callable[[], float]
) -> dict[str, dict[str, float]]:
    """Seconds of each case with each library that is installed, the least of the rounds, measured alternately."""
    found = {
        peer: make() for peer, (module, make) in PEERS.items() if importlib.util.find_spec(module)
    }
    times: dict[str, dict[str, float]] = {}
    for name in MEANS:
        if chosen not in name:
            continue
        best = times[name] = {}
        for peer, draws in found.items():
            if name in draws:
                _check(name, peer, draws[name]())
        for _ in range(max(rounds, 3)):
            for peer, draws in found.items():
                if name not in draws:
                    continue
                start = clock()
                draws[name]()
                best[peer] = min(best.get(peer, np.inf), clock() - start)
    return times
