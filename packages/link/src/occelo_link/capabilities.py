"""The capabilities of backends: which nodes of a graph a backend compiles, and what it is known to lack.

The command ``occelo backends``, conformance tests and users call these functions. Linkers do not.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from occelo_graph import Apply, FunctionGraph, Variable, toposort
from occelo_graph.errors import explained_by
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ir.graph_like import graph_parts
from occelo_link.libraries import LIBRARIES, require
from occelo_link.libraries import is_installed as is_installed
from occelo_link.withheld_lowerings import scalar_is_withheld

if TYPE_CHECKING:
    from occelo_graph.ops.elemwise.scalar import ScalarOp

BACKENDS = ("py", "vm", "native", "c", "c|py", "numba", "jax", "pytorch")
"""The names of Occelo's own linkers. Other packages can register further linkers."""


@dataclass(frozen=True)
class Lack:
    """A node that a backend does not compile. ``source`` is the user's line that made the node."""

    op: str
    dtypes: tuple[str, ...]
    source: str

    def __str__(self) -> str:
        where = f", made at {self.source}" if self.source else ""
        return f"{self.op} of {', '.join(self.dtypes)}{where}"


@dataclass(frozen=True)
class Gap:
    """Something that a backend is known to lack or to do differently.

    ``what`` is the op or feature and ``reason`` an explanation. ``exception`` is the name of the exception that is
    raised, or "" if none is raised.
    """

    what: str
    backend: str
    exception: str
    reason: str


GAPS: tuple[Gap, ...] = (
    Gap(
        "ifelse",
        "pytorch",
        "",
        "both branches are computed; if the one that is not taken fails, the call runs in Python",
    ),
    Gap("uint64", "pytorch", "", "values from 2^63 on are treated as negative numbers"),
    Gap("subnormal numbers", "jax", "", "XLA treats them as 0"),
    Gap(
        "sums of constants", "jax", "", "XLA computes x + a + b as x + (a + b), which may overflow"
    ),
    *(
        Gap(what, backend, "", "arrays are copied into the library and out of it")
        for backend in ("jax", "pytorch")
        for what in ("mutable inputs", "borrowed outputs")
    ),
    *(
        Gap(what, backend, "", "the whole function runs in Python, node by node")
        for what, backend in (
            ("ops with effects, except observers outside of loops", "jax"),
            ("ops with effects", "pytorch"),
        )
    ),
    *(
        Gap("shapes from values", backend, "", "the inputs that decide them are static")
        for backend in ("jax", "pytorch")
    ),
)


def gaps_of(backend: str) -> list[Gap]:
    """Return the known gaps of one backend."""
    return [gap for gap in GAPS if gap.backend == backend]


def op_label(node: Apply) -> str:
    """Return the display name of a node's op: the name of its scalar op or of the user's function that it calls, if it
    has one, and otherwise the name of its class.
    """
    op = node.op
    scalar: ScalarOp | None = getattr(op, "scalar_op", None)
    if scalar is None:
        return str(getattr(op, "__name__", type(op).__name__))
    label = type(scalar).__name__.lower() if "{" in scalar.name else scalar.name
    return label if op.elementwise else f"{type(op).__name__}({label})"


def _loops(node: Apply) -> bool:
    from occelo_link.loops.build import find_lowering  # slow to import

    return find_lowering(node) is not None


def _tracing(backend: str) -> Callable[[Apply], bool]:
    from occelo_link.traced.functions import library_has
    from occelo_link.traced.linker import load_lowerings
    from occelo_link.traced.registry import find_lowering
    from occelo_link.traced.scalars import registered_scalar
    from occelo_link.traced.translations.elemwise import supports_scalar

    load_lowerings()
    # PyTorch would unroll loops with a count
    has_loops = backend == "jax"

    def knows(name: str) -> bool:
        if scalar_is_withheld(name):
            return False
        return registered_scalar(backend, name) is not None or library_has(backend, name)

    def compiles(node: Apply) -> bool:
        scalar: ScalarOp | None = getattr(node.op, "scalar_op", None)
        if (
            node.op.elementwise
            and scalar is not None
            and not supports_scalar(knows, scalar, [v.type.dtype or "" for v in node.inputs])
        ):
            return False
        if find_lowering(node) is not None:
            return True
        if node.op.loops:
            loop = node.op.loop(node)
            return (has_loops or loop.count is None) and all(map(compiles, loop.body.nodes))
        parts = decomposition(node)
        return parts is not None and all(map(compiles, parts.order))

    return compiles


def _compiles(backend: str) -> Callable[[Apply], bool]:
    if backend in ("py", "vm"):
        return lambda node: True
    if backend in ("jax", "pytorch"):
        return _tracing(backend)
    return _loops


@explained_by("modes")
def supports(backend: str, graph: FunctionGraph | Variable | Iterable[Variable]) -> list[Lack]:
    """Return the nodes of a graph that a backend does not compile, in execution order. These nodes run in Python.

    The list is empty if the backend compiles all nodes. Raises ValueError if ``backend`` is not one of `BACKENDS`, and
    ModuleNotFoundError if its library is not installed.
    """
    if backend not in BACKENDS:
        raise ValueError(f"There is no backend {backend!r}; there are {', '.join(BACKENDS)}")
    if backend in LIBRARIES:
        require(LIBRARIES[backend])
    if isinstance(graph, FunctionGraph):
        nodes = graph.toposort()
    else:
        nodes = toposort(graph_parts(graph)[0])
    compiles = _compiles(backend)
    return [
        Lack(
            op_label(node),
            tuple(v.type.dtype or str(v.type) for v in node.inputs),
            str(node.source or ""),
        )
        for node in nodes
        if not compiles(node)
    ]


def reason_for_python(node: Apply) -> str | None:
    """Why native, c and numba compute a node in Python, or None if no reason is known."""
    reasons = importlib.import_module("occelo_link.loops.python_only")
    reason: str | None = reasons.reason_for_python(node)
    return reason
