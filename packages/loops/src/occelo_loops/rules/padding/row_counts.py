"""`RowCounts`: the numbers of rows of padded tensors as sums of lengths, so that equal numbers are recognized.

`padded_tensors` uses it for tensors that are joined and cut. For instance, the gradient of a join cuts a tensor at sums
of lengths. The sums prove that each part has the length of one of the joined tensors.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from occelo_graph import TensorVariable, Variable
from occelo_graph import tensor as ot
from occelo_graph.ops.control import CheckAndRaise, ViewOp
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.shape.reading import Shape_i
from occelo_graph.tensors.nodes import tensors
from occelo_loops.rules.padding.positions import is_moved
from occelo_rewrite.constants import number_of


def unchecked(variable: Variable) -> Variable:
    """``variable`` without the checks and views that were applied to it."""
    while variable.owner is not None and isinstance(variable.owner.op, CheckAndRaise | ViewOp):
        variable = variable.owner.inputs[0]
    return variable


class RowCount(NamedTuple):
    """A number of rows: a sum of lengths and a constant number. No term is negative.

    ``lengths`` has pairs of a length and how often it occurs in the sum.
    """

    lengths: frozenset[tuple[Variable, int]]
    number: int

    def plus(self, other: RowCount) -> RowCount:
        """The sum of this number of rows and another one."""
        terms = Counter(dict(self.lengths))
        terms.update(dict(other.lengths))
        return RowCount(frozenset(terms.items()), self.number + other.number)

    def minus(self, other: RowCount) -> RowCount | None:
        """The difference, if this sum contains all terms of ``other``; else None."""
        terms = Counter(dict(self.lengths))
        terms.subtract(dict(other.lengths))
        number = self.number - other.number
        if number < 0 or any(n < 0 for n in terms.values()):
            return None
        return RowCount(frozenset((v, n) for v, n in terms.items() if n), number)


NOTHING = RowCount(frozenset(), 0)


def _in_order(count: RowCount) -> list[tuple[Variable, int]]:
    """The terms of a sum, ordered by their names, so that equal graphs get equal expressions."""
    return sorted(count.lengths, key=lambda term: str(term[0]))


@dataclass
class RowCounts:
    """The lengths of the tensors of a graph that is being padded.

    The graph before padding is called old, and the padded graph new. A length is a scalar of the old graph, or a
    placeholder: a variable that is in neither of the two graphs. This class makes placeholders, for instance for a sum
    of lengths.
    """

    value_of: Callable[[Variable], Variable]
    """Returns the variable of the new graph for an old variable or for a placeholder."""
    values: dict[Variable, Callable[[], Variable]]
    """For each placeholder, a function that computes its value in the new graph.

    The function is called later, when the new variables for its operands exist.
    """
    capacities: dict[Variable, Variable]
    """For each length of padded tensors, their number of rows with padding.

    Tensors are not padded if their length is not in this dict.
    """
    _sums: dict[Variable, RowCount] = field(default_factory=dict[Variable, RowCount])
    _bounds: dict[Variable, Variable] = field(default_factory=dict[Variable, Variable])
    _made: dict[Hashable, Variable] = field(default_factory=dict[Hashable, Variable])

    def of(self, length: Variable) -> RowCount:
        """A length as a sum: the sum that the placeholder was made for, or the length itself as the only term."""
        return self._sums.get(length, RowCount(frozenset([(length, 1)]), 0))

    def of_rows(self, variable: TensorVariable) -> RowCount:
        """The number of rows of an old tensor that is not padded."""
        length = variable.type.shape[0]
        if length is not None:
            return RowCount(frozenset(), length)
        return self.of(
            self._make(("rows", variable), lambda: Shape_i(0)(self.value_of(variable)), None)
        )

    def is_padded(self, count: RowCount) -> bool:
        """Whether tensors with this number of rows are padded."""
        return any(v in self.capacities for v, _ in count.lengths)

    def value(self, count: RowCount) -> TensorVariable:
        """The number of rows without padding, as a variable of the new graph."""
        return self._total(count, self.value_of)

    def capacity(self, count: RowCount) -> TensorVariable:
        """The number of rows with padding, as a variable of the new graph."""
        return self._total(count, self._capacity_of)

    def _capacity_of(self, length: Variable) -> Variable:
        return self.capacities[length] if length in self.capacities else self.value_of(length)

    def _total(self, count: RowCount, value: Callable[[Variable], Variable]) -> TensorVariable:
        terms: list[Any] = [value(v) for v, times in _in_order(count) for _ in range(times)]
        if count.number or not terms:
            terms.append(ot.constant(np.int64(count.number)))
        return ot.add(*terms) if len(terms) > 1 else terms[0]

    def named(self, count: RowCount) -> Variable:
        """The length that represents a sum: its only term, or a placeholder."""
        if not count.number and len(count.lengths) == 1:
            ((only, times),) = count.lengths
            if times == 1:
                return only
        placeholder = self._make(count, lambda: self.value(count), self.capacity(count))
        self._sums[placeholder] = count
        return placeholder

    def subtract(self, length: Variable, number: int) -> Variable:
        """The length ``max(length - number, 0)``."""
        whole = self.of(length)
        if whole.number >= number:
            return self.named(RowCount(whole.lengths, whole.number - number))
        # tensors may have the length ``length - number`` already, which is not negative then
        moved = (v for v in self.capacities if is_moved(v, length, -number))
        smaller = next(moved, None)
        if smaller is None:
            smaller = self.made(
                ("subtract", length, number), lambda: self._difference(length, number), length
            )
        self._bounds[smaller] = length
        return smaller

    def _difference(self, length: Variable, number: int) -> TensorVariable:
        (value,) = tensors([self.value_of(length)])
        return ot.maximum(value - np.int64(number), 0)

    def made(self, key: Hashable, value: Callable[[], Variable], at_most: Variable) -> Variable:
        """A placeholder for a new length; ``value`` computes its value in the new graph.

        Its capacity is that of the length ``at_most``. Calls with the same ``key`` return the same length.
        """
        return self._make(key, value, self.capacities[at_most])

    def _make(
        self, key: Hashable, value: Callable[[], Variable], capacity: Variable | None
    ) -> Variable:
        length = self._made.get(key)
        if length is None:
            length = self._made[key] = ot.lscalar("rows")
            self.values[length] = value
            if capacity is not None:
                self.capacities[length] = capacity
        return length

    # recognition of old scalars

    def parsed(self, scalar: Variable) -> RowCount | None:
        """An old scalar as a sum of known lengths; None if it is no such sum."""
        scalar = unchecked(scalar)
        number = number_of(scalar)
        if number is not None:
            return RowCount(frozenset(), int(number)) if number >= 0 else None
        if scalar in self.capacities:
            return self.of(scalar)
        owner = scalar.owner
        if owner is None:
            return None
        if isinstance(owner.op, Shape_i):
            (x,) = tensors(owner.inputs)
            return self.of_rows(x) if owner.op.i == 0 and x.owner is None else None
        if not isinstance(owner.op, Elemwise):
            return None
        read = _READS.get(owner.op.scalar_op.name)
        return None if read is None else read(self, owner.inputs)

    def less_than(self, scalar: Variable) -> tuple[Variable, int] | None:
        """The length and the number of a scalar ``length - number``, which may be negative; None for other scalars."""
        owner = unchecked(scalar).owner
        if owner is None or not isinstance(owner.op, Elemwise) or len(owner.inputs) != 2:
            return None
        (one, other), name = owner.inputs, owner.op.scalar_op.name
        if name == "add" and number_of(other) is None:
            one, other = other, one
        number, length = number_of(other), self.parsed(one)
        if number is None or length is None or name not in ("add", "sub"):
            return None
        taken = int(number) if name == "sub" else -int(number)
        return (self.named(length), taken) if taken >= 0 else None

    def is_at_most(self, one: RowCount, other: RowCount) -> bool:
        """Whether ``one`` is known to be at most ``other``."""
        return other.minus(one) is not None or self._bounds.get(self.named(one)) is self.named(
            other
        )


def _sum(counts: RowCounts, inputs: list[Variable]) -> RowCount | None:
    total = NOTHING
    for v in inputs:
        each = counts.parsed(v)
        if each is None:
            return None
        total = total.plus(each)
    return total


def _difference(counts: RowCounts, inputs: list[Variable]) -> RowCount | None:
    """A difference as a sum of lengths; None if it is no such sum.

    The difference ``length - min(number, length)`` is recognized, too. It is the number of rows of ``x[number:]``, for
    a tensor x of ``length`` rows.
    """
    whole, part = counts.parsed(inputs[0]), unchecked(inputs[1])
    if whole is None:
        return None
    owner = part.owner
    if owner is not None and isinstance(owner.op, Elemwise) and len(owner.inputs) == 2:
        one, other = owner.inputs
        number = number_of(one) if number_of(other) is None else number_of(other)
        length = unchecked(other if number_of(other) is None else one)
        if owner.op.scalar_op.name == "minimum" and number is not None and number >= 0:
            same = unchecked(inputs[0]) is length
            return counts.of(counts.subtract(counts.named(whole), int(number))) if same else None
    taken = counts.parsed(part)
    return None if taken is None else whole.minus(taken)


def _quotient(counts: RowCounts, inputs: list[Variable]) -> RowCount | None:
    return counts.parsed(inputs[0]) if number_of(inputs[1]) == 1 else None


def _at_least(counts: RowCounts, inputs: list[Variable]) -> RowCount | None:
    one, other = inputs if number_of(inputs[0]) is None else inputs[::-1]
    if number_of(other) != 0:
        return None
    count = counts.parsed(one)
    if count is not None:
        return count
    difference = counts.less_than(one)
    return None if difference is None else counts.of(counts.subtract(*difference))


def _at_most(counts: RowCounts, inputs: list[Variable]) -> RowCount | None:
    one, other = (counts.parsed(v) for v in inputs)
    if one is None or other is None:
        return None
    if counts.is_at_most(one, other):
        return one
    return other if counts.is_at_most(other, one) else None


_READS: dict[str, Callable[[RowCounts, list[Variable]], RowCount | None]] = {
    "add": _sum,
    "sub": _difference,
    "int_div": _quotient,
    "maximum": _at_least,
    "minimum": _at_most,
}
"""For each scalar op that `parsed` recognizes, the function that finds the sum from the operands."""
