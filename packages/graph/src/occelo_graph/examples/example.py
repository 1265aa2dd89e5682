"""`Example`: a call of one op, with arguments and a function of NumPy or SciPy that computes the expected result.

The table in `examples` is a list of examples. Each law in `checks` tests one example; so does
``test_an_example`` of the conformance suite of linkers (`occelo_testing.conforming_ops`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

Domain = tuple[float, float] | str
_SEED = 1729


@dataclass(frozen=True)
class Example:
    """A call of one op: ``function`` of symbolic tensors, ``arguments``, and ``reference``, a function of arrays.

    ``gradient`` has the positions of arguments that gradients are tested for. ``batched`` has the positions of
    arguments that the function can be vectorized over. ``tolerance`` is the allowed relative difference from the
    reference.
    """

    name: str
    family: str
    function: TensorFunction
    reference: ArrayFunction
    arguments: tuple[Array, ...]
    gradient: tuple[int, ...] = ()
    tolerance: float = 1e-10
    batched: tuple[int, ...] = ()

    def __post_init__(self) -> None:
        object.__setattr__(self, "arguments", tuple(np.asarray(a) for a in self.arguments))

    def __str__(self) -> str:
        shapes = ",".join(f"{a.dtype}{list(a.shape)}".replace(" ", "") for a in self.arguments)
        return f"{self.name}({shapes})"


def draw(domain: Domain, shape: Sequence[int], dtype: str = "float64", salt: int = 0) -> Array:
    """A pseudo-random array with elements from ``domain``. Equal arguments yield equal arrays.

    ``domain`` is an interval of floats, "int" (small integers), "nonzero int" (integers from 1 to 6) or "bool".
    """
    generator = np.random.default_rng([_SEED, salt, *shape])
    if domain == "bool":
        return np.asarray(generator.random(tuple(shape)) > 0.5)
    if domain == "int":
        low = 0 if dtype.startswith("u") else -6
        return np.asarray(generator.integers(low, 7, size=tuple(shape)), dtype=dtype)
    if domain == "nonzero int":
        return np.asarray(generator.integers(1, 7, size=tuple(shape)), dtype=dtype)
    assert not isinstance(domain, str)
    least, most = domain
    values = least + (most - least) * generator.random(tuple(shape))
    if dtype.startswith("complex"):
        return np.asarray(values + 1j * generator.random(tuple(shape)), dtype=dtype)
    return np.asarray(values, dtype=dtype)
