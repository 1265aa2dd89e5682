"""Runs a node in Python while code that JAX or PyTorch compiled is running.

`tracer` calls `fall_back` for nodes that have no lowering and no decomposition that can be traced, and for loops and
other inner graphs that cannot be traced. The lowerings in `elemwise`, `reduce` and `linalg` call it for functions that
the library lacks, and for the argmax of complex numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from occelo_graph import Apply, Type
from occelo_graph.interpret import run_node
from occelo_graph.ir.regions import operands_of
from occelo_link.traced.registry import NeedsValue
from occelo_link.traced.traced_values import TracedValue, flat, grouped, in_parts, is_opaque, whole

if TYPE_CHECKING:
    from occelo_link.traced.tracer import Tracer


def fall_back(tracer: Tracer, node: Apply, inputs: Sequence[TracedValue]) -> Sequence[TracedValue]:
    """Make the compiled code call the op's NumPy code, or, for a loop, the function that `Arrays.loop_kernel` returns.

    The shapes of the results must be known while the graph is traced. If they are unknown, `NeedsValue` is raised for
    the first input of the node that is not static. Then the linker finds the inputs of the graph on which this input
    depends, makes them static, and traces the graph again.

    The shapes of a loop's results are those that one iteration left unchanged. Another iteration may change them, for
    instance if it takes another branch. Then the loop is added to ``tracer.varying``, a check fails, and the linker
    traces the graph again.
    """
    compiled = tracer.arrays.loop_kernel(node) if node.op.loops else None
    if tracer.on_fallback is not None and compiled is None:
        tracer.on_fallback(node)
    if node.op.lazy:
        inputs = _chosen(tracer, node, inputs)
    kinds, out_kinds = [v.type for v in node.inputs], [v.type for v in node.outputs]
    varying = tracer.varying
    unknown = any(map(is_opaque, out_kinds)) or (varying is not None and node in varying)
    shapes = None if unknown else _shapes(node, inputs)
    if shapes is None:
        for v, x in zip(node.inputs, inputs, strict=True):
            if tracer.is_traced(x):
                raise NeedsValue(v, node)
        return run_with_numpy(node, kinds, inputs)
    dtypes = [part.dtype for kind in out_kinds for part in kind.parts() or ()]
    results = list(zip(dtypes, shapes, strict=True))
    kernel = node.op.kernel(node) if compiled is None else compiled
    # an opaque value is static, so it is known here; None is an input that the node does not need
    static = [x is None or is_opaque(kind) for kind, x in zip(kinds, inputs, strict=True)]
    traced = [kind for kind, fixed in zip(kinds, static, strict=True) if not fixed]
    interrupts = tracer.arrays.interrupts
    watched = varying if node.op.loops else None
    # JAX does not call a function if it needs only empty results, but the function may raise an error
    checked = watched is not None or any(0 in shape for shape in shapes)
    if checked:
        results.append(("bool", ()))

    def run(*arrays: TracedValue) -> Sequence[TracedValue]:
        rest = iter(grouped(traced, [np.array(x) for x in arrays]))
        values = [
            x if fixed else whole(kind, next(rest))
            for kind, x, fixed in zip(kinds, inputs, static, strict=True)
        ]
        try:
            with np.errstate(all="ignore"):
                parts = [in_parts(k, v) for k, v in zip(out_kinds, kernel(*values), strict=True)]
        except Exception:
            raise
        except BaseException as interrupt:
            interrupts.append(interrupt)
            raise
        arrived = [np.asarray(x) for x in flat(parts)]
        if watched is not None and [x.shape for x in arrived] != shapes:
            watched.add(node)
            return [np.zeros(shape, dtype) for dtype, shape in results]
        return [*arrived, np.array(True)] if checked else arrived

    operands = flat(x for x, fixed in zip(inputs, static, strict=True) if not fixed)
    outputs = list(tracer.arrays.callback(run, list(map(tracer.array, operands)), results))
    if checked:
        tracer.check(outputs.pop())
    return grouped(out_kinds, outputs)


def run_with_numpy(
    node: Apply, kinds: Sequence[Type], inputs: Sequence[TracedValue]
) -> Sequence[TracedValue]:
    """Return the results of a node for static inputs of the types ``kinds``, computed in Python.

    The op of another package gets copies of arrays, since it may keep or change them.
    """
    values = [whole(kind, x) for kind, x in zip(kinds, inputs, strict=True)]
    if node.op.external_code:
        values = [
            x if x is None or is_opaque(kind) else kind.copy(x)
            for kind, x in zip(kinds, values, strict=True)
        ]
    results = run_node(node, values)
    return [in_parts(v.type, x) for v, x in zip(node.outputs, results, strict=True)]


def _chosen(
    tracer: Tracer, node: Apply, operands: Sequence[TracedValue]
) -> Sequence[TracedValue | None]:
    """Return the inputs of a lazy node, with None in place of inputs that the node does not need.

    The operands that decide which inputs are needed must be static.
    """
    for v, x in zip(operands_of(node), operands, strict=True):
        if tracer.is_traced(x):
            raise NeedsValue(v, node)
    values = [whole(v.type, x) for v, x in zip(operands_of(node), operands, strict=True)]
    read = {i for region in node.op.chosen(node, values) for i in region.results}
    read.update(node.op.operands(node))
    return [tracer.value(v) if i in read else None for i, v in enumerate(node.inputs)]


def _unchanged(node: Apply, inputs: Sequence[TracedValue]) -> list[tuple[int, ...]] | None:
    """Return the shapes of a loop's carried values. Returns None if these shapes change, or may change.

    To find out, one iteration is run. If the loop is known to have no iterations, none is run, because it could read an
    element that does not exist.
    """
    loop, kernel = node.op.loop(node), node.op.kernel(node)
    if loop.count is None:
        return None
    kinds = [node.inputs[i].type for i in loop.carried]
    count = inputs[loop.count]
    if isinstance(count, np.ndarray | np.number) and not count:
        return _part_shapes(kinds, [inputs[i] for i in loop.carried])
    # tries the values 0 and 1, since parameters of random laws may not be 0
    for number in (0, 1):
        tried = [_filled(v.type, x, number) for v, x in zip(node.inputs, inputs, strict=True)]
        tried[loop.count] = np.ones_like(tried[loop.count])
        before = _part_shapes(kinds, [tried[i] for i in loop.carried])
        try:
            with np.errstate(all="ignore"):
                after = _part_shapes(kinds, kernel(*tried))
        except Exception:
            continue
        return before if after == before else None
    return None


def _filled(kind: Type, value: TracedValue, number: int) -> TracedValue:
    """Return a value with the same shapes as ``value`` whose elements are all ``number``."""
    if is_opaque(kind):
        return value
    return kind.filled([tuple(x.shape) for x in flat([value])], number)


def _part_shapes(kinds: Sequence[Type], values: Sequence[TracedValue]) -> list[tuple[int, ...]]:
    return [
        np.shape(x)
        for kind, v in zip(kinds, values, strict=True)
        for x in flat([in_parts(kind, v)])
    ]


def _shapes(node: Apply, inputs: Sequence[TracedValue]) -> list[tuple[int, ...]] | None:
    """Return the shapes of the parts of a node's results, from their types or from the op's shape rule.

    Returns None if the shapes cannot be found that way.
    """
    if node.op.loops:
        return _unchanged(node, inputs)
    kinds = [part for v in node.outputs for part in v.type.parts() or ()]
    static = [tuple(n for n in kind.shape if n is not None) for kind in kinds]
    if all(len(shape) == kind.ndim for shape, kind in zip(static, kinds, strict=True)):
        return static
    if not all(v.type.is_array for v in node.outputs):
        return None  # the op's shape rule returns shapes of values, not of their parts
    try:
        shapes = [
            tuple(int(n) for n in x.shape) if v.type.is_array else None
            for v, x in zip(node.inputs, inputs, strict=True)
        ]
        inferred = node.op.shapes(node, shapes)
        return [tuple(int(n) for n in shape) for shape in inferred]
    except Exception:
        return None
