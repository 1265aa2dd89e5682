"""Functions of higher modules of this package that lower modules call. Each is imported at its first call.

This page lists all calls upward. Imports go downward only.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.lazy_names import at_first_call

if TYPE_CHECKING:
    from occelo_graph.ir.nodes import Apply, Variable
    from occelo_graph.tensors.variable import TensorVariable

variable_eval: Callable[..., Any] = at_first_call("occelo_graph.interpret", "variable_eval")
"""The function behind `Variable.eval`: of a variable, a mapping from variables or names to values, and options."""
debugprint: Callable[..., Any] = at_first_call("occelo_graph.node_trees", "debugprint")
stack: Callable[..., TensorVariable] = at_first_call("occelo_graph.ops.join", "stack")
cast_by: Callable[[Any, Any, Sequence[Any]], Sequence[Any]] = at_first_call(
    "occelo_graph.ops.cast", "cast_by"
)
batch_by_loop: Callable[..., Sequence[Any]] = at_first_call(
    "occelo_graph.blockwise", "batch_by_loop"
)
"""The default `Op.batch`, for ops without a batching rule."""
blockwise_loop: Callable[..., Any] = at_first_call("occelo_graph.blockwise", "Blockwise")
repeated: Callable[[Apply, Sequence[Any]], Sequence[Any]] = at_first_call(
    "occelo_graph.blockwise", "repeated"
)
"""Applies the op of a node to each element of a batch of inputs, in a loop."""
pull_decomposition: Callable[[Apply, Sequence[Variable], Sequence[Any]], Sequence[Any] | None] = (
    at_first_call("occelo_graph.gradient.decomposed", "pull_decomposition")
)
"""Computes the cotangents of a node's inputs by the decomposition of its op. None if there is no decomposition."""
evaluator: Callable[..., Any] = at_first_call("occelo_graph.interpret", "interpret")
"""Computes the value of a variable, for `Variable.eval` and `verify_grad`, from a mapping of variables to values, and options."""


def set_evaluator(function: Callable[..., Any]) -> None:
    """Let ``function`` compute values of variables instead of the interpreter. Importing `occelo_compile` sets its compiler."""
    global evaluator
    evaluator = function
