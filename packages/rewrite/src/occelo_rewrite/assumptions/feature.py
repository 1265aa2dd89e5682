"""`AssumptionFeature`: a feature that tells rules which facts hold for the variables of a graph.

Rules and the stage ``drain_assumptions`` get the feature of a graph from `assumptions_of`.
"""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, Constant, FunctionGraph, Variable
from occelo_graph.errors import ConflictingAssumptionsError
from occelo_graph.fgraph.features import AlreadyThere, Feature
from occelo_graph.ops.control.facts import FACTS
from occelo_rewrite.assumptions.control import Statement, said_by, statements
from occelo_rewrite.assumptions.facts import causes_of, consequences, effects_of
from occelo_rewrite.assumptions.inference import inferred_from_constant, inferred_from_node
from occelo_rewrite.shapes import shapes_of

_DEEPEST = 200
"""How many inferences deep the search for a fact goes."""
_NESTED = 16
"""How many of them call each other. Python's stack would not hold 200, each of which takes six frames or more."""
_SAME = {"symmetric": "hermitian", "hermitian": "symmetric"}
"""Facts that imply each other for real matrices."""
_STATED_DEFINITE = "stated positive definite"
"""What `note_stated_definite` records.

No facts are inferred from it, since the triangle of the matrix that is not read may have any values.
"""


class _TooNestedError(Exception):
    """A fact must be inferred first, in a search of its own; ``question`` are a variable, a fact and the depth."""

    def __init__(self, *question: Any) -> None:
        super().__init__(*question)
        self.question = question


class AssumptionFeature(Feature):
    """The known facts about the variables of a graph.

    Facts that users state with `assume` are stored by variable. If a new variable replaces the variable in the graph,
    the facts are copied to the new variable. Other facts are inferred from constants and ops when a rule looks them up,
    and cached until the graph changes. TypeError if it is given arguments.
    """

    def __init__(self) -> None:
        self._said: dict[Variable, dict[str, bool]] = {}

    def on_attach(self, fgraph: FunctionGraph) -> None:
        if "assumption_feature" in fgraph.__dict__:
            raise AlreadyThere("The graph knows its assumptions already")
        fgraph.__dict__["assumption_feature"] = self

    def on_detach(self, fgraph: FunctionGraph) -> None:
        fgraph.__dict__.pop("assumption_feature", None)

    def on_change_input(
        self,
        fgraph: FunctionGraph,
        node: Apply | str,
        i: int,
        var: Variable,
        new_var: Variable,
        reason: Any = None,
    ) -> None:
        said = self._said.get(var)
        if said and self._said.get(new_var) is not said:
            for fact, holds in said.items():
                self._note(new_var, fact, holds)

    def say(self, variable: Variable, fact: str, holds: bool) -> None:
        """Record that a fact holds for a variable, or does not hold, and all that follows.

        `ConflictingAssumptionsError` if this contradicts an earlier statement.
        """
        for each, value in consequences(
            fact, holds, _is_square(None, variable), _is_real(variable)
        ):
            self._note(variable, each, value)
        said = self._said[variable]
        if said.get("lower_triangular") and said.get("upper_triangular"):
            self._note(variable, "diagonal", True)

    def note_stated_definite(self, variable: Variable) -> None:
        """Record that the graph raises an error unless a matrix is positive definite.

        The ops that raise the error read only one triangle of the matrix. They take the other triangle to be its
        conjugate transpose.
        """
        self._note(variable, _STATED_DEFINITE, True)

    def is_stated_definite(self, variable: Variable) -> bool:
        """Whether `note_stated_definite` was called for a matrix, or for one that it replaced."""
        return self._said.get(variable, {}).get(_STATED_DEFINITE, False)

    def _note(self, variable: Variable, fact: str, holds: bool) -> None:
        stated = self._said.setdefault(variable, {})
        if stated.get(fact, holds) != holds:
            source = f", made at {variable.source}" if variable.source is not None else ""
            raise ConflictingAssumptionsError(
                f"{variable} ({variable.type}){source} is said to be {fact} and not to be {fact}"
            )
        stated[fact] = holds

    def holds(self, fgraph: FunctionGraph, variable: Variable, fact: str) -> bool | None:
        """Whether a fact holds for a variable: True, False, or None if it is not known.

        ValueError if there is no fact of this name.
        """
        if fact not in FACTS:
            raise ValueError(f"There is no assumption {fact!r}; there are {', '.join(FACTS)}")
        pending: list[tuple[Any, ...]] = [(variable, fact, 0)]
        while True:
            about, each, depth = pending[-1]
            try:
                answer = self._holds(fgraph, about, each, depth, depth, None)
            except _TooNestedError as error:
                pending.append(error.question)
                continue
            pending.pop()
            if not pending:
                return answer

    def _holds(
        self,
        fgraph: FunctionGraph,
        variable: Variable,
        fact: str,
        depth: int,
        start: int,
        of: Variable | None,
    ) -> bool | None:
        """`holds`, for an inference about the variable ``of``, at a depth of a search that began at ``start``."""
        said = self._said.get(variable)
        if said is not None and fact in said:
            return said[fact]
        if variable.owner is None and said is None and not isinstance(variable, Constant):
            return None
        key = ("fact", fact, variable)
        if key in fgraph.derived:
            return fgraph.derived[key]
        if depth > _DEEPEST:
            return None
        # facts about one variable may follow from each other, so they belong to one search
        if depth - start >= _NESTED and variable is not of:
            raise _TooNestedError(variable, fact, depth)
        # while a fact is being inferred, it counts as unknown, so that the search ends
        fgraph.derived[key] = None
        try:
            answer = self._infer(fgraph, variable, fact, depth, start)
        except _TooNestedError:
            del fgraph.derived[key]
            raise
        fgraph.derived[key] = answer
        return answer

    def _infer(
        self, fgraph: FunctionGraph, variable: Variable, fact: str, depth: int, start: int
    ) -> bool | None:
        def ask(other: Variable, wanted: str) -> bool | None:
            return self._holds(fgraph, other, wanted, depth + 1, start, variable)

        own: bool | None = None
        if isinstance(variable, Constant):
            own = inferred_from_constant(variable, fact)
        elif variable.owner is not None:
            own = inferred_from_node(variable, variable.owner, fact, ask)
        if own is not None:
            return own
        if any(ask(variable, cause) for cause in causes_of(fact)):
            return True
        # inferences from ops only find that facts hold; only users state that a fact does not hold
        if self._said and any(ask(variable, each) is False for each in effects_of(fact)):
            return False
        if fact in _SAME and _is_real(variable) and ask(variable, _SAME[fact]):
            return True
        if fact == "symmetric" and ask(variable, "diagonal"):
            return True if _is_square(fgraph, variable) else None
        said = self._said.get(variable, {})
        if fact == "diagonal" and said.get("symmetric") is False and _is_square(fgraph, variable):
            return False
        if (
            fact == "diagonal"
            and ask(variable, "lower_triangular")
            and ask(variable, "upper_triangular")
        ):
            return True
        return None

    def known(self, fgraph: FunctionGraph, variable: Variable) -> dict[str, bool]:
        """All known facts about a variable: a dict from names of facts to whether they hold."""
        facts: dict[str, bool] = {}
        for fact in FACTS:
            holds = self.holds(fgraph, variable, fact)
            if holds is not None:
                facts[fact] = holds
        return facts

    def drain(self, fgraph: FunctionGraph) -> None:
        """Record the facts that the graph's `Assume` nodes state, and remove these nodes."""
        for node in statements(fgraph):
            self._drain_one(fgraph, node)

    def _drain_one(self, fgraph: FunctionGraph, node: Statement) -> None:
        variable = node.inputs[0]
        for fact, holds in said_by(node):
            self.say(variable, fact, holds)
        fgraph.replace(node.outputs[0], variable, reason="assume")


def _is_real(variable: Variable) -> bool:
    return not str(variable.type.dtype).startswith("complex")


def _is_square(fgraph: FunctionGraph | None, variable: Variable) -> bool:
    """Whether a matrix provably has as many rows as columns. Without ``fgraph``, only its static shape is examined."""
    static = variable.type.shape or ()
    if len(static) < 2:
        return False
    if None not in static[-2:] or fgraph is None:
        return static[-1] is not None and static[-1] == static[-2]
    rows, columns = shapes_of(fgraph).shape_of(fgraph, variable)[-2:]
    return rows is columns or (isinstance(rows, int) and rows == columns)


def assumptions_of(fgraph: FunctionGraph) -> AssumptionFeature:
    """The `AssumptionFeature` of a graph. A new one is attached if the graph has none."""
    feature: AssumptionFeature | None = fgraph.__dict__.get("assumption_feature")
    if feature is None:
        feature = AssumptionFeature()
        fgraph.attach_feature(feature)
    return feature
