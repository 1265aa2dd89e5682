"""`warnings_of`, which finds two draws with the same state of a generator, or with the same key.

These draws are not independent. When a function is compiled, `occelo_compile.collect` warns of them.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from itertools import combinations, product
from typing import Any

from occelo_graph.errors import describe
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.clone import equal_computations
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.regions import divide
from occelo_graph.ir.traits import FIRST
from occelo_graph.ir.traversal import toposort
from occelo_graph.tensors.type import StaticShape
from occelo_random.ops.generator_type import RandomGeneratorType
from occelo_random.ops.keys import RandomBits
from occelo_random.ops.rejection import FIRST_ATTEMPTS

_Branch = dict[Apply, int]
"""The branches that contain a node. Maps the owner of each branch to the position of the branch among its regions."""


def warnings_of(outputs: Sequence[Variable], inputs: Collection[Variable] = ()) -> Iterator[str]:
    """A message about draws with the same state, and one about draws with the same key, if there are any."""
    for find in (reused_state, reused_key):
        message = find(outputs, inputs)
        if message is not None:
            yield message


def reused_state(outputs: Sequence[Variable], inputs: Collection[Variable] = ()) -> str | None:
    """A message about the first generator state with which two different draws are made; None if there is none.

    Bodies of loops are searched, too. Draws in different branches may share a state, since only one branch runs.
    """
    order = toposort(outputs, inputs)
    for node in order:
        body = getattr(node.op, "body", None)
        if isinstance(body, FrozenFunctionGraph):
            message = reused_state(body.outputs)
            if message is not None:
                return message
    branches: dict[Apply, _Branch] | None = None
    for state, draws in _draws_by_state(order, outputs).items():
        for one, other in combinations(draws, 2):
            if _same_draws(one, other) and equal_computations(one.inputs, other.inputs):
                continue
            if branches is None:
                branches = _branches(order, outputs)
            if _exclusive(branches, one, other):
                continue
            return _message(state, one, other)
    return None


def _exclusive(branches: dict[Apply, _Branch], one: Apply, other: Apply) -> bool:
    """Whether two nodes are in different branches of a node, so that only one of them runs."""
    mine, its = branches.get(one, {}), branches.get(other, {})
    return any(its.get(owner, region) != region for owner, region in mine.items())


def reused_key(outputs: Sequence[Variable], inputs: Collection[Variable] = ()) -> str | None:
    """A message about the first key with which two different lines of the user make draws; None if there is none.

    One line may read a key several times, since some distributions do so, and since a draw may be copied. Draws in different
    branches may share a key. Draws are ignored if only their lengths are read, or if the key is marked by
    `random.reuse`. Bodies of loops are not searched, since their nodes have no lines of the user.
    """
    order = toposort(outputs, inputs)
    draws = [node for node in order if _reads_key(node) and node.mark]
    if len({node.mark for node in draws}) < 2:
        return None
    needed = _needed(order, outputs, inputs)
    draws = [node for node in draws if node in needed]
    identities = _Identities(inputs)
    by_key: dict[int, dict[Any, list[Apply]]] = {}
    for node in draws:
        number = identities.of(node.inputs[0])
        if number not in identities.reused:
            by_key.setdefault(number, {}).setdefault(node.mark, []).append(node)
    branches: dict[Apply, _Branch] | None = None
    for by_line in by_key.values():
        for these, those in combinations(by_line.values(), 2):
            if branches is None:
                branches = _branches(order, outputs)
            for one, other in product(these, those):
                if not _exclusive(branches, one, other):
                    return _message_of_key(one, other)
    return None


def _needed(
    order: Sequence[Apply], outputs: Sequence[Variable], inputs: Collection[Variable]
) -> set[Apply]:
    """The nodes whose values are needed to compute the outputs. A length does not need the value of its tensor."""
    read, cut = set(outputs), set(inputs)
    needed: set[Apply] = set()
    for node in reversed(order):
        if any(v in read and v not in cut for v in node.outputs):
            needed.add(node)
            if not node.op.of_shapes:
                read.update(node.inputs)
    return needed


def _reads_key(node: Apply) -> bool:
    """Whether a node computes random bits, with its first input as the key."""
    return isinstance(node.op, RandomBits) or getattr(node.op, "scalar_op", None) in FIRST_ATTEMPTS


class _Identities:
    """Assigns numbers to variables. Two variables have the same number if they are equal computations.

    If an op only checks its first input, or adds or drops dimensions of length 1, its output has the number of this
    input. ``reused`` are the numbers of the results of `random.reuse`, and of variables that are computed from these
    results.
    """

    def __init__(self, inputs: Collection[Variable]) -> None:
        self.inputs = inputs
        self.reused: set[int] = set()
        self._found: dict[Variable, int] = {}
        self._numbers: dict[Any, int] = {}

    def of(self, variable: Variable) -> int:
        """The number of ``variable``."""
        for node in toposort([variable], self.inputs):
            own = _with_same_elements(node)
            for k, out in enumerate(node.outputs):
                if out not in self._found:
                    self._found[out] = self._number(node, k) if own is None else self._leaf(own)
        return self._leaf(variable)

    def _leaf(self, variable: Variable) -> int:
        number = self._found.get(variable)
        if number is None:
            data: Any = variable.data if isinstance(variable, Constant) else None
            equal = (variable.type, data.tobytes()) if hasattr(data, "tobytes") else variable
            number = self._found[variable] = self._numbers.setdefault(equal, len(self._numbers))
        return number

    def _number(self, node: Apply, k: int) -> int:
        numbers = [self._leaf(v) for v in node.inputs]
        number = self._numbers.setdefault((node.op, k, *numbers), len(self._numbers))
        # `reuse` marks a key by an identity that has no derivative
        marked = node.op.identity_at_runtime and node.op.connection_pattern(node) == [[False]]
        if marked or not self.reused.isdisjoint(numbers):
            self.reused.add(number)
        return number


def _with_same_elements(node: Apply) -> Variable | None:
    """The first input of ``node`` if the output has the same elements; else None. Static shapes must show this."""
    if node.op.moves != FIRST or node.op.identity_at_runtime:
        return None
    before, after = (_long_dimensions(v) for v in (node.inputs[0], node.outputs[0]))
    return node.inputs[0] if None not in before and before == after else None


def _long_dimensions(variable: Variable) -> list[int | None]:
    shape: StaticShape = variable.type.shape or ()
    return [n for n in shape if n != 1]


def _same_draws(one: Apply, other: Apply) -> bool:
    """Whether two nodes make the same draws if they have equal inputs.

    This is also true for a loop and the copy of this loop in its gradient, since both take the same steps.
    """
    same_steps = getattr(one.op, "same_steps", None)
    return one.op == other.op or (
        same_steps is not None and type(one.op) is type(other.op) and same_steps(other.op)
    )


def _draws_by_state(
    order: Sequence[Apply], outputs: Sequence[Variable]
) -> dict[Variable, list[Apply]]:
    """For each generator state, the nodes that read it: draws, and loops that carry the state.

    Draws are left out if only their shape is read.
    """
    read = set(outputs)
    for node in order:
        if not node.op.of_shapes:
            read.update(node.inputs)
    draws: dict[Variable, list[Apply]] = {}
    for node in order:
        if node.op.lazy or read.isdisjoint(node.outputs):
            continue
        if not any(isinstance(v.type, RandomGeneratorType) for v in node.outputs):
            continue
        for variable in dict.fromkeys(node.inputs):
            if isinstance(variable.type, RandomGeneratorType):
                draws.setdefault(variable, []).append(node)
    return draws


def _branches(order: Sequence[Apply], outputs: Sequence[Variable]) -> dict[Apply, _Branch]:
    """For each node in a branch, all branches that contain it."""
    inside = divide(order, outputs).inside
    # in reverse order, an outer owner of branches is visited before the owners inside its branches
    branches: dict[Apply, _Branch] = {}
    for owner in reversed(order):
        for region, nodes in enumerate(inside.get(owner, ())):
            for node in nodes:
                branches[node] = {**branches.get(owner, {}), owner: region}
    return branches


def _message(state: Variable, one: Apply, other: Apply) -> str:
    lines: Iterator[str] = (f"  {describe(node.outputs[-1])}" for node in (one, other))
    return "\n".join(
        [
            f"The generator {describe(state)} is used for two draws:",
            *lines,
            "They come from the same state, so they are not independent; draw the second with the generator "
            "that the first gives: next_rng, x = rng.normal()",
        ]
    )


def _message_of_key(one: Apply, other: Apply) -> str:
    lines: Iterator[str] = (f"  {describe(node.outputs[-1])}" for node in (one, other))
    key = one.inputs[0]
    while (node := key.owner) is not None and (
        node.op.elementwise or _with_same_elements(node) is not None
    ):
        key = node.inputs[0]  # goes back to the key before it was split or checked
    return "\n".join(
        [
            f"The key {describe(key)} is used for two draws:",
            *lines,
            "They come from the same bits, so they are not independent; split the key: "
            "one, other = random.split(key, 2). If that is meant, draw with random.reuse(key)",
        ]
    )
