"""`facade`: an object whose fields are classes and functions of higher modules. Lower modules, which cannot import the
higher ones, call them through it.

For example, `Variable.eval` calls ``facade.eval``. `wiring` sets all fields when `occelo_graph` is imported. Some
of the functions are imported at their first call. `occelo_compile.wiring` then replaces the field ``evaluator`` by the
compiler.
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


@dataclass(init=False, slots=True, eq=False, repr=False)
class Facade:
    """Classes and functions of higher modules of the graph package, for its lower modules."""

    variable: type[Variable]
    """The default class of variables."""
    constant: type[Constant]
    """The default class of constants."""
    convert: Callable[[Any], Variable]
    """Converts an argument of an op to a variable. `set_default_converter` replaces this function."""
    eval: Callable[..., Any]
    """The function behind `Variable.eval`.

    Its arguments are a variable, a mapping from variables or names to values, and options.
    """
    evaluator: Callable[..., Any]
    """Computes the value of a variable, for ``eval`` and `verify_grad`.

    This is the interpreter, or the compiler once `occelo_compile` is imported. Its arguments are a variable, a mapping
    from variables to values, and options.
    """
    dprint: Callable[..., Any]
    """The function `debugprint`."""
    formula: Callable[[Any], str]
    """The function `pprint`."""
    raise_unless: Callable[..., Any]
    """Adds a run-time check to a variable; its arguments are those of the function `raise_unless`."""
    specify_shape: Callable[..., TensorVariable]
    """The function `specify_shape`; its arguments are a tensor and lengths."""
    stack: Callable[..., TensorVariable]
    """The function `stack`; its argument is a sequence of tensors."""
    batch_by_loop: Callable[..., Sequence[Any]]
    """The default `Op.batch`, for ops without a batching rule."""
    repeated: Callable[[Apply, Sequence[Any]], Sequence[Any]]
    """Applies the op of a node to each element of a batch of inputs, in a loop."""
    decomposed_kernel: Callable[[Apply], Kernel | None]
    """Returns a function that runs the decomposition of a node in Python. None if the op has no decomposition."""
    pull_decomposition: Callable[[Apply, Sequence[Variable], Sequence[Any]], Sequence[Any] | None]
    """Computes the cotangents of a node's inputs by the decomposition of its op. None if there is no decomposition."""
    reduced: Callable[[Variable | Apply], tuple[Any, ...]]
    """What ``__reduce__`` of a node, or of a variable that a node computes, returns."""
    unfreeze: Callable[[FrozenFunctionGraph], FunctionGraph]
    """Returns a function graph, which can be changed, with the content of a frozen graph."""


facade = Facade()
