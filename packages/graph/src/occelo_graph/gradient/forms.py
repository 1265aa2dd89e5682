"""The door for stable forms: which expression is differentiated in place of the one that the user wrote.

`occelo_forms` opens it, so that the derivative of log(1 + exp(x)) is that of softplus(x). `occelo_rewrite` and the
families that need such derivatives import that package. Without it the chain rule is applied to graphs as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Set

from occelo_graph.ir.nodes import Apply, Variable, nodes_made
from occelo_graph.ir.traversal import toposort

Forms = Callable[[Apply, Set[Variable]], tuple[Variable | None, list[Apply]]]
"""A function of a node and of variables that it treats as roots. It returns the form of the node's output and the new
nodes of the form in topological order, or None and no nodes."""


def _as_written(_node: Apply, _keep: Set[Variable]) -> tuple[Variable | None, list[Apply]]:
    return None, []


_forms: list[Forms] = [_as_written]
_waiting: list[Callable[[], Forms]] = []
_used: list[bool] = []


def set_forms(load: Callable[[], Forms]) -> None:
    """Let reverse and forward mode differentiate the forms of what ``load`` imports, with them or, if they are there, now."""
    _waiting[:] = [load]
    if _used:
        use_forms()


def use_forms() -> None:
    """Import the forms that `set_forms` announced. Modules that need forms call this, so that no derivative waits for it."""
    _used[:] = [True]
    while _waiting:
        _forms[0] = _waiting.pop()()


def differentiable_form(node: Apply, keep: Set[Variable]) -> tuple[Variable | None, list[Apply]]:
    """A form of a node's output with stable derivatives, and the new nodes of the form in topological order.

    The form is None if none is known. The variables in ``keep`` are treated as roots, however they are computed.
    An op may have a form of its own (`Op.differentiable_form`).
    """
    if node.op.has_differentiable_form and keep.isdisjoint(node.inputs):
        with nodes_made() as nodes:
            form = node.op.differentiable_form(node)
        if form is not None:
            new = frozenset(v for each in nodes for v in each.outputs)
            read = {v for each in nodes for v in each.inputs} - new
            return form, toposort([form], blockers=read)
    return _forms[0](node, keep)
