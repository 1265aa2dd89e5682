"""`RandomStream`: its methods draw with generators in shared variables. So each call of a function draws new numbers.

Users get the class from `occelo.tensor.random`. It is the shortest way to draw with NumPy's generators.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import numpy as np

from occelo_random.ops.either_way import arranged
from occelo_random.ops.generators import (
    DISTRIBUTIONS,
    RandomGeneratorSharedVariable,
    in_pairs,
    shared_rng,
)


class RandomStream:
    """Has the functions of `generators` as methods: ``RandomStream(1).normal(0.0, 1.0, size=3)`` is a draw.

    Their arguments are those of PyTensor's functions: the second one of ``gamma`` is the rate, and ``multivariate_normal``
    draws by a Cholesky factor. TypeError if the seed is no integer, ValueError if it is negative.

    Each draw has its own generator, in a shared variable. The seeds of the generators are spawned from ``seed`` by
    `numpy.random.SeedSequence`, so all draws are independent. If ``seed`` is None, the operating system provides a
    seed. The generator after the draw is the default update of the shared variable. Functions apply this update unless
    ``no_default_updates`` excludes it. ``rng_ctor`` makes a generator from a seed sequence. The
    attributes of ``namespace`` are further distributions, which become methods of the stream, too.
    """

    def __init__(
        self,
        seed: int | Sequence[int] | None = None,
        namespace: Any = None,
        rng_ctor: Callable[[Any], np.random.Generator] = np.random.default_rng,
    ) -> None:
        self.default_instance_seed = seed
        self.rng_ctor = rng_ctor
        self.namespace = namespace
        self.gen_seedgen = np.random.SeedSequence(seed)
        self._states: list[RandomGeneratorSharedVariable] = []

    @property
    def state_updates(self) -> list[tuple[RandomGeneratorSharedVariable, Any]]:
        """Pairs of a generator and its update, in the order in which the draws were made.

        In a loop, a draw changes its generator in each step. The generator after the last step is the update.
        """
        updates = ((state, state.default_update) for state in self._states)
        # if a step of a loop was traced twice, the draws of the first trace have no update
        return [(state, update) for state, update in updates if update is not None]

    def updates(self) -> list[tuple[RandomGeneratorSharedVariable, Any]]:
        """The same as `state_updates`, as a method."""
        return self.state_updates

    def seed(self, seed: int | Sequence[int] | None = None) -> None:
        """Reset all generators to the states that they have at the start of a stream with the seed ``seed``.

        ``seed`` None means the seed that was given to the stream.
        """
        self.gen_seedgen = np.random.SeedSequence(
            self.default_instance_seed if seed is None else seed
        )
        states = self.gen_seedgen.spawn(len(self._states))
        for state, own in zip(self._states, states, strict=True):
            state.set_value(self.rng_ctor(own), borrow=True)

    def gen(self, distribution: Callable[..., Any], *parameters: Any, **options: Any) -> Any:
        """Draw from ``distribution`` with a new generator.

        ``distribution`` is a function of this package, or any `RandomVariable`.
        """
        (own,) = self.gen_seedgen.spawn(1)
        state = shared_rng(self.rng_ctor(own), borrow=True)
        following, draw = in_pairs(distribution)(*parameters, rng=state, **options)
        state.default_update = following
        self._states.append(state)
        return draw

    def _named(self, distribution: str, /, *parameters: Any, **options: Any) -> Any:
        parameters, options = arranged(distribution, parameters, options)
        return self.gen(DISTRIBUTIONS[distribution], *parameters, **options)

    def __getattr__(self, name: str) -> Callable[..., Any]:
        if name in DISTRIBUTIONS:
            return partial(self._named, name)
        distribution = None
        if self.__dict__.get("namespace") is not None:
            distribution = getattr(self.namespace, name, None)
        if distribution is None:
            raise AttributeError(f"A random stream has no distribution {name!r}", name=name)
        return partial(self.gen, distribution)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *DISTRIBUTIONS]
