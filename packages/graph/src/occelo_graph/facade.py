"""What modules below name and modules above define, in one object.

Methods such as `Variable.eval` hand over to functions of higher layers, which nothing below may import. `wiring` fills
the fields when the package is imported.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from occelo_graph.fgraph.frozen import FrozenFunctionGraph
    from occelo_graph.fgraph.graph import FunctionGraph
    from occelo_graph.ir.nodes import Constant, Variable

__all__ = ["Facade", "facade"]


@dataclass(init=False, slots=True, eq=False, repr=False)
class Facade:
    """Classes and functions of the graph package that its lower modules need."""

    variable: type[Variable]
    """The class of variables whose type has none of its own."""
    constant: type[Constant]
    """The class of constants whose type has none of its own."""
    convert: Callable[[Any], Variable]
    """From an argument of an op that is no variable to a variable; see `set_default_converter`."""
    eval: Callable[..., Any]
    """`Variable.eval`: of a variable, values by variables or names, and options."""
    evaluator: Callable[..., Any]
    """What ``eval`` and `verify_grad` compute with: the interpreter, or a compiler above this package.

    Of a variable, a mapping from variables to values, and options.
    """
    dprint: Callable[..., Any]
    """Prints variables or graphs."""
    formula: Callable[[Any], str]
    """A variable as a formula."""
    specify_shape: Callable[..., Any]
    """Of a tensor and lengths: the tensor with these lengths."""
    stack: Callable[..., Any]
    """Of a sequence of tensors: one tensor with a new first dimension."""
    batch_by_loop: Callable[..., Sequence[Any]]
    """`Op.batch` of an op without a rule of its own."""
    decomposed_kernel: Callable[..., Any]
    """Of a node: how it runs in Python by what its op consists of."""
    unfreeze: Callable[[FrozenFunctionGraph], FunctionGraph]
    """A mutable graph that equals a frozen one."""


facade = Facade()
