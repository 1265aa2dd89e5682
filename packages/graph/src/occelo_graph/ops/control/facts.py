"""The facts that users may state about a value with `assume`, what each implies, and `register_fact`, which adds facts.

The rewrite package infers facts from ops (`occelo_rewrite.assumptions`), and rules ask for them.
"""

from __future__ import annotations

from collections.abc import Sequence

from occelo_graph.extensions import place_of_caller, remember_extension
from occelo_graph.frozen_dataclasses import frozen_dataclass

__all__ = ["FACTS", "Fact", "register_fact"]


@frozen_dataclass(eq=False)  # facts are asked for often, so they are hashed by identity
class Fact:
    """A property of a value.

    ``of_matrices`` is true if the fact is about the last two dimensions. ``implies`` lists the facts that follow from
    it. ``transposed`` is the fact that then holds for the transposed matrix; None if nothing is known about it.
    """

    name: str
    of_matrices: bool = True
    implies: tuple[str, ...] = ()
    transposed: str | None = None


FACTS: dict[str, Fact] = {
    fact.name: fact
    for fact in (
        Fact("diagonal", True, ("lower_triangular", "upper_triangular", "tridiagonal"), "diagonal"),
        Fact("lower_triangular", transposed="upper_triangular"),
        Fact("upper_triangular", transposed="lower_triangular"),
        Fact("tridiagonal", transposed="tridiagonal"),
        Fact("unit_diagonal", transposed="unit_diagonal"),
        Fact("symmetric", transposed="symmetric"),
        Fact("hermitian", transposed="hermitian"),
        Fact("positive_semidefinite", True, ("hermitian",), "positive_semidefinite"),
        Fact("positive_definite", True, ("positive_semidefinite",), "positive_definite"),
        Fact("orthogonal", transposed="orthogonal"),
        Fact("selection", True, ("nonnegative",)),
        Fact("permutation", True, ("selection", "orthogonal", "nonnegative"), "permutation"),
        Fact("unique_indices", of_matrices=False),
        Fact("nonnegative", of_matrices=False),
        Fact("positive", of_matrices=False, implies=("nonnegative",)),
    )
}
"""The facts by name. In matrices of real numbers, symmetric and hermitian are the same."""

_places: dict[str, tuple[str, ...] | None] = {}


def register_fact(
    name: str,
    *,
    of_matrices: bool = True,
    implies: Sequence[str] = (),
    transposed: str | None = None,
) -> Fact:
    """Add a fact. `assume` then accepts it as a keyword, and rules may ask for it. `Fact` describes the parameters.

    ValueError if the name is not an identifier, or is taken by a fact that was registered at another place in the code.
    ValueError also if ``implies`` or ``transposed`` names an unknown fact.
    """
    place = place_of_caller()
    if not name.isidentifier():
        raise ValueError(f"A fact is named by an identifier, not {name!r}")
    if name in FACTS and (place is None or _places.get(name) != place):
        raise ValueError(f"There is a fact named {name!r} already")
    unknown = [
        f
        for f in (*implies, *((transposed,) if transposed else ()))
        if f not in FACTS and f != name
    ]
    if unknown:
        raise ValueError(f"There is no fact {unknown[0]!r}; there are {', '.join(FACTS)}")
    fact = FACTS[name] = Fact(name, of_matrices, tuple(implies), transposed)
    _places[name] = place
    remember_extension("fact", name, of_matrices, tuple(implies), transposed)
    return fact
