"""`Case`: an example of a graph that a rule applies to, written by hand or made from the rule's pattern.

The tables in `rules` and `mixed_dtypes`, and those of families, are lists of cases. `draws`
varies the types and values of each case.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from occelo_graph import Op
from occelo_rewrite.database import EquilibriumDB
from occelo_rewrite.family_rules import ALWAYS
from occelo_rewrite.patterns.node_rule import NodeRewriter
from occelo_rewrite.patterns.pattern import Call, Number, Wild
from occelo_rewrite.patterns.pattern_rule import PatternRule
from occelo_rewrite.pipeline import optdb
from occelo_rewrite.stages import STAGES

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import TensorFunction


@dataclass(frozen=True)
class Case:
    """An example for a rule: ``build`` is a function of input variables that builds a graph the rule applies to.

    ``rule`` is the name of the rule. The inputs have the given ``shapes``, ``dtype``, and elements from ``low`` to
    ``high``. ``differentiable`` is whether gradients of the graph may be tested, too. ``wildcards`` is whether the
    inputs are wildcards of a pattern, so that each may have another dtype and shape. A row of an input that is
    one of the numbers ``vanishing`` times a row of the identity matrix makes a row of the matrix that the graph
    decomposes or inverts 0, and so the matrix singular.
    """

    rule: str
    build: TensorFunction
    low: float = -2.0
    high: float = 2.0
    shapes: tuple[tuple[int, ...], ...] = ((2, 3),)
    dtype: str = "float64"
    differentiable: bool = True
    wildcards: bool = False
    vanishing: tuple[float, ...] = ()


def standard_rules() -> dict[str, NodeRewriter]:
    """All registered rules by name, except those of stages of families that expand ops in every mode."""
    core = {stage.name for stage in STAGES}
    databases = [e.rewriter for e in optdb.entries() if e.name in core or not e.tags >= {*ALWAYS}]
    return {
        name: db[name] for db in databases if isinstance(db, EquilibriumDB) for name in db.names()
    }


def drawn_cases(rule: NodeRewriter) -> list[Case]:
    """A case for each pattern of a rule, with matrices as inputs. A rule without patterns has no cases."""
    patterns = rule.patterns if isinstance(rule, PatternRule) else ()
    return [_drawn(rule.name, pattern) for pattern in patterns]


def _drawn(name: str, pattern: Any) -> Case:
    names = list(dict.fromkeys(_wildcards(pattern)))

    def build(*inputs: Any) -> Any:
        return _instance(pattern, dict(zip(names, inputs, strict=True)))

    return Case(name, build, shapes=((2, 3),) * len(names), wildcards=True)


def _wildcards(pattern: Any) -> list[str]:
    if isinstance(pattern, Wild):
        return [pattern.name]
    if isinstance(pattern, Call):
        return [name for arg in pattern.args for name in _wildcards(arg)]
    return []


def _instance(pattern: Any, variables: dict[str, Any]) -> Any:
    """A graph that matches a pattern. TypeError if the pattern allows several ops at one place: then a case must be
    written by hand.
    """
    if isinstance(pattern, Wild):
        return variables[pattern.name]
    if isinstance(pattern, Number):
        if pattern.value is not None:
            return pattern.value
        return next(n for n in (3.0, -2.0, 0.5) if pattern.where is None or pattern.where(n))
    if not isinstance(pattern.op, Op):
        raise TypeError(f"{pattern} names no op")
    return pattern.op(*(_instance(a, variables) for a in pattern.args))
