"""Errors in terms of the user's own graph.

What fails at run time is a node of a rewritten graph, and backends rewrite differently. So a call that
failed runs once more, in the interpreter, over the graph as the user wrote it: the first node of that to
fail tells the cause, with the user's line and the same text whatever the backend.
"""

from __future__ import annotations

import copy
from typing import Any

from occelo_compile.debugging.errors import DebugModeError
from occelo_graph.interpret import evaluate
from occelo_graph.ir.container import local

__all__ = ["retold"]


def retold(function: Any, subset: list[int] | None, error: Exception) -> Exception | None:
    """What the user's graph raises on the inputs that a call failed with.

    None if that finds nothing wrong, if running it again could have effects of its own, or for an error
    of DebugMode, which says more itself.
    """
    if isinstance(error, DebugModeError):
        return None
    graph = function.maker.users_graph()
    if not all(node.op.pure and not node.op.destroy_map for node in graph.apply_nodes):
        return None
    # an op that fails may also overwrite what it should not
    values = [copy.deepcopy(local(container.storage[0])) for container in function.input_storage]
    if any(value is None for value in values):
        return None
    updates = sorted(graph.update_mapping)
    chosen = range(len(graph.outputs)) if subset is None else [*subset, *updates]
    try:
        evaluate([graph.outputs[i] for i in chosen], dict(zip(graph.inputs, values, strict=True)))
    except Exception as error:
        return error
    return None
