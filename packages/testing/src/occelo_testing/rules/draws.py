"""Random variations of the cases of rules: all dtypes, static and dynamic lengths, lengths of 0 and 1, special values.

`testing.laws` and the tests of rules use these variations.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from occelo_graph import TensorVariable
from occelo_graph import tensor as ot
from occelo_rewrite.examples.case import Case

DTYPES = (
    "bool",
    "int8",
    "uint8",
    "int16",
    "int32",
    "int64",
    "uint64",
    "float16",
    "float32",
    "float64",
    "complex64",
    "complex128",
)
KINDS = ("tame", "special", "extreme")
SINGULAR = "singular"
"""One more kind, for cases that say for which inputs a matrix is singular."""
_READERS = ("alone", "gradient", "readers", "everything")


@dataclass(frozen=True)
class Draw:
    """A random variation of a case: dtypes, static shapes and lengths of its inputs, and a choice of outputs.

    ``kind`` is the kind of values, one of `KINDS` or `SINGULAR`. ``readers`` chooses the outputs of the graph: only the value
    ("alone"), also its gradient ("gradient"), also some intermediate variables ("readers"), or the gradient and all
    intermediate variables ("everything").
    """

    case: Case
    dtypes: tuple[str, ...]
    static: tuple[tuple[int | None, ...], ...]
    lengths: tuple[tuple[int, ...], ...]
    kind: str = "tame"
    readers: str = "alone"
    seed: int = 0

    def inputs(self) -> list[TensorVariable]:
        """New input variables with the dtypes and static shapes of this draw."""
        return [
            ot.TensorType(dtype, shape).make_variable(f"x{i}")
            for i, (dtype, shape) in enumerate(zip(self.dtypes, self.static, strict=True))
        ]

    def values(self) -> list[Any]:
        """Random arrays with the dtypes and lengths of this draw."""
        generator = np.random.default_rng(self.seed)
        return [
            _values(generator, self.case, dtype, lengths, self.kind)
            for dtype, lengths in zip(self.dtypes, self.lengths, strict=True)
        ]


def draw(case: Case, seed: int) -> Draw:
    """The random variation of a case that a seed determines.

    For the seed 0, it is the case as written, with dynamic lengths.
    """
    if seed == 0:
        unknown = tuple((None,) * len(s) for s in case.shapes)
        return Draw(case, (case.dtype,) * len(case.shapes), unknown, case.shapes)
    generator = np.random.default_rng([seed, *case.rule.encode()])
    dtypes = _drawn_dtypes(case, generator)
    lengths = _drawn_lengths(case, generator)
    static: list[tuple[int | None, ...]] = []
    cut: list[tuple[int, ...]] = []
    how = generator.integers(3)
    for own in lengths:
        own_static: list[int | None] = [
            n if how == 1 or (how == 2 and generator.integers(2)) else None for n in own
        ]
        if case.wildcards and generator.integers(4) == 0:
            own, own_static = _broadcast(own, own_static, generator)
        elif case.wildcards and generator.integers(8) == 0:
            # lengths that do not fit the other inputs; only the run finds this out
            own = tuple(int(generator.integers(4)) for _ in own)
            own_static = list[int | None]([None] * len(own))
        static.append(tuple(own_static))
        cut.append(own)
    return Draw(
        case,
        dtypes,
        tuple(static),
        tuple(cut),
        str(generator.choice((*KINDS, SINGULAR, SINGULAR) if case.vanishing else KINDS)),
        str(generator.choice(_READERS)),
        seed,
    )


def _broadcast(
    own: tuple[int, ...], known: list[int | None], generator: Any
) -> tuple[tuple[int, ...], list[int | None]]:
    """Lengths that broadcast to ``own``: some leading axes are dropped, and some lengths become a static 1."""
    first = int(generator.integers(len(own) + 1))
    lengths, static = list(own[first:]), known[first:]
    for i in range(len(lengths)):
        if generator.integers(3) == 0:
            lengths[i] = static[i] = 1
    return tuple(lengths), static


def _drawn_dtypes(case: Case, generator: Any) -> tuple[str, ...]:
    count = len(case.shapes)
    how = generator.integers(4)
    if how == 0:
        return (case.dtype,) * count
    if how == 1 and case.wildcards:
        return tuple(str(generator.choice(DTYPES)) for _ in range(count))
    return (str(generator.choice(DTYPES)),) * count


def _drawn_lengths(case: Case, generator: Any) -> list[tuple[int, ...]]:
    """The lengths of the case. In some draws, all lengths that equal some number are replaced by 1 or by 0."""
    if generator.integers(3) == 0:
        return list(case.shapes)
    instead = {n: int(generator.choice([n, n, 1, 1, 0])) for s in case.shapes for n in s}
    return [tuple(instead[n] for n in s) for s in case.shapes]


def _values(generator: Any, case: Case, dtype: str, lengths: tuple[int, ...], kind: str) -> Any:
    """A random array: "tame" (within the case's bounds), "special" (such as NaN and -0.0), "extreme" (nearly out of
    range) or "singular" (tame, but for some of its rows a matrix that the case computes has rows of zeros).
    """
    if kind == SINGULAR:
        return _singular(generator, case, dtype, lengths)
    own = np.dtype(dtype)
    if own.kind == "b":
        return generator.integers(2, size=lengths).astype(bool)
    if own.kind == "c":
        parts = "float64" if own.itemsize == 16 else "float32"
        real, imaginary = (
            _values(generator, case, parts, lengths, kind if part else "tame") for part in (1, 0)
        )
        return (real + 1j * imaginary).astype(own)
    tame = generator.uniform(case.low, case.high, lengths)
    if own.kind in "iu":
        rounded = np.rint(np.abs(tame) if own.kind == "u" else tame).astype(own)
        if kind == "tame":
            return rounded
        info = np.iinfo(own)
        pool = np.array([info.min, info.max, info.max // 2 + 1, 0, 1], own)
    else:
        rounded = tame.astype(own)
        if kind == "tame":
            return rounded
        pool = _special(own) if kind == "special" else _extreme(own)
    chosen = pool[generator.integers(len(pool), size=lengths)]
    return np.where(generator.integers(4, size=lengths) == 0, rounded, chosen).astype(own)


def _singular(generator: Any, case: Case, dtype: str, lengths: tuple[int, ...]) -> Any:
    """A tame array, some rows of which are those of the identity times a number of the case's ``vanishing``."""
    tame = _values(generator, case, dtype, lengths, "tame")
    own = np.dtype(dtype)
    fits = [v for v in case.vanishing if v >= 0 or own.kind not in "bu"]
    if tame.ndim < 2 or not fits:
        return tame
    chosen = generator.integers(2, size=lengths[-2]).astype(bool)
    rows = np.eye(lengths[-2], lengths[-1]) * generator.choice(fits)
    singular: Any = tame.copy()
    singular[..., chosen, :] = rows.astype(own)[chosen]
    return singular


def _special(own: Any) -> Any:
    with np.errstate(all="ignore"):
        return np.array([np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, 2.0], own)


def _extreme(own: Any) -> Any:
    info = np.finfo(own)
    root, small = np.sqrt(info.max), np.sqrt(info.tiny)
    powers = [info.max, info.max / 2, root, root * 2, info.tiny, small, small / 2, 0.0]
    with np.errstate(all="ignore"):
        logs = [float(np.log(info.max)) * f for f in (0.6, 0.99, 1.1)]
        positive = np.array([*powers, *logs, float(info.smallest_subnormal), 1.0, info.eps], own)
    return np.concatenate([positive, -positive])
