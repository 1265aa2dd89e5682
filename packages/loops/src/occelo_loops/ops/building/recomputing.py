"""`checkpoint`: functions whose intermediate values are computed again by gradients instead of being kept.

The function's graph is an op, `Checkpoint`, which is opened like any `OpFromGraph`. Its pullback computes the graph once
more, from inputs that are known only `After` the cotangents. So the two computations are not merged, and the second one
runs when the first one's values are long gone.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar, cast

from occelo_graph.canonical.encoding import Arrays, decode, encode, register_coder
from occelo_graph.errors import explained, explained_by
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ir import trees
from occelo_graph.ir.clone import rebuilt
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Constant, Variable, nodes_made
from occelo_graph.ir.op import Cotangents
from occelo_graph.ops.control.identities import After
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_loops.ops.building.bodies import own_nodes, read_from_outside
from occelo_loops.ops.states import default_updates

P = ParamSpec("P")
R = TypeVar("R")


class Checkpoint(OpFromGraph):
    """An op that computes a graph, and whose derivatives compute this graph again. See `checkpoint`."""

    def pullback(
        self, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Cotangents
    ) -> Cotangents:
        live = [ct for ct in cotangents if isinstance(ct, Variable)]
        held = [After()(v, *live) if live and is_tensor(v) else v for v in inputs]
        return super().pullback(held, outputs, cotangents)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        inner = [v.type.make_variable() for v in inputs]
        outputs = super().batch(node, inner, batch_ndims)
        results: Sequence[Any] = Checkpoint(inner, list(outputs), name=self.name)(
            *inputs, return_list=True
        )
        return results


Checkpoint.derived_class = Checkpoint  # second derivatives keep no more than first ones


@explained_by("loops")
def checkpoint(fun: Callable[P, R], /) -> Callable[P, R]:
    """Make a function that computes what ``fun`` does, and whose intermediate values gradients compute again.

    As ``jax.checkpoint``. A gradient keeps the arguments of ``fun`` and what ``fun`` reads besides, instead of all that
    the derivatives of its operations need. So it needs less memory and computes more: for a chain of parts of equal size,
    memory for one part at a time.

    ``fun`` gets trees of tensors (dicts, tuples, lists, dataclasses) and returns a tree of tensors. Values that are no
    variables, and lengths that are known, are passed as they are. TypeError if ``fun`` is not callable or if a result is
    no tensor.
    """
    if not callable(fun):
        raise TypeError(f"checkpoint takes a function of tensors, got {fun!r}")

    @functools.wraps(fun)
    def recomputed(*args: P.args, **kwargs: P.kwargs) -> R:
        values, structure = trees.flatten((args, kwargs), "arguments")
        inner = {v: v.type.make_variable(v.name) for v in values if _becomes_input(v)}
        with nodes_made() as nodes:
            positional, keywords = structure.unflatten(
                [inner.get(v, v) if isinstance(v, Variable) else v for v in values]
            )
            returned = cast("Callable[..., R]", fun)(*positional, **keywords)
            leaves, form = trees.flatten(returned, "results")
            outputs = list(map(_as_result, leaves))
        if not outputs:
            return cast("R", form.unflatten([]))
        arguments = list(inner.values())
        outside = read_from_outside(own_nodes(outputs, nodes), outputs, arguments)
        _move_updates(outputs, nodes, list(zip(arguments, inner, strict=True)))
        held = [v.type.make_variable(v.name) for v in outside]
        outputs = rebuilt(outputs, list(zip(outside, held, strict=True)))
        op_ = Checkpoint([*arguments, *held], outputs, name=getattr(fun, "__name__", None))
        result: R = form.unflatten(op_(*inner, *outside, return_list=True))
        return result

    return recomputed


def _becomes_input(value: Any) -> bool:
    return (
        isinstance(value, Variable)
        and not isinstance(value, Constant)
        and known_integer(value) is None
    )


def _as_result(value: Any) -> Variable:
    try:
        return as_tensor_variable(value)
    except (TypeError, ValueError):
        raise explained(
            TypeError(f"A result of a function of checkpoint is {value!r}, and must be a tensor"),
            "loops",
        ) from None


def _move_updates(
    results: Sequence[Variable],
    nodes: Sequence[Apply],
    pairs: Sequence[tuple[Variable, Variable]],
) -> None:
    """Let updates of shared variables that a function made, such as draws do, read its arguments from outside."""
    states = default_updates(results, nodes, own=True)
    for state, update in zip(states, rebuilt(list(states.values()), pairs), strict=True):
        state.default_update = update


def _encode(op: Checkpoint, arrays: Arrays) -> Any:
    return {"graph": encode(op.graph, arrays), "name": op.name}


def _decode(plain: Any, arrays: Arrays) -> Checkpoint:
    graph: FrozenFunctionGraph = decode(plain["graph"], arrays)
    inputs = [v.type.make_variable() for v in graph.inputs]
    return Checkpoint(inputs, graph.bind(inputs), name=plain["name"])


register_coder(Checkpoint, _encode, _decode)
