"""`without_lowering`: switches off the lowerings of chosen ops, so that tests run the ops by their decompositions.

The registries of lowerings ask `is_withheld` and `scalar_is_withheld`. Thunks of nodes (`vm`) get their kernels from
`running_kernel`, and so does ``c|py`` when it replays a node that failed. The choice is part of the key of a function
in the cache.
"""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

from occelo_graph import Apply, Op
from occelo_graph.canonical.encoding import class_name
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_graph.ir.op import Kernel
from occelo_graph.ir.user_ops import owning_kernel
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp

__all__ = [
    "Withheld",
    "applied",
    "is_withheld",
    "running_kernel",
    "scalar_is_withheld",
    "withheld",
    "without_lowering",
]


@frozen_dataclass
class Withheld:
    """Classes of ops and of scalar operations, and names of scalar functions, whose lowerings are not used."""

    classes: tuple[type, ...] = ()
    names: frozenset[str] = frozenset()

    def __bool__(self) -> bool:
        return bool(self.classes or self.names)

    def __str__(self) -> str:
        return ", ".join(sorted([*map(class_name, self.classes), *self.names]))


_NOTHING = Withheld()
_current: ContextVar[Withheld] = ContextVar("withheld", default=_NOTHING)


def withheld() -> Withheld:
    """The lowerings that are switched off in this context."""
    return _current.get()


def is_withheld(node: Apply) -> bool:
    """Whether the lowering of a node's op, or of its scalar function, is switched off."""
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
    """The kernel of a node in Python: of its op, or of the op's decomposition if the op's lowering is switched off."""
    if is_withheld(node) and not (node.op.destroy_map or node.op.lazy):
        found = decomposed_kernel(node)
        if found is not None:
            return found
    return owning_kernel(node)


@contextmanager
def applied(off: Withheld) -> Generator[None]:
    """Switch off exactly the lowerings in ``off`` within the ``with`` block."""
    token = _current.set(off)
    try:
        yield
    finally:
        _current.reset(token)


@contextmanager
def without_lowering(*what: Any) -> Generator[None]:
    """Compile functions within the ``with`` block without the lowerings of some ops.

    ``what`` are classes of ops (`Softmax`), classes of scalar operations (`Composite`), or elementwise functions by
    their op or scalar op (``ot.sigmoid``). Such an op runs by its `Op.decompose`, or the ``formula`` of its scalar op.
    An op that has neither runs in Python. In the Python linkers a decomposition takes the place of ``evaluate``.

    It is for tests that compare results with and without lowerings, on any backend. A function that is compiled within
    the block never uses these lowerings, even if it is compiled again for other shapes after the block has ended. The
    choice is part of the function's key in the cache. TypeError if ``what`` has an element of another kind.
    """
    classes, names = list(_current.get().classes), set(_current.get().names)
    for each in what:
        scalar = getattr(each, "scalar_op", each)
        if isinstance(scalar, ScalarFunction):
            names.add(scalar.name)
        elif isinstance(each, type) and issubclass(each, Op | ScalarOp):
            classes.append(each)
        else:
            raise TypeError(
                f"Lowerings are of classes of ops and of elementwise functions, not of {each!r}"
            )
    with applied(Withheld(tuple(dict.fromkeys(classes)), frozenset(names))):
        yield
