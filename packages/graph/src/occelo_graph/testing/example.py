"""`Example`: a call of one op with arguments and a reference in NumPy or SciPy.

The tables of examples (`examples`) consist of such calls. The laws (`checks`) and the conformance suite of linkers
(`occelo_link.conform`) are functions of one example.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array, ArrayFunction, TensorFunction

__all__ = ["Example", "draw"]

Domain = tuple[float, float] | str
_SEED = 1729


@dataclass(frozen=True)
class Example:
    """A function of symbolic tensors, arguments, and the reference function of NumPy or SciPy.

    ``gradient`` lists the arguments with respect to which derivatives are compared with finite differences.
    ``tolerance`` is relative. ``batched`` lists the arguments over which it can be vectorized.
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
    """Numbers from an interval, integers of a dtype ("int"), or truth values ("bool").

    Equal arguments give equal numbers.
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
