"""`associative_scan`: combines the elements of each prefix of a sequence. With ``+`` it is `cumsum`.

Users call it from `occelo`. It makes a `loop` over the elements.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from occelo_graph.applicable import check_arguments
from occelo_graph.errors import explained_by
from occelo_graph.ops.join import concatenate
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_loops.ops.building.loops import loop
from occelo_loops.ops.nested import flatten, shown


@explained_by("loops")
def associative_scan(
    fn: Callable[[Any, Any], Any], xs: Any, reverse: bool = False, axis: int = 0
) -> Any:
    """``fn(...fn(fn(x[0], x[1]), x[2])..., x[i])`` for all i, stacked along ``axis``.

    - ``fn(a, b)``: an associative function. Both arguments have the structure of ``xs``; each tensor in them is a slice
      of length 1 along ``axis``. The result must have the same structure, else TypeError.
    - ``xs``: a tensor, or a nested tuple, list, dict or dataclass of tensors with equal lengths along ``axis``. The
      result of `associative_scan` has the same structure. If the length is 0, the tensors of the result are empty.
    - ``reverse``: combine suffixes instead of prefixes, beginning with the last element. The result at position i then
      combines the elements from i to the end.

    A loop combines the n elements one after the other. It computes ``fn`` n - 1 times, which is the fewest possible.
    """
    check_arguments("The function of associative_scan", fn, "a slice of xs", "the next one")
    leaves, structure = flatten(xs, "x")
    if not leaves:
        raise ValueError("associative_scan needs a tensor")
    variables: list[Any] = [as_tensor_variable(v) for v in leaves]
    for v in variables:
        normalize_axis(axis, v)
    first = [v.swapaxes(0, axis) if axis else v for v in variables]
    ordered = [v[::-1] if reverse else v for v in first]

    def at(values: list[Any]) -> Any:
        # adds the axis of length 1 that the function expects
        return structure.rebuild([v[None].swapaxes(0, axis) if axis else v[None] for v in values])

    def step(state: list[Any], elements: list[Any]) -> tuple[list[Any], list[Any]]:
        combined = fn(at(state), at(elements))
        leaves, form = flatten(combined, "x")
        if form.kind != structure.kind:
            raise TypeError(
                f"The function of associative_scan must return a structure like xs, {shown(xs)}, and returns {shown(combined)}"
            )
        new = [(v.swapaxes(0, axis) if axis else v)[0] for v in leaves]
        return new, new

    # a sum over at most one element: the first element, or zeros of the same shape if the sequence is empty
    initial = [v[:1].sum(axis=0, dtype=v.dtype) for v in ordered]
    _, rest = loop(step, initial, xs=[v[1:] for v in ordered])
    whole = [concatenate([v[:1], r]) for v, r in zip(ordered, rest, strict=True)]
    placed = [v[::-1] if reverse else v for v in whole]
    return structure.rebuild([v.swapaxes(0, axis) if axis else v for v in placed])
