"""Replays failed calls: the interpreter runs the user's graph on the same inputs, to raise the error in the user's
terms.

In compiled code a node of the rewritten graph fails, and this graph may differ between backends. In the replay a node
of the user's own graph fails. So the message names the user's line, and is the same on every backend.

`Function.__call__` calls `replayed_error` if the VM raises an error.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from occelo_compile.debugging.errors import DebugModeError
from occelo_graph.errors import in_context
from occelo_graph.interpret import evaluate
from occelo_graph.ir.container import local

if TYPE_CHECKING:
    from occelo_compile.calling import Function


def replayed_error(
    function: Function, subset: list[int] | None, error: Exception
) -> Exception | None:
    """Return the exception that the user's graph raises on the inputs of a failed call.

    Returns None if the replay does not fail, or if it could repeat side effects. Also returns None for an error of
    DebugMode, whose message says more.
    """
    if isinstance(error, DebugModeError):
        return None
    graph = function.maker.users_graph()
    if not all(node.op.pure and not node.op.destroy_map for node in graph.apply_nodes):
        return None
    # copies, since an op that fails may also overwrite its inputs by mistake
    values = [copy.deepcopy(local(container.storage[0])) for container in function.input_storage]
    if any(value is None for value in values):
        return None
    updates = sorted(graph.update_mapping)
    chosen = range(len(graph.outputs)) if subset is None else [*subset, *updates]
    try:
        evaluate([graph.outputs[i] for i in chosen], dict(zip(graph.inputs, values, strict=True)))
    except Exception as error:
        return error if function.name is None else in_context(error, [f"In {function}:"])
    return None
