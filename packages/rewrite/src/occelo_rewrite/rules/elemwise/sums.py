"""Rules of sums: constants collected, equal terms counted, opposite ones cancelled."""

from __future__ import annotations

from typing import Any

import numpy as np

from occelo_graph import Apply, Constant, FunctionGraph
from occelo_graph import tensor as ot
from occelo_rewrite.constants import number_of
from occelo_rewrite.node_rule import RuleSet, node_rewriter
from occelo_rewrite.pattern import number, p, wild
from occelo_rewrite.pattern_rule import rule
from occelo_rewrite.rules.elemwise.trees import Sum
from occelo_rewrite.shaping import shaped_like

__all__ = ["CANONICALIZE", "SPECIALIZE"]

x, y, z = wild("x y z")
c, d, k = number("c"), number("d"), number("k")

_FOLDABLE = 1 << 16


def _scaled(term: Any) -> tuple[Any, Any]:
    """A term c * x as x and c; any other as itself and 1."""
    owner = term.owner
    if owner is not None and owner.op == ot.mul and len(owner.inputs) == 2:
        for i in (0, 1):
            factor = number_of(owner.inputs[i])
            other = owner.inputs[1 - i]
            if factor and other.type == term.type and np.isfinite(factor):
                return other, factor
    return term, 1


class _Collected:
    """The terms of a sum with their coefficients, in order, and the sum of its constants."""

    def __init__(self, whole: Sum) -> None:
        self.dtype: Any = whole.root.outputs[0].type.numpy_dtype  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType]
        self.whole = whole
        self.coefficients: dict[Any, Any] = {}
        self.constant: Any = None
        self._written: dict[tuple[Any, Any], Any] = {}
        for term, sign in whole.terms:
            if isinstance(term, Constant) and self._add_constant(term.data, sign):
                continue
            base, factor = _scaled(term)
            with np.errstate(all="ignore"):
                known = self.dtype.type(self.coefficients.get(base, 0))  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
                self.coefficients[base] = (known + self.dtype.type(sign * factor)).item()  # pyright: ignore[reportUnknownMemberType]
            if sign > 0:
                self._written.setdefault((base, factor), term)

    def _added(self, first: Any, second: Any) -> Any:
        """The sum of two coefficients, as the dtype computes it."""
        if self.dtype.kind == "f":
            return float(first) + float(second)
        with np.errstate(all="ignore"):
            return (self.dtype.type(first) + self.dtype.type(second)).item()

    def _add_constant(self, data: Any, sign: int) -> bool:
        """Add a constant to the others, unless that would make a large one."""
        value = data if sign > 0 else np.negative(data)
        if self.constant is None:
            if np.size(value) > _FOLDABLE:
                return False
            self.constant = value
            return True
        known = self.constant
        if np.broadcast(known, value).size > _FOLDABLE:
            return False
        with np.errstate(all="ignore"):
            self.constant = np.add(known, value)
        return True

    @property
    def is_canonical(self) -> bool:
        """Whether the sum is written just as `expression` would write it."""
        terms = self.whole.terms
        constants = [i for i, (v, _) in enumerate(terms) if isinstance(v, Constant)]
        if len(self.coefficients) + len(constants) != len(terms) or len(constants) > 1:
            return False
        if constants:
            place = constants[0]
            added = [i for i, (_, sign) in enumerate(terms) if sign > 0]
            if added[-1:] != [place] or not np.any(self.constant != 0):
                return False
        if any(sign < 0 and self.coefficients.get(v) != -1 for v, sign in terms):
            return False
        return self.whole.is_flat and not any(
            c == -1 and sign > 0
            for (_, sign), c in zip(terms, self.coefficients.values(), strict=False)
        )

    @property
    def cancels(self) -> bool:
        """Whether some term is left over zero times."""
        return any(v == 0 for v in self.coefficients.values())

    @property
    def overflows(self) -> bool:
        """Whether a coefficient is too large for its dtype."""
        return not all(np.isfinite(v) for v in self.coefficients.values())

    def _term(self, base: Any, coefficient: Any) -> Any:
        written = self._written.get((base, coefficient))
        if written is not None:
            return written
        return base if abs(coefficient) == 1 else ot.mul(base, coefficient)

    def expression(self, drop: bool) -> Any:
        """What is added, the constant last, minus what is subtracted.

        With ``drop`` without terms that cancel, otherwise with those added and subtracted.
        """
        plus: list[Any] = []
        minus: list[Any] = []
        for base, coefficient in self.coefficients.items():
            if coefficient not in (0, -1):
                plus.append(self._term(base, coefficient))
            elif coefficient == -1:
                minus.append(base)
            elif not drop:
                plus.append(base)
                minus.append(base)
        if self.constant is not None and np.any(self.constant != 0):
            plus.append(ot.constant(np.asarray(self.constant, self.dtype)))
        if not plus and not minus:
            return ot.constant(np.zeros((), self.dtype))
        top = None if not plus else plus[0] if len(plus) == 1 else ot.add(*plus)
        bottom = None if not minus else minus[0] if len(minus) == 1 else ot.add(*minus)
        if bottom is None:
            return top
        return ot.neg(bottom) if top is None else ot.sub(top, bottom)


@node_rewriter([ot.add, ot.sub, ot.neg])
def canonical_sum(fgraph: FunctionGraph, node: Apply) -> Any:
    """a + b - (c + d) in one form: terms, then one constant, minus terms; x + x = 2 x, x + 0 = x.

    (-0.0 + 0.0 is 0.0, so a float may lose the sign of a zero, as in NumPy's own sums.)
    """
    return _canonical(fgraph, node, False)


@node_rewriter([ot.add, ot.sub], tags=("finite", "shape_unsafe"))
def cancelled_sum(fgraph: FunctionGraph, node: Apply) -> Any:
    """x + y - x = y (finite: also where x is infinite or NaN)."""
    return _canonical(fgraph, node, True)


def _is_plainly_canonical(whole: Sum) -> bool:
    """Whether a sum of different terms without numbers has nothing to collect; a quick look."""
    seen: set[Any] = set()
    for term, _ in whole.terms:
        if term in seen or isinstance(term, Constant):
            return False
        seen.add(term)
        owner = term.owner
        if owner is not None and owner.op == ot.mul and len(owner.inputs) == 2:
            if any(isinstance(v, Constant) or v in seen for v in owner.inputs):
                return False
    if whole.root.op == ot.neg and len(whole.inner) > 1:
        return False
    return whole.is_flat


def _canonical(fgraph: FunctionGraph, node: Apply, cancel: bool) -> Any:
    whole = Sum.at(fgraph, node)
    dtype: str = node.outputs[0].type.dtype  # type: ignore[attr-defined] # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    if whole is None or dtype.startswith("uint"):  # pyright: ignore[reportUnknownMemberType]
        return None
    if whole.notes is None and _is_plainly_canonical(whole):
        return None
    collected: _Collected = whole.notes or _Collected(whole)
    whole.notes = collected
    if collected.is_canonical:
        return None
    if not collected.coefficients or collected.overflows or (cancel and not collected.cancels):
        return None
    return [shaped_like(collected.expression(cancel), node.outputs[0])]


@rule(p.sub(x, 0), on="any")
def sub_zero(x: Any) -> Any:
    """x - 0 = x."""
    return x


@rule(p.neg(p.sub(x, y)), on="inexact")
def neg_of_difference(x: Any, y: Any) -> Any:
    """-(x - y) = y - x."""
    return ot.sub(y, x)


@rule(p.mul(c, p.add(p.mul(d, x), k)))
def distribute_number(c: Any, d: Any, x: Any, k: Any) -> Any:
    """c (d x + k) = (c d) x + c k, for numbers c, d and k."""
    first, last = c * d, c * k
    if not np.isfinite([first, last]).all():
        return None
    return ot.add(ot.mul(first, x), last)


CANONICALIZE = RuleSet((canonical_sum, cancelled_sum, sub_zero), "sums canonicalize")
SPECIALIZE = RuleSet((neg_of_difference, distribute_number), "sums specialize")
