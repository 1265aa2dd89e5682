"""Ops whose result equals their input: copies, views, and facts that users state about a value (`assume`).

`occelo_compile.memory` inserts copies and views for the memory contract. Users call `assume`, and
`occelo_rewrite.assumptions` reads the stated facts.
"""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Cotangents, Kernel, Op, Tangents, op
from occelo_graph.ir.terms import Term, called
from occelo_graph.ir.traits import FIRST
from occelo_graph.narrowing import is_array
from occelo_graph.ops.control.facts import FACTS, with_implied
from occelo_graph.tensors.constant import as_tensor_variable


class SameType(Op):
    """Base class of ops whose output has the type and shape of the first input. The other inputs have no derivative."""

    moves = FIRST

    def infer(self, x: Any) -> Any:
        return x

    def kernel(self, node: Apply) -> Kernel:
        # a value may itself be a tuple, which is one result and not several
        return lambda *values: (self.evaluate(*values),)

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Cotangents:
        return [cotangents[0], *[None] * (len(inputs) - 1)]

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> Tangents:
        return [tangents[0]]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        return [input_shapes[0]]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        return [self(*inputs)]


@op
class DeepCopyOp(SameType):
    """Copies its input to new storage."""

    def kernel(self, node: Apply) -> Kernel:
        copied = node.inputs[0].type.copy
        return lambda *values: (copied(*values),)

    def evaluate(self, x: Any) -> Any:
        return np.array(x) if is_array(x) else copy.deepcopy(x)

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False


class Unchanged(SameType):
    """Base class of ops that return their input itself."""

    view_map = {0: [0]}

    def evaluate(self, x: Any) -> Any:
        return x

    def decompose(self, x: Any) -> Sequence[Any]:
        return [x]


@op
class ViewOp(Unchanged):
    """Returns its input as another variable with the same storage."""


@op
class After(SameType):
    """Returns its first input, as a value that is known only once the other inputs are computed.

    So what is computed from the result runs after the other inputs, and is not merged with what is computed from the
    first input itself. Gradients that compute values again instead of keeping them need that.
    """

    view_map = {0: [0]}

    def infer(self, x: Any, *others: Any) -> Any:
        return x

    def evaluate(self, x: Any, *others: Any) -> Any:
        return x

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        return [[i == 0] for i in range(len(node.inputs))]


@op
class Assume(Unchanged):
    """Returns its input, about which the user has stated facts. Rewriting relies on them without a check.

    ``facts`` are pairs: the name of a fact (`FACTS`), and whether it holds.
    """

    facts: tuple[tuple[str, bool], ...]

    def written(self, node: Apply, operands: Sequence[Term]) -> Term | None:
        return called("assume", operands[0].text, **dict(self.facts))

    def named_extensions(self) -> Sequence[tuple[str, str]]:
        return [("fact", name) for name in with_implied(name for name, _ in self.facts)]

    def __str__(self) -> str:
        said = ", ".join(name if holds else f"not {name}" for name, holds in self.facts)
        return f"Assume{{{said}}}"


def assume(
    x: Any,
    *,
    diagonal: bool | None = None,
    lower_triangular: bool | None = None,
    upper_triangular: bool | None = None,
    tridiagonal: bool | None = None,
    unit_diagonal: bool | None = None,
    symmetric: bool | None = None,
    hermitian: bool | None = None,
    positive_semidefinite: bool | None = None,
    positive_definite: bool | None = None,
    orthogonal: bool | None = None,
    selection: bool | None = None,
    permutation: bool | None = None,
    unique_indices: bool | None = None,
    nonnegative: bool | None = None,
    positive: bool | None = None,
    **registered: bool | None,
) -> Any:
    """State facts about ``x``. Each fact holds (True), does not hold (False), or is not stated (None).

    An index array with ``unique_indices`` contains no position twice. All other names except ``nonnegative`` and
    ``positive`` are facts about matrices, in the last two dimensions of ``x``. In a ``tridiagonal`` matrix, only the
    main diagonal and its two neighbours may differ from 0, in a ``diagonal``, ``lower_triangular`` or
    ``upper_triangular`` one what the name says. A ``unit_diagonal`` contains only ones. A ``positive_definite`` or
    ``positive_semidefinite`` matrix is ``hermitian``. ``symmetric`` and
    ``orthogonal`` refer to the transpose, and ``hermitian`` refers to the conjugate transpose. An ``orthogonal`` matrix
    is square; orthonormal columns are not enough. A ``selection`` matrix has a single 1 in each row, and zeros
    elsewhere. A ``permutation`` matrix also has a single 1 in each column.

    ``registered`` are facts that were added by `register_fact`.

    Rewriting relies on the facts without a check. If a fact is wrong, results are undefined. TypeError if no fact is
    stated, if a name is unknown, or if a fact about matrices is stated and ``x`` has fewer than two dimensions.
    """
    stated = {
        "diagonal": diagonal,
        "lower_triangular": lower_triangular,
        "upper_triangular": upper_triangular,
        "tridiagonal": tridiagonal,
        "unit_diagonal": unit_diagonal,
        "symmetric": symmetric,
        "hermitian": hermitian,
        "positive_semidefinite": positive_semidefinite,
        "positive_definite": positive_definite,
        "orthogonal": orthogonal,
        "selection": selection,
        "permutation": permutation,
        "unique_indices": unique_indices,
        "nonnegative": nonnegative,
        "positive": positive,
        **registered,
    }
    for name in registered:
        if name not in FACTS:
            raise TypeError(f"assume has no parameter named {name}; there are {', '.join(FACTS)}")
    facts = tuple((name, bool(holds)) for name, holds in stated.items() if holds is not None)
    if not facts:
        raise TypeError("assume needs something to assume, such as symmetric=True")
    variable = as_tensor_variable(x)
    for name, _ in facts:
        if FACTS[name].of_matrices and variable.type.ndim < 2:
            raise TypeError(
                f"{name} is said of matrices, and {variable} is of type {variable.type}"
            )
    return Assume(facts)(variable)
