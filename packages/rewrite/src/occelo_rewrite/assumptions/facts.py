"""What facts there are, and which follow from which."""

from __future__ import annotations

from occelo_graph.ops.control import ASSUMPTIONS

__all__ = ["IMPLIED_BY", "IMPLIES", "consequences"]


IMPLIES: dict[str, tuple[str, ...]] = {
    "diagonal": ("lower_triangular", "upper_triangular", "symmetric"),
    "positive_definite": ("symmetric",),
    "permutation": ("selection", "orthogonal", "nonnegative"),
    "selection": ("nonnegative",),
    "positive": ("nonnegative",),
}
"""A fact to those that follow from it; their negations follow the other way."""

IMPLIED_BY: dict[str, tuple[str, ...]] = {
    fact: tuple(cause for cause, effects in IMPLIES.items() if fact in effects)
    for fact in ASSUMPTIONS
}


def consequences(fact: str, holds: bool) -> list[tuple[str, bool]]:
    """A fact and all that follows from it."""
    found: dict[str, bool] = {}
    pending = [fact]
    follows = IMPLIES if holds else IMPLIED_BY
    while pending:
        each = pending.pop()
        if each not in found:
            found[each] = holds
            pending.extend(follows.get(each, ()))
    return list(found.items())
