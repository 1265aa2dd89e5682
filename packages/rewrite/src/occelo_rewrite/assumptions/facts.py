"""The names of facts, and the implications between them.

The other modules of this package use it to record everything that a fact implies.
"""

from __future__ import annotations

from occelo_graph.ops.control import ASSUMPTIONS

__all__ = ["IMPLIED_BY", "IMPLIES", "UNSIGNED", "consequences"]

UNSIGNED = "unsigned"
"""A fact that users cannot state: no element has a minus sign, not even a zero; so no quotient by it is -inf."""


IMPLIES: dict[str, tuple[str, ...]] = {
    "diagonal": ("lower_triangular", "upper_triangular"),
    "positive_definite": ("symmetric",),
    "permutation": ("selection", "orthogonal", "nonnegative"),
    "selection": ("nonnegative",),
    "positive": ("nonnegative", UNSIGNED),
    UNSIGNED: ("nonnegative",),
}
"""Each fact with the facts that it implies; the negation of one of these implies its negation.

A diagonal matrix is also symmetric, if it is known to be square.
"""

IMPLIED_BY: dict[str, tuple[str, ...]] = {
    fact: tuple(cause for cause, effects in IMPLIES.items() if fact in effects)
    for fact in (*ASSUMPTIONS, UNSIGNED)
}


def consequences(fact: str, holds: bool, square: bool = False) -> list[tuple[str, bool]]:
    """A fact and all facts that it implies, for a matrix that is known to be square or not."""
    found: dict[str, bool] = {}
    pending = [fact]
    follows = IMPLIES if holds else IMPLIED_BY
    while pending:
        each = pending.pop()
        if each not in found:
            found[each] = holds
            pending.extend(follows.get(each, ()))
            if square and each == ("diagonal" if holds else "symmetric"):
                pending.append("symmetric" if holds else "diagonal")
    return list(found.items())
