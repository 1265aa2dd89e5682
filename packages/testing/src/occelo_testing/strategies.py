"""A Hypothesis strategy for random well-typed graphs. Tests of every layer draw graphs from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st

from occelo_graph import tensor as ot
from occelo_graph.tensors.type import TensorType

_UNARY = ("exp", "sin", "tanh", "sigmoid", "sqr", "abs", "neg", "softplus", "floor", "arctan")
_BINARY = ("add", "sub", "mul", "maximum", "minimum", "arctan2", "logaddexp", "lt", "eq")
_REDUCE = ("sum", "mean", "max", "min", "prod", "logsumexp", "argmax", "cumsum", "softmax")


@dataclass(frozen=True)
class RandomGraph:
    """A random graph: its inputs, its outputs, and values for the inputs."""

    inputs: list[Any]
    outputs: list[Any]
    values: list[Any]

    def given(self) -> dict[Any, Any]:
        """A dict from inputs to their values."""
        return dict(zip(self.inputs, self.values, strict=True))


def _broadcasts(a: Any, b: Any) -> bool:
    pairs = zip(reversed(a.type.shape), reversed(b.type.shape), strict=False)
    return all(m == n or 1 in (m, n) for m, n in pairs)


@st.composite
def graphs(
    draw: st.DrawFn, max_nodes: int = 12, dtypes: tuple[str, ...] = ("float64",)
) -> RandomGraph:
    """A graph of at most ``max_nodes`` operations and one to three inputs of static shapes.

    Lengths and numbers of dimensions are from 0 to 3. Each operation reads random earlier variables, so a variable may
    have several users.
    """
    seed = draw(st.integers(0, 2**16))
    generator = np.random.default_rng(seed)
    inputs: list[Any] = []
    values: list[Any] = []
    for i in range(draw(st.integers(1, 3))):
        shape = tuple(draw(st.lists(st.integers(0, 3), max_size=3)))
        dtype = draw(st.sampled_from(dtypes))
        inputs.append(TensorType(dtype, shape).make_variable(f"x{i}"))
        values.append(np.asarray(generator.normal(size=shape) * 2, dtype=dtype))
    pool: list[Any] = list(inputs)
    for _ in range(draw(st.integers(1, max_nodes))):
        pool.append(_step(draw, pool))
    chosen = draw(st.lists(st.sampled_from(pool), min_size=1, max_size=3))
    return RandomGraph(inputs, chosen, values)


def _step(draw: st.DrawFn, pool: list[Any]) -> Any:
    x = draw(st.sampled_from(pool))
    if x.dtype == "bool":
        x = x.astype("float64")
    kind = draw(st.sampled_from(["unary", "binary", "reduce", "shape", "index", "join", "scalar"]))
    if kind == "binary":
        fitting = [y for y in pool if _broadcasts(x, y) and y.dtype != "bool"]
        return getattr(ot, draw(st.sampled_from(_BINARY)))(x, draw(st.sampled_from([*fitting, x])))
    if kind == "reduce" and x.ndim:
        axis = draw(st.integers(0, x.ndim - 1))
        name = draw(st.sampled_from(_REDUCE))
        if x.type.shape[axis] == 0 and name in ("max", "min", "argmax", "mean"):
            name = "sum"
        return getattr(ot, name)(x, axis=axis)
    if kind == "shape":
        changes: list[Callable[[Any], Any]] = [
            lambda v: v.T,
            lambda v: v.flatten(),
            lambda v: ot.expand_dims(v, 0),
        ]
        return draw(st.sampled_from(changes))(x)
    if kind == "index" and x.ndim:
        keys: list[Any] = [slice(None, None, -1), slice(1, None), slice(None, 2)]
        if x.type.shape[0]:
            keys += [0, -1, [0, 0]]
        return x[draw(st.sampled_from(keys))]
    if kind == "join" and x.ndim:
        return ot.join(0, x, x)
    if kind == "scalar":
        return x * draw(st.sampled_from([0.5, -1.0, 2.0])) + draw(st.sampled_from([0.0, 1.0]))
    return getattr(ot, draw(st.sampled_from(_UNARY)))(x)
