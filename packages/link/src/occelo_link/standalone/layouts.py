"""`layout_of` makes the arguments of a C function from the inputs, outputs and updates of a compiled function.

`c_function` and `exporting` call it.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from occelo_link.standalone.forms import Layout
from occelo_link.standalone.signature import Argument, Names, array_type


def layout_of(function: Any, inputs: Sequence[int], taken: Iterable[str] = ()) -> Layout:
    """Return how a unit and the arguments of a compiled function belong together.

    ``inputs`` are the positions in the graph of the unit's inputs; its outputs are those of the graph. The arguments are
    the inputs, the outputs, and the states, which calls read and update. None of them gets a name in ``taken``. Raises
    TypeError if a value is not an array.
    """
    graph, names = function.maker.call_graph, Names(taken)
    updates = {source: result for result, source in graph.update_mapping.items()}
    arguments: list[Argument] = []
    states: list[Argument] = []
    for i, (each, _) in enumerate(function.indices):
        dtype, shape = array_type(each.variable)
        if i in updates:
            name = names(each.name or each.variable.name, f"state_{len(states)}")
            states.append(Argument(name, dtype, shape, "state", i, updates[i]))
        elif not each.implicit:
            name = names(each.name, f"input_{len(arguments)}")
            arguments.append(Argument(name, dtype, shape, "input", i))
    keys = function.output_keys
    for k, out in enumerate(function.outputs):
        dtype, shape = array_type(graph.outputs[k])
        name = names(keys[k] if keys else out.variable.name, f"output_{k}")
        arguments.append(Argument(name, dtype, shape, "output", result=k))
    data = [i for i in inputs if function.indices[i][0].implicit and i not in updates]
    return Layout(inputs, range(len(graph.outputs)), [*arguments, *states], data)
