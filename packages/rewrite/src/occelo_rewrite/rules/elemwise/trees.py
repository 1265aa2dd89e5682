"""`Sum` and `Product`: all terms of a tree of additions, or all factors of a tree of multiplications.

The rules in `sums`, `products` and `rules.blas` use these classes. All nodes of a tree have the same dtype. The result
of each node except the root has one user: the node's parent in the tree.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from occelo_graph import (
    Apply,
    FunctionGraph,
    TensorApply,
    TensorConstant,
    TensorVariable,
    Variable,
    computed_by,
)
from occelo_graph import tensor as ot
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import is_complex, is_float
from occelo_rewrite.constants import number_of

if TYPE_CHECKING:
    from occelo_rewrite.rules.elemwise.sums import Collected

_LARGEST = 2000
_SUM = frozenset(("add", "sub", "neg"))
_PRODUCT = frozenset(("mul", "true_div", "neg", "reciprocal"))


def _name(node: Apply | None) -> str:
    op = None if node is None else node.op
    return op.scalar_op.name if isinstance(op, Elemwise) and not op.inplace else ""


def inner_node(
    fgraph: FunctionGraph, variable: Variable, dtype: str, names: frozenset[str]
) -> TensorApply[Elemwise] | None:
    """The node that computes a variable, if this node is an inner node of a tree; else None.

    ``dtype`` is the dtype of the tree, and ``names`` are the names of its scalar ops.
    """
    if _name(variable.owner) not in names or len(fgraph.clients.get(variable, (1,))) != 1:
        return None
    node = computed_by(variable, Elemwise)
    if node is None or any([v.type.dtype != dtype for v in node.inputs]):
        return None
    return node


def _is_root(fgraph: FunctionGraph, node: Apply, names: frozenset[str]) -> bool:
    """Whether a node is the root of its tree, so that a rule examines each tree once."""
    out = node.outputs[0]
    dtype = out.type.dtype
    if any([v.type.dtype != dtype for v in node.inputs]):
        return False
    uses = fgraph.clients[out]
    if len(uses) == 1:
        ((user, _),) = uses
        if _name(user) in names and inner_node(
            fgraph, out, tensors(user.outputs)[0].type.dtype, names
        ):
            return False
    return True


class Sum:
    """A sum. ``terms`` has all terms in order: pairs of a variable and its sign, +1 or -1."""

    def __init__(
        self, root: TensorApply[Elemwise], terms: list[tuple[TensorVariable, int]]
    ) -> None:
        self.root = root
        self.terms = terms
        self.collected: Collected | None = None

    @classmethod
    def at(cls, fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Sum | None:
        """The sum with ``node`` as its root; None if the node is not the root of a sum, or the sum is too large."""
        key = ("sum", node)
        derived = fgraph.derived
        if key not in derived:
            derived[key] = cls._find(fgraph, node)
        whole: Sum | None = derived[key]
        return whole

    @classmethod
    def _find(cls, fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Sum | None:
        dtype: str = node.outputs[0].type.dtype
        if dtype == "bool" or not _is_root(fgraph, node, _SUM):
            return None
        terms: list[tuple[TensorVariable, int]] = []
        stack: list[tuple[TensorVariable, int]] = [(node.outputs[0], 1)]
        while stack:
            variable, sign = stack.pop()
            owner = (
                node if variable is node.outputs[0] else inner_node(fgraph, variable, dtype, _SUM)
            )
            if owner is not None:
                name = _name(owner)
                signs = (
                    [1, -1] if name == "sub" else [-1 if name == "neg" else 1] * len(owner.inputs)
                )
                stack.extend(
                    (v, sign * s) for v, s in reversed(list(zip(owner.inputs, signs, strict=True)))
                )
                if len(stack) + len(terms) > _LARGEST:
                    return None
            else:
                terms.append((variable, sign))
        return cls(node, terms)


class Product:
    """A product or quotient: ``above`` has the factors of its numerator, and ``below`` those of its denominator.

    ``negative`` is whether the product has a minus sign. `without` removes factors from the tree of nodes. The other
    factors keep their places in the tree, so intermediate results do not overflow more often.
    """

    def __init__(self, root: TensorApply[Elemwise], inner: set[TensorVariable]) -> None:
        self.root = root
        self._inner = inner
        self.above: list[TensorVariable] = []
        self.below: list[TensorVariable] = []
        self.negative = False
        self.negations = 0
        self._functions: frozenset[str] | None = None
        self._numbers: tuple[list[TensorConstant], list[TensorConstant]] | None = None

    @property
    def functions(self) -> frozenset[str]:
        """The names of the scalar ops that compute the factors."""
        if self._functions is None:
            self._functions = frozenset([_name(v.owner) for v in (*self.above, *self.below)])
        return self._functions

    @classmethod
    def at(cls, fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Product | None:
        """The product with ``node`` as its root; None if the node is not a root, or the product is too large.

        None for products of integers, too.
        """
        key = ("product", node)
        derived = fgraph.derived
        if key not in derived:
            derived[key] = cls._find(fgraph, node)
        whole: Product | None = derived[key]
        return whole

    @classmethod
    def _find(cls, fgraph: FunctionGraph, node: TensorApply[Elemwise]) -> Product | None:
        dtype: str = node.outputs[0].type.dtype
        if not (is_float(dtype) or is_complex(dtype)) or not _is_root(fgraph, node, _PRODUCT):
            return None
        product = cls(node, {node.outputs[0]})
        stack: list[tuple[TensorVariable, bool]] = [(node.outputs[0], True)]
        while stack:
            variable, above = stack.pop()
            owner = (
                node
                if variable is node.outputs[0]
                else inner_node(fgraph, variable, dtype, _PRODUCT)
            )
            if owner is not None:
                product._inner.add(variable)
                name = _name(owner)
                sides = [above] * len(owner.inputs)
                if name in ("true_div", "reciprocal"):
                    sides[-1] = not above
                elif name == "neg":
                    product.negative = not product.negative
                    product.negations += 1
                stack.extend(reversed(list(zip(owner.inputs, sides, strict=True))))
                if len(stack) + len(product.above) + len(product.below) > _LARGEST:
                    return None
            else:
                (product.above if above else product.below).append(variable)
        return product

    def numbers(self) -> tuple[list[TensorConstant], list[TensorConstant]]:
        """The factors of the numerator and of the denominator that are constants with equal elements."""
        if self._numbers is None:
            self._numbers = _numbers_in(self.above), _numbers_in(self.below)
        return self._numbers

    def without(
        self,
        above: Iterable[TensorVariable] = (),
        below: Iterable[TensorVariable] = (),
        number: complex = 1.0,
        instead: tuple[TensorVariable | None, TensorVariable | None] = (None, None),
    ) -> tuple[TensorVariable | None, complex]:
        """The product without the factors ``above`` (of the numerator) and ``below`` (of the denominator).

        Returns the product without its sign as a variable (None if no factor is left), and a number by which this
        variable must be multiplied: ``number`` times the sign. Each factor is removed as often as it is listed.
        ``instead`` is a pair of a remaining factor and a variable that replaces one occurrence of this factor.
        """
        gone: dict[tuple[TensorVariable, bool], int] = {}
        for side, variables in ((True, above), (False, below)):
            for v in variables:
                gone[v, side] = gone.get((v, side), 0) + 1
        result = self._rebuild(gone, *instead)
        return result, -number if self.negative else number

    def _rebuild(
        self,
        gone: dict[tuple[TensorVariable, bool], int],
        old: TensorVariable | None,
        new: TensorVariable | None,
    ) -> TensorVariable | None:
        done: list[TensorVariable | None] = []
        stack: list[tuple[TensorVariable, bool, bool]] = [(self.root.outputs[0], True, False)]
        while stack:
            variable, above, ready = stack.pop()
            owner = computed_by(variable, Elemwise) if variable in self._inner else None
            if owner is None:
                key = (variable, above)
                if gone.get(key, 0):
                    gone[key] -= 1
                    done.append(None)
                elif variable is old:
                    done.append(new)
                    old = None
                else:
                    done.append(variable)
                continue
            if not ready:
                stack.append((variable, above, True))
                flip = _name(owner) in ("true_div", "reciprocal")
                last = len(owner.inputs) - 1
                for i, v in enumerate(owner.inputs):
                    stack.append((v, above != (flip and i == last), False))
                continue
            parts = [done.pop() for _ in owner.inputs]
            done.append(_combined(owner, parts))
        return done[0]


def _numbers_in(factors: list[TensorVariable]) -> list[TensorConstant]:
    return [v for v in factors if isinstance(v, TensorConstant) and number_of(v) is not None]


def _combined(
    node: TensorApply[Elemwise], parts: list[TensorVariable | None]
) -> TensorVariable | None:
    """The result of a node for new factors ``parts``, where None is a removed factor. A negation is left out."""
    name = _name(node)
    if name == "neg":
        return parts[0]
    if all(a is b for a, b in zip(parts, node.inputs, strict=True)):
        return node.outputs[0]
    if name == "mul":
        left = [v for v in parts if v is not None]
        return None if not left else left[0] if len(left) == 1 else ot.mul(*left)
    if name == "reciprocal":
        return None if parts[0] is None else ot.reciprocal(parts[0])
    top, bottom = parts
    if bottom is None:
        return top
    return ot.reciprocal(bottom) if top is None else ot.true_div(top, bottom)
