"""`traced_function` turns a compiled function into a function of another library's arrays.

`as_jax` and `as_torch` call it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph.ir.container import local
from occelo_link.traced.arrays import Arrays
from occelo_link.traced.linker import load_lowerings
from occelo_link.traced.traced_values import in_parts, require_arrays
from occelo_link.traced.tracer import Tracer


def traced_function(
    function: Any, arrays: Arrays, argument: Callable[[Any], Any], name: str
) -> Callable[..., Any]:
    """Return a compiled function as a function that traces its graph with ``arrays`` at each call.

    ``argument`` converts an argument to an array of the library. Raises TypeError if an input or output is not an array;
    the message names ``name``.
    """
    load_lowerings()
    maker = function.maker
    fgraph = maker.fgraph
    inputs = [each for each, _ in function.indices]
    explicit = [v for v, each in zip(fgraph.inputs, inputs, strict=True) if not each.implicit]
    outputs = fgraph.outputs[: len(maker.outputs)]
    require_arrays([*explicit, *outputs], name)

    def call(*arguments: Any) -> Any:
        rest = iter(arguments)
        values: dict[Any, Any] = {}
        for variable, each, container in zip(
            fgraph.inputs, inputs, function.input_storage, strict=True
        ):
            value = local(container.storage[0]) if each.implicit else argument(next(rest))
            values[variable] = in_parts(variable.type, value)
        tracer = Tracer(arrays, values)
        results = list(map(tracer.array, tracer.all_values(outputs)))
        return results[0] if function.unpack_single else results

    return call
