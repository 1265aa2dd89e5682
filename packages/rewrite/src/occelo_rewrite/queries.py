"""Queries, which choose rewrites by tags, the optimizers (queries by name), and `CHANGES`: the tags by which a rule declares how
it may change results.

A function from the cache needs the query of its mode, and no more of this package: neither the databases nor a rule.

A rule without any of these tags keeps every result bit for bit, and every error of the ops that it replaces. What no
result depends on any more is not computed, so that errors of operands that a law drops need no tag. `testing.laws` checks that each rule changes results
only as its tags allow. The optimizer ``strict`` of `pipeline` excludes rules by these tags.

Complex numbers that are not finite, and signs of complex zeros, are exceptions: every rule may change them. Libraries
differ in products of such numbers, and these products depend on the order of operations.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field, replace
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.extensions import place_of_caller
from occelo_graph.frozen_dataclasses import frozen_dataclass

Rewriter = Any
"""A `NodeRewriter`, a `GraphRewriter` or a `RewriteDatabase`."""

CHANGES: dict[str, str] = {
    "rounding": "the last digits of a result, and the sign of a zero; what is finite, zero or negative stays so",
    "stabler": "a result that overflows, vanishes or loses digits as written; it becomes that of exact arithmetic",
    "comparison": "digits that cancel: whether a result is zero or negative, and so what it compares to",
    "overflow": "what overflows or vanishes on the way: a result may become infinite, NaN or zero, or cease to be so",
    "finite": "a result where something in it is infinite, NaN or divided by zero",
    "shape_unsafe": "whether shapes that do not fit are an error",
    "singular": "whether a matrix that is singular, or not positive definite, is an error",
    "arbitrary": "what nothing determines: the order of the results of eig, and the signs of eigenvectors",
    "unsafe": "whether a check that fails, or an index out of range, is an error",
}
"""For each tag, the changes that it allows."""

NOT_STRICT: tuple[str, ...] = tuple(tag for tag in CHANGES if tag != "rounding")
"""The optimizer ``strict`` excludes rules with any of these tags."""


@frozen_dataclass
class RewriteDatabaseQuery:
    """A choice of rewrites: those with at least one tag of ``include``, all of ``require`` and none of ``exclude``.

    A database in a database is queried with the same query, or with the query that ``subquery`` maps its name to.
    Stages at a position after ``position_cutoff`` are left out. ``extra_rewrites`` are pairs of a rewriter to add and
    its position. TypeError if one of these is no list of tags.
    """

    include: frozenset[str] = frozenset()
    require: frozenset[str] = frozenset()
    exclude: frozenset[str] = frozenset()
    subquery: Mapping[str, RewriteDatabaseQuery] = field(
        default_factory=lambda: dict[str, RewriteDatabaseQuery]()
    )
    position_cutoff: float = math.inf
    extra_rewrites: tuple[tuple[Rewriter, float], ...] = ()
    name: str = ""

    def __init__(
        self,
        include: Iterable[str | None] = (),
        require: Iterable[str] | None = None,
        exclude: Iterable[str] | None = None,
        subquery: Mapping[str, RewriteDatabaseQuery] | None = None,
        position_cutoff: float = math.inf,
        extra_rewrites: Sequence[tuple[Rewriter, float]] = (),
        name: str = "",
    ) -> None:
        for argument, tags in {"include": include, "require": require, "exclude": exclude}.items():
            if isinstance(tags, str):
                raise TypeError(f"{argument} is a list of tags, got {tags!r}")
        values: dict[str, Any] = {
            "include": frozenset(t for t in include if t is not None),
            "require": frozenset(require or ()),
            "exclude": frozenset(exclude or ()),
            "subquery": dict(subquery or {}),
            "position_cutoff": position_cutoff,
            "extra_rewrites": tuple(extra_rewrites),
            "name": name,
        }
        if extra_rewrites:
            from occelo_rewrite.rewriter import check_extra  # which most programs need not

            check_extra(r for r, _ in extra_rewrites)
        for key, value in values.items():
            object.__setattr__(self, key, value)

    def including(self, *tags: str) -> RewriteDatabaseQuery:
        """A new query that also includes rewrites with at least one of ``tags``."""
        return replace(self, include=self.include | set(tags), name="")

    def excluding(self, *tags: str) -> RewriteDatabaseQuery:
        """A new query that excludes rewrites with at least one of ``tags``."""
        return replace(self, exclude=self.exclude | set(tags), name="")

    def requiring(self, *tags: str) -> RewriteDatabaseQuery:
        """A new query that only chooses rewrites with all of ``tags``."""
        return replace(self, require=self.require | set(tags), name="")

    def register(self, *rewrites: tuple[Rewriter, float]) -> RewriteDatabaseQuery:
        """A new query that adds rewriters, each with its position."""
        return replace(self, extra_rewrites=(*self.extra_rewrites, *rewrites), name="")

    def chooses(self, tags: frozenset[str]) -> bool:
        """Whether the query chooses a rewrite with the tags ``tags``."""
        return bool(tags & self.include) and self.require <= tags and not tags & self.exclude

    def __hash__(self) -> int:
        return hash((self.include, self.require, self.exclude, self.position_cutoff))


def _named(name: str, *include: str, **more: Any) -> RewriteDatabaseQuery:
    return RewriteDatabaseQuery(include, name=name, **more)


OPTIMIZERS: dict[str | None, RewriteDatabaseQuery] = {
    None: _named("None", "nothing"),
    "None": _named("None", "nothing"),
    "merge": _named("merge", "merge"),
    "minimum_compile": _named("minimum_compile", "minimum_compile"),
    "fast_compile": _named("fast_compile", "fast_compile"),
    "o1": _named("o1", "fast_compile"),
    "o2": _named("o2", "fast_compile", "fusion"),
    "o3": _named("o3", "fast_run", exclude=["inplace"]),
    "o4": _named("o4", "fast_run"),
    "fast_run": _named("fast_run", "fast_run"),
    "fast_run_stable": _named("fast_run_stable", "fast_run", require=["stable"]),
    "unsafe": _named("unsafe", "fast_run", "unsafe", exclude=["inplace"]),
    "stabilize": _named("stabilize", "fast_run", position_cutoff=1.5000001),
    "strict": _named("strict", "fast_run", exclude=NOT_STRICT),
}


_places: dict[str, tuple[str, ...] | None] = {}
"""For the name of each registered optimizer, the place in the code that registered it."""


@explained_by("rules")
def register_optimizer(name: str, query: RewriteDatabaseQuery) -> None:
    """Register a query as an optimizer: modes can refer to the query by the name.

    ValueError if the name is taken, unless the same place in the user's code registered it, such as a notebook cell
    that runs again.
    """
    place = place_of_caller()
    if name in OPTIMIZERS and (place is None or _places.get(name) != place):
        raise ValueError(f"There is an optimizer named {name!r} already")
    OPTIMIZERS[name] = query
    _places[name] = place


@explained_by("rules")
def optimizer_query(name: str | None) -> RewriteDatabaseQuery:
    """The query of the optimizer of that name; ValueError if there is none."""
    if name not in OPTIMIZERS:
        names = ", ".join(str(n) for n in OPTIMIZERS if n is not None)
        raise ValueError(f"There is no optimizer {name!r}; there are {names}")
    return OPTIMIZERS[name]


def fingerprint_of_rewrites() -> str:
    """The fingerprint of `pipeline.optdb` (`fingerprint`). As long as that is not imported, users have not changed it."""
    if "occelo_rewrite.pipeline" not in sys.modules:
        return "standard"
    from occelo_rewrite.fingerprint import database_fingerprint
    from occelo_rewrite.pipeline import optdb

    return database_fingerprint(optdb)
