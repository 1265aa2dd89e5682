"""The stages of the standard pipeline as data: `STAGES`, in order.

`pipeline` makes the databases from them. Families of ops add rules to these stages, and stages of their own, when they
are imported (`family_rules`): loops, for instance, ``join_scans`` at 2.4, ``expand_scans`` at 2.5 and ``rewrite_bodies``
at 2.6.
"""

from __future__ import annotations

from collections.abc import Mapping

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_rewrite.family_rules import ALWAYS, USUAL

_RUN = ("fast_run",)


@frozen_dataclass
class Stage:
    """A stage: its position among the others, what it does, the tags by which modes choose it, and what it runs.

    A stage with ``rules`` is a database that runs until nothing changes. ``rules`` are the places of its sets of rules,
    ``module.NAME`` in `occelo_rewrite.rules`, each with the tags by which modes choose them; as in
    `family_rules.StageRules`, the name of the stage does not choose a set without tags. If ``tidies``, the rules of
    ``canonicalize`` are also tried at nodes that are new or change in the stage.

    Any other stage is a rewriter of `rules.whole_graphs`, by its ``place`` there. If it is ``late``, the name at this
    place is a function that makes the rewriter when it is first needed.
    """

    name: str
    position: float
    does: str
    tags: tuple[str, ...]
    rules: Mapping[str, tuple[str, ...]] | None = None
    tidies: bool = True
    place: str = ""
    late: bool = False


def _sets(name: str, tags: tuple[str, ...], modules: str) -> dict[str, tuple[str, ...]]:
    return {f"{module}.{name}": tags for module in modules.split()}


_CANONICAL = {
    **_sets("RULES", ALWAYS, "fold"),
    **_sets(
        "CANONICALIZE",
        USUAL,
        "control shape create reduce join index blas matrix_products elemwise",
    ),
    **_sets("UNSAFE", (), "control"),
}
_STABLE = _sets("STABILIZE", USUAL, "elemwise reduce")
_SPECIAL = _sets("SPECIALIZE", _RUN, "create reduce index blas matrix_products elemwise")
_PRODUCTS = {"blas.ACCUMULATION": _RUN, "blas.OUTER": _RUN}
_WHOLE_PRODUCTS = {"blas.ACCUMULATION": _RUN, "blas.BROADCAST": _RUN}

STAGES = (
    Stage(
        "inline_graphs",
        -0.01,
        "ops with an inner graph that is to be inlined are replaced by this graph (`OpFromGraph` adds the rules)",
        ALWAYS,
        {},
        tidies=False,
    ),
    Stage(
        "merge1",
        0,
        "common subexpressions are merged; from here on, new nodes are merged with equal nodes",
        ("merge", *ALWAYS),
        place="merge_equal_nodes",
    ),
    Stage(
        "drain_assumptions",
        0.8,
        "facts of `assume` are recorded",
        ALWAYS,
        place="drain_assumptions",
    ),
    Stage(
        "canonicalize",
        1,
        "constants are folded, sums and products get one form, lengths are inferred, reads of writes are simplified",
        ALWAYS,
        _CANONICAL,
        tidies=False,
    ),
    Stage(
        "expand_graphs",
        1.4,
        "all other ops with an inner graph are replaced by this graph (`OpFromGraph` adds the rules)",
        ALWAYS,
        {},
    ),
    Stage(
        "stabilize",
        1.5,
        "expressions that overflow or cancel are replaced by stable forms",
        USUAL,
        _STABLE,
    ),
    Stage(
        "BlasOpt",
        1.7,
        "matrix products with factors and added terms become gemm, gemv and ger, for linkers that run op by op",
        _RUN,
        _PRODUCTS,
    ),
    Stage(
        "specialize",
        2,
        "expressions are replaced by cheaper special cases; indexing is moved before computations",
        _RUN,
        _SPECIAL,
    ),
    Stage(
        "uncanonicalize",
        3,
        "(no rules; users may add rules with results that must not be canonicalized again)",
        _RUN,
        {},
        tidies=False,
    ),
    Stage(
        "accumulate_products",
        48,
        "matrix products with factors and added terms become gemm and gemv, for linkers that compile the whole graph",
        _RUN,
        _WHOLE_PRODUCTS,
    ),
    Stage(
        "elemwise_fusion",
        49,
        "connected elementwise nodes become one",
        ("fast_run", "fusion"),
        place="fusion",
        late=True,
    ),
    Stage(
        "add_destroy_handler",
        49.5,
        "merging ends; from here on, ops may overwrite their inputs",
        ALWAYS,
        place="add_destroy_handler",
    ),
    Stage(
        "inplace_subtensor",
        50.1,
        "writes overwrite dead arrays",
        ("fast_run", "inplace"),
        place="writes_in_place",
        late=True,
    ),
    Stage(
        "InplaceBlasOpt",
        50.2,
        "matrix products overwrite dead arrays",
        ("fast_run", "inplace"),
        place="products_in_place",
        late=True,
    ),
    Stage(
        "inplace_elemwise",
        50.5,
        "elementwise results overwrite dead arrays",
        ("fast_run", "inplace"),
        place="elemwise_in_place",
        late=True,
    ),
    Stage(
        "check_integrity",
        100,
        "the whole graph is validated again",
        ALWAYS,
        place="check_integrity",
    ),
)
