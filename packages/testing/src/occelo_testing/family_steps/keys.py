"""Steps of random programs: draws by keys, whose bits every linker shares with the interpreter."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import tensor as ot
from occelo_graph.interpret import evaluate
from occelo_random import functions as random
from occelo_testing.programs.drawing import Drawing, Made, Unfit
from occelo_testing.programs.step_family import StepFamily


def interpreted(function: Any, *arrays: Any) -> Any:
    variables = [ot.TensorType(a.dtype, (None,) * a.ndim).make_variable() for a in arrays]
    result = function(*variables)
    return np.asarray(evaluate(result, dict(zip(variables, arrays, strict=True))))


# the draws that consist of bits alone, then those that round
_EXACT = (
    "random.bits({key}, {size})",
    "random.uniform({key}, size={size})",
    "random.uniform({key}, size={size}, dtype='float32')",
    "random.integers({key}, -5, 1000, size={size})",
    "random.bernoulli({key}, 0.25, size={size})",
)
_ROUNDED = (
    "random.normal({key}, size={size})",
    "random.exponential({key}, size={size})",
)


def _key(d: Drawing) -> Made:
    def fits(m: Made) -> bool:
        return m.value.dtype == np.uint64 and m.ndim == 0

    if d.chance(0.4):
        ends = [0, 1, 2**32 - 1, 2**32, 2**64 - 1]
        return d.input_of(np.array(d.choice(ends), "uint64"))
    return d.pick(fits)


def _step(d: Drawing, name: str, args: list[Made], text: str, rounds: str = "no") -> Made:
    names = ", ".join(f"k{i}" for i in range(len(args)))
    inner = text
    for i in range(len(args)):
        inner = inner.replace(f"{{{i}}}", f"k{i}")
    arguments = ", ".join(f"{{{i}}}" for i in range(len(args)))
    return d.step(name, args, f"interpreted(lambda {names}: {inner}, {arguments})", text, rounds)


def _derived(d: Drawing) -> str:
    """A key that no other step uses."""
    own = f"random.fold_in({{0}}, {len(d.nodes)})"
    return d.choice([own, f"random.split({own}, 3)[{d.whole(-3, 2)}]"])


def derived_key(d: Drawing) -> None:
    _step(d, "key", [_key(d)], _derived(d))


def draws(d: Drawing) -> None:
    args = [_key(d)]
    size = str(tuple(d.choice(d.lengths) for _ in range(d.whole(0, 2))))
    if d.chance(0.4):
        args.append(d.pick(lambda m: m.ndim > 0))
        size = "ot.shape_tuple({1})"
    forms = _EXACT if d.profile.smooth or d.chance(0.7) else _ROUNDED
    text = d.choice(forms).replace("{key}", _derived(d)).replace("{size}", size)
    if d.profile.smooth and "uniform" not in text:
        raise Unfit
    _step(d, "draw", args, text, "no" if forms is _EXACT else "result")


def with_parameters(d: Drawing) -> None:
    loc = d.pick(lambda m: m.value.dtype == np.float64 and bool(np.isfinite(m.value).all()))
    text = f"random.normal({_derived(d)}, {{1}}, 0.5)"
    _step(d, "draw", [_key(d), loc], text, "inside")


def batch_of_keys(d: Drawing) -> None:
    args = [_key(d)]
    count = d.choice(d.lengths)
    if not count:
        raise Unfit
    own = f"random.fold_in({{0}}, {len(d.nodes)})"
    _step(d, "draw", args, f"random.uniform(random.split({own}, {count}))")


def permuted(d: Drawing) -> None:
    x = d.pick(lambda m: m.ndim > 0)
    _step(d, "permutation", [_key(d), x], f"random.permutation({_derived(d)}, {{1}})")


STEPS = StepFamily(
    "keys",
    [
        (1.0, derived_key),
        (5.0, draws),
        (1.0, with_parameters),
        (1.0, batch_of_keys),
        (1.0, permuted),
    ],
    [(2.0, draws), (1.0, with_parameters), (1.0, permuted)],
    {"random": random},
    (interpreted,),
    {"random": random, "ot": ot, "evaluate": evaluate},
    {
        "random": "from occelo.tensor import random",
        "interpreted": "from occelo_graph.interpret import evaluate",
    },
)
