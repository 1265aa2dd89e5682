"""`facade`: an object through which lower modules reach classes and functions of higher modules, which they cannot
import.

Methods such as `Variable.eval` use it. `wiring` fills its fields when the package is imported; `occelo_compile.wiring` sets
the compiler as ``evaluator``.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.fgraph.graph import FunctionGraph
    from occelo_graph.ir.nodes import Apply, Constant, Variable
    from occelo_graph.ir.op import Kernel
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Facade", "facade"]


@dataclass(init=False, slots=True, eq=False, repr=False)
class Facade:
    """Classes and functions of higher modules of the graph package that lower ones call."""

    variable: type[Variable]
    """The default class of variables."""
    constant: type[Constant]
    """The default class of constants."""
    convert: Callable[[Any], Variable]
    """Converts an argument of an op to a variable; see `set_default_converter`."""
    eval: Callable[..., Any]
    """`Variable.eval`, called with a variable, a mapping from variables or names to values, and options."""
    evaluator: Callable[..., Any]
    """Computes a variable, for ``eval`` and `verify_grad`: the interpreter, or a compiler above this package.

    Called with a variable, a mapping from variables to values, and options.
    """
    dprint: Callable[..., Any]
    """`debugprint`."""
    formula: Callable[[Any], str]
    """`pprint`."""
    specify_shape: Callable[..., TensorVariable]
    """`specify_shape`, called with a tensor and lengths."""
    stack: Callable[..., TensorVariable]
    """`stack`, called with a sequence of tensors."""
    batch_by_loop: Callable[..., Sequence[Any]]
    """`Op.batch` for an op without a batching rule."""
    decomposed_kernel: Callable[[Apply], Kernel | None]
    """The function that runs a node in Python by its decomposition."""
    pull_decomposition: Callable[[Apply, Sequence[Variable], Sequence[Any]], Sequence[Any] | None]
    """The cotangents of a node's inputs through the decomposition of its op; None if there is none."""
    unfreeze: Callable[[FrozenFunctionGraph], FunctionGraph]
    """A mutable graph that equals a frozen one."""


facade = Facade()
