"""Rules for sums: constants are added up, equal terms are collected (x + x = 2 x), and opposite terms cancel.

`pipeline` puts them into the stages canonicalize and specialize. Different terms of floats keep their order.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Constant, FunctionGraph, TensorApply, TensorVariable, Variable, computed_by
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_rewrite.constants import is_moderate, is_power_of_two, number_of
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.patterns.pattern import number, p, wild
from occelo_rewrite.rules.elemwise.trees import Sum, inner_node
from occelo_rewrite.rules.matching import rule_of_floats as rule
from occelo_rewrite.shaped_like import shaped_like

if TYPE_CHECKING:
    import numpy.typing as npt

x, y, z = wild("x y z")
c, d, k = number("c"), number("d"), number("k")

_FOLDABLE = 1 << 16
_FEW = 8
_ADD, _NEG, _SUMS = frozenset(("add",)), frozenset(("neg",)), frozenset(("add", "sub"))


def _scaled(term: TensorVariable) -> tuple[TensorVariable, complex]:
    """The parts x and c of a term c * x with a number c. For any other term, the term itself and 1."""
    owner = computed_by(term, Elemwise)
    if owner is not None and owner.op == ot.mul and len(owner.inputs) == 2:
        for i in (0, 1):
            factor = number_of(owner.inputs[i])
            other = owner.inputs[1 - i]
            if factor and other.type == term.type and np.isfinite(factor):
                return other, factor
    return term, 1


def _wrapped(value: complex, dtype: np.dtype[Any]) -> complex:
    """A coefficient, rounded to a float dtype or wrapped around to an integer dtype."""
    if dtype.kind not in "iu":
        with np.errstate(all="ignore"):
            return dtype.type(value).item()
    size = 1 << (8 * dtype.itemsize)
    whole = int(value.real) % size
    return whole - size if dtype.kind == "i" and whole >= size // 2 else whole


_ROOT_OF_LARGEST = {2: 2.0**8, 4: 2.0**64, 8: 2.0**512}
"""The approximate square root of the largest float, by the size of a float in bytes."""


def _is_small(data: npt.NDArray[Any], dtype: np.dtype[Any]) -> bool:
    """Whether a constant is so small that moving it in a sum changes overflow only near the end of the range."""
    if dtype.kind not in "fc":
        return True
    most = _ROOT_OF_LARGEST[dtype.itemsize // (2 if dtype.kind == "c" else 1)]
    return bool(np.all(np.abs(data) <= most))


class Collected:
    """A sum with equal terms collected: the coefficient of each different term, and the sum of all constants."""

    def __init__(self, whole: Sum) -> None:
        self.dtype = whole.root.outputs[0].type.numpy_dtype
        self.whole = whole
        self.coefficients: dict[TensorVariable, complex] = {}
        self.constant: npt.NDArray[Any] | None = None
        self.constants = 0
        self._written: dict[tuple[TensorVariable, complex], TensorVariable] = {}
        for term, sign in whole.terms:
            if isinstance(term, Constant) and self._add_constant(term.data, sign):
                continue
            base, factor = _scaled(term)
            coefficient = self.coefficients.get(base, 0)
            self.coefficients[base] = _wrapped(coefficient + sign * factor, self.dtype)
            if sign > 0:
                self._written.setdefault((base, factor), term)

    def _add_constant(self, data: npt.NDArray[Any], sign: int) -> bool:
        """Add a constant to the sum of constants.

        Returns False if it was not added, since the array would be large or the sum could overflow.
        """
        value = data if sign > 0 else np.negative(data)
        if np.size(value) > _FOLDABLE or not _is_small(value, self.dtype):
            return False
        if self.constant is not None:
            if np.broadcast(self.constant, value).size > _FOLDABLE:
                return False
            with np.errstate(all="ignore"):
                value = np.add(self.constant, value)
        self.constant = value
        self.constants += 1
        return True

    @property
    def is_collected(self) -> bool:
        """Whether the sum was collected already: no term occurs twice and there is at most one constant."""
        return len(self.coefficients) + self.constants == len(self.whole.terms) and (
            self.constants < 2
        )

    @property
    def cancels(self) -> bool:
        """Whether the coefficient of a term is 0."""
        return any(v == 0 for v in self.coefficients.values())

    @property
    def length(self) -> int:
        """The number of terms that are left."""
        constant = self.constant is not None and bool(np.any(self.constant != 0))
        return sum(v != 0 for v in self.coefficients.values()) + constant

    @property
    def keeps_order(self) -> bool:
        """Whether collecting keeps the order of different terms. (The order of integers does not matter.)"""
        if self.dtype.kind in "iu":
            return True
        finite = all(np.isfinite(v) for v in self.coefficients.values())
        return finite and len(self.coefficients) == 1

    def _term(self, base: TensorVariable, coefficient: complex) -> TensorVariable:
        written = self._written.get((base, coefficient))
        if written is not None:
            return written
        return base if abs(coefficient) == 1 else ot.mul(base, coefficient)

    def expression(self) -> TensorVariable:
        """The collected sum as a variable: the terms in order, without terms that cancel, and the constant last."""
        terms = [
            (base, -1) if coefficient == -1 else (self._term(base, coefficient), 1)
            for base, coefficient in self.coefficients.items()
            if coefficient != 0
        ]
        if self.constant is not None and np.any(self.constant != 0):
            terms.append((ot.constant(np.asarray(self.constant, self.dtype)), 1))
        return _chain(terms, self.dtype)


def _chain(terms: list[tuple[TensorVariable, int]], dtype: np.dtype[Any]) -> TensorVariable:
    """The sum of ``terms``, pairs of a variable and a sign. The terms are added and subtracted one after the other.

    If negative terms come first, their sum is subtracted from the first positive term.
    """
    if not terms:
        return ot.constant(np.zeros((), dtype))
    first = next((i for i, (_, sign) in enumerate(terms) if sign > 0), len(terms))
    if first:
        below = _added([v for v, _ in terms[:first]])
        if first == len(terms):
            return ot.neg(below)
        terms = [(terms[first][0], 1), (below, -1), *terms[first + 1 :]]
    group: list[TensorVariable] = []
    for v, sign in terms:
        if sign > 0:
            group.append(v)
        else:
            group = [ot.sub(_added(group), v)]
    return _added(group)


def _added(variables: list[TensorVariable]) -> TensorVariable:
    return variables[0] if len(variables) == 1 else ot.add(*variables)


def _is_zero(variable: TensorVariable) -> bool:
    return (
        isinstance(variable, Constant)
        and np.size(variable.data) <= _FOLDABLE
        and not np.any(variable.data != 0)
    )


@node_rewriter([ot.add, ot.sub], tags=("rounding",))
def canonical_sum(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """x + 0 = x, x + (-y) = x - y, and (x + y) + z = x + y + z. The order of terms is kept.

    (rounding: -0.0 + 0.0 is 0.0, so the sign of a zero may change.)
    """
    out = node.outputs[0]
    dtype = out.type.numpy_dtype
    if dtype.kind in "bu" or any(v.type.dtype != out.type.dtype for v in node.inputs):
        return None
    inputs = _terms_in_order(fgraph, node) if node.op == ot.add else list(node.inputs)
    signs = [1] * len(inputs) if node.op == ot.add else [1, -1]
    terms: list[tuple[TensorVariable, int]] = []
    changed = len(inputs) > len(node.inputs)
    for v, sign in zip(inputs, signs, strict=True):
        if _is_zero(v):
            changed = True
        elif (inner := inner_node(fgraph, v, out.type.dtype, _NEG)) is not None:
            terms.append((inner.inputs[0], -sign))
            changed = True
        else:
            terms.append((v, sign))
    if len(terms) > 1 and isinstance(terms[0][0], Constant) and terms[0][1] == terms[1][1] == 1:
        if not isinstance(terms[1][0], Constant):
            terms[:2] = terms[1::-1]
            changed = True
    return [shaped_like(_chain(terms, dtype), out)] if changed else None


def _terms_in_order(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> list[TensorVariable]:
    """The terms of ``node``, with the terms of its first term in place of that term, and so on.

    Only the last node of a long sum collects all terms: if each did, they would be listed a quadratic number of times.
    """
    out = node.outputs[0]
    uses = fgraph.clients[out]
    if len(uses) == 1:
        ((user, position),) = uses
        if (
            not position
            and user.op == ot.add
            and all(v.type.dtype == out.type.dtype for v in (*user.inputs, *user.outputs))
        ):
            return list(node.inputs)
    groups = [node.inputs]
    while (inner := inner_node(fgraph, groups[-1][0], out.type.dtype, _ADD)) is not None:
        groups.append(inner.inputs)
    return [groups[-1][0], *(v for inputs in reversed(groups) for v in inputs[1:])]


@node_rewriter([ot.add, ot.sub, ot.neg], tags=("comparison", "overflow"))
def collected_sum(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """x + 1 + x + 2 = 2 x + 3, and (y + 1) + 2 = y + 3 for any y.

    (comparison: (x + 1) - 1 is 0 for a small x, which is not 0 itself. overflow: only near the end of the range, since
    large constants are not moved.)
    """
    collected = _collected(fgraph, node)
    if collected is None or collected.cancels:
        return None
    if not collected.keeps_order:
        return _last_constants(fgraph, node)
    return [shaped_like(collected.expression(), node.outputs[0])]


def _last_constants(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """(y + c) + d = y + (c + d), for constants c and d."""
    out = node.outputs[0]
    first, last = _with_last_constant(node), None
    if first is not None:
        inner = inner_node(fgraph, first[0], out.type.dtype, _SUMS)
        last = None if inner is None else _with_last_constant(inner)
    if first is None or last is None:
        return None
    dtype = out.type.numpy_dtype
    if np.broadcast(last[1], first[1]).size > _FOLDABLE:
        return None
    if not (_is_small(last[1], dtype) and _is_small(first[1], dtype)):
        return None
    value = np.add(last[1], first[1])
    terms = [(last[0], 1), *([(ot.constant(np.asarray(value, dtype)), 1)] if value.any() else [])]
    return [shaped_like(_chain(terms, dtype), out)]


def _with_last_constant(
    node: TensorApply[Elemwise],
) -> tuple[TensorVariable, npt.NDArray[Any]] | None:
    """The parts y and c of a sum y + c or a difference y - (-c) with a constant c; None for other nodes."""
    variables = list(node.inputs)
    last = variables.pop()
    if node.op == ot.neg or not variables or not isinstance(last, Constant):
        return None
    data = np.asarray(last.data)
    return _added(variables), np.negative(data) if node.op == ot.sub else data


@node_rewriter([ot.add, ot.sub], tags=("finite", "shape_unsafe", "comparison", "overflow"))
def cancelled_sum(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Replacements:
    """x + y - x = y (finite: also if x is infinite or NaN. comparison: also if y is lost by rounding in x + y.)"""
    collected = _collected(fgraph, node)
    if collected is None or not collected.cancels:
        collected = _cancelled_with_shared(fgraph, node)
    if collected is None:
        return None
    return [shaped_like(collected.expression(), node.outputs[0])]


def _cancelled_with_shared(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Collected | None:
    """The collected sum of a term that is a sum with other users, such as s = x + y in s - x, if fewer terms are left."""
    whole = Sum.at(fgraph, node)
    if whole is None or len(whole.terms) > _FEW:
        return None
    dtype = node.outputs[0].type.dtype
    for i, (term, sign) in enumerate(whole.terms):
        owner = computed_by(term, Elemwise)
        if owner is None or owner.op not in (ot.add, ot.sub) or dtype.startswith("uint"):
            continue
        part = Sum.at(fgraph, owner)
        if part is None or not _may_cancel(whole, i, part):
            continue
        inner = [(v, sign * s) for v, s in part.terms]
        collected = Collected(Sum(node, [*whole.terms[:i], *inner, *whole.terms[i + 1 :]]))
        if collected.length < len(whole.terms):
            return collected
    return None


def _may_cancel(whole: Sum, at: int, part: Sum) -> bool:
    """A quick test: whether some term of ``part``, the term of ``whole`` at a position, occurs in ``whole`` or is a constant."""
    others = [v for i, (v, _) in enumerate(whole.terms) if i != at]
    constant = any(isinstance(v, Constant) for v in others)
    return len(part.terms) <= _FEW and any(
        v in others or (constant and isinstance(v, Constant)) for v, _ in part.terms
    )


def _is_plainly_collected(whole: Sum) -> bool:
    """A quick test: True only if nothing in a sum can be collected.

    Then all terms differ, and none of them is a constant or has a constant factor.
    """
    seen: set[Variable] = set()
    for term, _ in whole.terms:
        if term in seen or isinstance(term, Constant):
            return False
        seen.add(term)
        owner = term.owner
        if owner is not None and owner.op == ot.mul and len(owner.inputs) == 2:
            if any(isinstance(v, Constant) or v in seen for v in owner.inputs):
                return False
    return True


def _collected(fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Collected | None:
    """The collected sum with ``node`` as its root; None if there is none, or if collecting changes nothing."""
    whole = Sum.at(fgraph, node)
    dtype = node.outputs[0].type.dtype
    if whole is None or dtype.startswith("uint"):
        return None
    if whole.collected is None and _is_plainly_collected(whole):
        return None
    collected = whole.collected = whole.collected or Collected(whole)
    if collected.is_collected or not (collected.coefficients or collected.constants):
        return None
    return collected


@rule(p.sub(x, 0), on="any")
def sub_zero(x: TensorVariable) -> TensorVariable | None:
    """x - 0 = x."""
    return x


@rule(p.neg(p.sub(x, y)), on="inexact", tags=("rounding",))
def neg_of_difference(x: TensorVariable, y: TensorVariable) -> TensorVariable | None:
    """-(x - y) = y - x (rounding: the sign of a zero)."""
    return ot.sub(y, x)


@rule(p.mul(number("c", is_power_of_two), p.add(p.mul(d, x), k)), tags=("overflow",))
def distribute_number(
    c: complex, d: complex, x: TensorVariable, k: complex, node: TensorApply
) -> TensorVariable | None:
    """c (d x + k) = (c d) x + c k, for constants d and k and a power of two c, so that nothing is rounded.

    (overflow: only near the end of the range.)
    """
    first, last = c * d, c * k
    if not is_moderate(node.outputs[0].type.numpy_dtype, c, d, first, *(v for v in (k, last) if v)):
        return None
    return ot.add(ot.mul(first, x), last)


CANONICALIZE = RuleSet(
    (canonical_sum, collected_sum, cancelled_sum, sub_zero, neg_of_difference), "sums canonicalize"
)
SPECIALIZE = RuleSet((distribute_number,), "sums specialize")
