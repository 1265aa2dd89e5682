"""The implications between facts, and the two facts that users cannot state: ``unsigned`` and ``counted``.

`AssumptionFeature` reads the implications. Inferences from elementwise functions, reductions and constants use
``unsigned`` to infer signs of quotients. Inferences from ranges and elementwise functions use ``counted`` to find
triangular matrices.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache

from occelo_graph.ops.control.facts import FACTS

__all__ = ["COUNTED", "UNSIGNED", "all_facts", "causes_of", "consequences", "effects_of"]

UNSIGNED = "unsigned"
"""A fact that users cannot state: no element is negative or -0.0. So a nonnegative value divided by an unsigned one is
never -inf.
"""

COUNTED = "counted"
"""A fact that users cannot state: the elements of a vector are 0, 1, 2 and so on."""

_WITH_UNSIGNED: Mapping[str, tuple[str, ...]] = {
    "positive": (UNSIGNED,),
    UNSIGNED: ("nonnegative",),
}


def all_facts() -> list[str]:
    """The names of all facts."""
    return [*FACTS, UNSIGNED, COUNTED]


def effects_of(fact: str) -> tuple[str, ...]:
    """The facts that ``fact`` implies directly."""
    return (*(FACTS[fact].implies if fact in FACTS else ()), *_WITH_UNSIGNED.get(fact, ()))


def causes_of(fact: str) -> Sequence[str]:
    """The facts that imply ``fact`` directly."""
    return _causes(tuple(FACTS.values())).get(fact, ())


@lru_cache(maxsize=4)
def _causes(facts: tuple[object, ...]) -> dict[str, list[str]]:
    """The causes of each fact, for the registered ``facts``."""
    found: dict[str, list[str]] = {}
    for cause in all_facts():
        for effect in effects_of(cause):
            found.setdefault(effect, []).append(cause)
    return found


def consequences(
    fact: str, holds: bool, square: bool = False, real: bool = True
) -> list[tuple[str, bool]]:
    """All that follows if a fact holds, or if it does not: pairs of a fact and whether it holds.

    The first pair is the fact itself.

    If a matrix is ``square``, "diagonal" implies "symmetric". If it is ``real``, "symmetric" and "hermitian" are the same.
    """
    found: dict[str, bool] = {}
    pending = [fact]
    same = {"symmetric": "hermitian", "hermitian": "symmetric"}
    while pending:
        each = pending.pop()
        if each in found:
            continue
        found[each] = holds
        pending.extend(effects_of(each) if holds else causes_of(each))
        if real and each in same:
            pending.append(same[each])
        if square and each == ("diagonal" if holds else "symmetric"):
            pending.append("symmetric" if holds else "diagonal")
    return list(found.items())
