"""The table of facts that users may state with `assume`, such as "symmetric", and `register_fact`, which adds facts.

`occelo_rewrite.assumptions` infers facts about variables from this table and from ops. Rules then use the facts.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from occelo_graph.errors import explained
from occelo_graph.extensions import place_of_caller, remember_extension
from occelo_graph.frozen_dataclasses import frozen_dataclass


@frozen_dataclass(
    eq=False
)  # facts are looked up often, so they are compared and hashed by identity
class Fact:
    """A property that the value of a variable may have, such as "symmetric" or "nonnegative".

    ``of_matrices`` is True for a property of the matrices in the last two dimensions. ``implies`` lists the names of
    facts that follow from this fact. ``transposed`` is the name of the fact that the transposed matrix then has, or
    None. TypeError if the name is missing.
    """

    name: str
    of_matrices: bool = True
    implies: tuple[str, ...] = ()
    transposed: str | None = None

    def __post_init__(self) -> None:
        if type(self.name) is not str or isinstance(self.implies, str):
            raise explained(
                TypeError(
                    f"A fact has a name and a tuple of names that it implies, got {self.name!r} and {self.implies!r}"
                ),
                "arguments",
            )


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
"""Maps names to facts. For real matrices, symmetric and hermitian mean the same."""

_places: dict[str, tuple[str, ...] | None] = {}


def register_fact(
    name: str,
    *,
    of_matrices: bool = True,
    implies: Sequence[str] = (),
    transposed: str | None = None,
) -> Fact:
    """Add the fact ``name`` to the table. `assume` then accepts it as a keyword. ``of_matrices`` is a parameter of `Fact`.

    ValueError if the name is not an identifier, if another place in the code registered a fact with this name, or if
    ``implies`` or ``transposed`` contains an unknown name.
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
    remember_extension("fact", name, of_matrices, tuple(implies), transposed, place=place)
    return fact


def with_implied(names: Iterable[str]) -> list[str]:
    """The names of facts, and of those that follow from them or are told of the transpose, directly or through others."""
    all_names: dict[str, None] = {}
    pending = list(names)
    while pending:
        fact = FACTS.get(name := pending.pop())
        if name not in all_names and fact is not None:
            pending += [*fact.implies, *([fact.transposed] if fact.transposed else [])]
        all_names[name] = None
    return list(all_names)
