"""Switches off the lowerings of chosen ops, so that the ops are compiled as their decompositions.

Tests use `without_lowering` to compare an op's lowering with its decomposition. The registries of lowerings (in `loops`
and `traced`) call `is_withheld` and `scalar_is_withheld`. `vm` and `c.linker`, which run nodes in Python, call
`running_kernel`: it returns the decomposition in place of the op's NumPy code. The cache of functions reads `withheld`.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from occelo_graph import Apply, Op
from occelo_graph.canonical.names import class_name
from occelo_graph.errors import explained
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.op import Kernel
from occelo_graph.ir.user_ops import owning_kernel
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp


@frozen_dataclass
class Withheld:
    """The ops whose lowerings are switched off.

    ``classes`` are classes of ops and of scalar ops, and ``names`` are names of scalar functions.
    """

    classes: tuple[type, ...] = ()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.classes or self.names)

    def __str__(self) -> str:
        return ", ".join(sorted([*map(class_name, self.classes), *self.names]))


_NOTHING = Withheld()
_current: ContextVar[Withheld] = ContextVar("withheld", default=_NOTHING)


def withheld() -> Withheld:
    """Return the ops whose lowerings are switched off in the current context. A function's cache key contains them."""
    return _current.get()


def is_withheld(node: Apply) -> bool:
    """Whether the lowering of a node's op, or of its scalar op, is switched off."""
    off = _current.get()
    if off is _NOTHING:
        return False
    scalar: ScalarOp | None = getattr(node.op, "scalar_op", None) if node.op.elementwise else None
    return (
        isinstance(node.op, off.classes)
        or isinstance(scalar, off.classes)
        or (isinstance(scalar, ScalarFunction) and scalar.name in off.names)
    )


def scalar_is_withheld(name: str) -> bool:
    """Whether the lowering of the scalar function of this name is switched off."""
    return name in _current.get().names


def running_kernel(node: Apply) -> Kernel:
    """Return the function that runs a node in Python: the op's NumPy code, or its decomposition.

    The decomposition is used if the op's lowering is switched off.
    """
    if is_withheld(node) and not (node.op.destroy_map or node.op.lazy):
        from occelo_graph.ir.decomposing import decomposed_kernel  # seldom needed

        kernel = decomposed_kernel(node)
        if kernel is not None:
            return kernel
    return owning_kernel(node)


@contextmanager
def applied(off: Withheld) -> Generator[None]:
    """Switch off exactly the lowerings in ``off`` within the ``with`` block, and no others."""
    token = _current.set(off)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def without_lowering(*what: Any) -> Generator[None]:
    """Compile functions within the ``with`` block without the lowerings of some ops.

    An op can be named by its class (`Softmax`), by the class of its scalar op (`Composite`), or, for an elementwise
    function, by the function (``ot.sigmoid``) or its scalar op. Such an op runs as its decomposition: `Op.decompose`,
    or the ``formula`` of its scalar op. An op without a decomposition runs in Python. In the Python linkers a
    decomposition replaces ``evaluate``.

    Tests use this to compare results with and without lowerings, on every backend. A function that is compiled within
    the block never uses these lowerings, even if it is compiled again for other shapes after the block. Raises
    TypeError if ``what`` has an element that is neither a class of ops nor an elementwise function.
    """
    classes, names = list(_current.get().classes), set(_current.get().names)
    for each in what:
        scalar = getattr(each, "scalar_op", each)
        if isinstance(scalar, ScalarFunction):
            names.add(scalar.name)
        elif isinstance(each, type) and issubclass(each, Op | ScalarOp):
            classes.append(each)
        else:
            raise explained(
                TypeError(
                    f"Lowerings are of classes of ops and of elementwise functions, not of {each!r}"
                ),
                "rules",
            )
    with applied(Withheld(tuple(dict.fromkeys(classes)), frozenset(names))):
        yield
