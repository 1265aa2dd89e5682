"""The implications between facts, for instance that "diagonal" implies "lower_triangular".

`AssumptionFeature` reads the implications. The module also defines two internal facts that users cannot state. The
modules that infer facts use ``unsigned`` for the signs of quotients, and ``counted`` to recognize triangular masks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from occelo_graph.ops.control.facts import FACTS

UNSIGNED = "unsigned"
"""An internal fact: no element is negative or -0.0.

If such a value divides a nonnegative value, the result is never -inf.
"""

COUNTED = "counted"
"""An internal fact: the elements of a vector are 0, 1, 2 and so on."""

_WITH_UNSIGNED: Mapping[str, tuple[str, ...]] = {
    "positive": (UNSIGNED,),
    UNSIGNED: ("nonnegative",),
}


def all_facts() -> list[str]:
    """The names of all facts, including the internal ones."""
    return [*FACTS, UNSIGNED, COUNTED]


def effects_of(fact: str) -> tuple[str, ...]:
    """The facts that ``fact`` implies directly."""
    return (*(FACTS[fact].implies if fact in FACTS else ()), *_WITH_UNSIGNED.get(fact, ()))


def causes_of(fact: str) -> Sequence[str]:
    """The facts that imply ``fact`` directly."""
    return _causes(tuple(FACTS.values())).get(fact, ())


@lru_cache(maxsize=4)
def _causes(facts: tuple[object, ...]) -> dict[str, list[str]]:
    """A dict from each fact to the facts that imply it directly.

    ``facts`` are all registered facts. They are only the key under which the result is memoized.
    """
    causes: dict[str, list[str]] = {}
    for cause in all_facts():
        for effect in effects_of(cause):
            causes.setdefault(effect, []).append(cause)
    return causes


def consequences(
    fact: str, holds: bool, square: bool = False, real: bool = True
) -> list[tuple[str, bool]]:
    """All that follows from ``fact`` if ``holds`` is True, or from its negation if ``holds`` is False.

    The result has pairs of a fact and whether this fact holds.

    The first pair is ``fact`` itself. For a ``square`` matrix, "diagonal" implies "symmetric". For a ``real`` matrix,
    "symmetric" and "hermitian" imply each other.
    """
    implied: dict[str, bool] = {}
    pending = [fact]
    same = {"symmetric": "hermitian", "hermitian": "symmetric"}
    while pending:
        each = pending.pop()
        if each in implied:
            continue
        implied[each] = holds
        pending.extend(effects_of(each) if holds else causes_of(each))
        if real and each in same:
            pending.append(same[each])
        if square and each == ("diagonal" if holds else "symmetric"):
            pending.append("symmetric" if holds else "diagonal")
    return list(implied.items())
