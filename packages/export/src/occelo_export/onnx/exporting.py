"""`to_onnx` writes a compiled function, or a graph, as a model of ONNX."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_export.onnx.writer import NotInONNX, Scope, Writer, onnx_module
from occelo_graph import FunctionGraph, SharedVariable, Variable
from occelo_graph.errors import MissingInputError, describe, explained_by
from occelo_graph.ir import trees
from occelo_graph.ir.graph_like import graph_parts
from occelo_rewrite import rewrite_graph

_OPSET = 20
_IR_VERSION = 9
"""The versions of onnx 1.15, the first with this set of operators."""
_STAGES = ("canonicalize", "stabilize", "expand_scans", "rewrite_bodies")


@functools.cache
def _load_translations() -> None:
    for name in ("elementwise", "structure", "indexing", "families"):
        importlib.import_module(f"occelo_export.onnx.{name}")


@explained_by("exporting")
def to_onnx(
    graph: Any, inputs: Sequence[Variable] | None = None, *, name: str | None = None
) -> Any:
    """Return a compiled function, or the graph of ``graph`` with ``inputs``, as an ``onnx.ModelProto``.

    The model has the operators of opset 20. Its inputs have the names of the variables, and lengths that are not static
    stay open. Values of shared variables are constants of the model, and checks are left out. ``name`` is the name of
    the model's graph, by default that of the function. The graph is canonicalized and stabilized first.

    Raises ModuleNotFoundError without onnx. Raises `NotInONNX`, a TypeError, for ops, functions and dtypes that ONNX
    lacks; the message names the op and the line that made it. TypeError for a function that updates shared variables,
    `MissingInputError` if ``inputs`` lacks one, and ValueError if one comes twice.
    """
    onnx = onnx_module()
    _load_translations()
    outputs, arguments, names, own = _parts(graph, inputs)
    fgraph = FunctionGraph(arguments, outputs, clone=True)
    rewrite_graph(fgraph, include=_STAGES)
    writer = Writer()
    declared: list[Any] = []
    values: dict[Variable, str] = {}
    for k, (variable, argument) in enumerate(zip(fgraph.inputs, arguments, strict=True)):
        if isinstance(argument, SharedVariable):
            shared = np.asarray(argument.get_value(borrow=True))
            values[variable] = writer.constant(shared, argument.name or f"shared_{k}")
            continue
        label = writer.fresh(argument.name or f"input_{k}")
        lengths = [f"{label}_{i}" if n is None else n for i, n in enumerate(_shape(variable))]
        declared.append(writer.info(label, variable, lengths))
        values[variable] = label
    # before any node takes them
    labels = [writer.fresh(each or f"output_{k}") for k, each in enumerate(names)]
    scope = Scope(writer, values)
    results: list[Any] = []
    for label, variable in zip(labels, fgraph.outputs, strict=True):
        scope.nodes.append(writer.helper.make_node("Identity", [scope.value(variable)], [label]))
        results.append(writer.info(label, variable, list(_shape(variable))))
    onnx_graph = writer.helper.make_graph(
        scope.nodes, name or own or "function", declared, results, writer.initializers
    )
    operators = [writer.helper.make_opsetid("", _OPSET)]
    model = writer.helper.make_model(
        onnx_graph, opset_imports=operators, ir_version=_IR_VERSION, producer_name="occelo"
    )
    onnx.checker.check_model(model)
    return model


def _shape(variable: Any) -> Sequence[int | None]:
    if not variable.type.is_array:
        raise NotInONNX(f"ONNX's values are tensors, not {describe(variable)}")
    shape: Sequence[int | None] = variable.type.shape
    return shape


def _parts(
    graph: Any, inputs: Sequence[Variable] | None
) -> tuple[list[Variable], list[Variable], list[str | None], str | None]:
    """The outputs, the inputs with shared variables, the names of the outputs, and the name of the function."""
    if hasattr(graph, "maker"):
        if inputs is not None:
            raise TypeError(f"{graph} has inputs of its own, so to_onnx takes none for it")
        updated = [each.variable for each in graph.maker.inputs if each.update is not None]
        if updated:
            raise TypeError(
                f"A model of ONNX changes no values, and {graph} updates {updated[0]}; compile a function that "
                "takes the value and returns the new one"
            )
        outputs = graph.maker.opened_outputs()
        keys: Sequence[str | None] = graph.output_keys or [v.name for v in outputs]
        return outputs, [each.variable for each in graph.maker.inputs], list(keys), graph.name
    # an input may be a tree, such as a tensor with named dimensions
    leaves, _ = trees.flatten(list(() if inputs is None else inputs), "inputs")
    outputs, arguments = graph_parts(graph, leaves, "to_onnx takes a graph")
    if len(set(arguments)) < len(arguments):
        raise ValueError("to_onnx: an input comes twice")
    roots = [v for v in _roots(outputs) if v not in arguments]
    missing = [v for v in roots if not isinstance(v, SharedVariable)]
    if missing and inputs:
        raise MissingInputError(f"The graph needs {describe(missing[0])}, which is no input")
    return outputs, [*arguments, *roots], [v.name for v in outputs], None


def _roots(outputs: Sequence[Variable]) -> list[Variable]:
    from occelo_graph import Constant
    from occelo_graph.ir.traversal import ancestors

    return [v for v in ancestors(outputs) if v.owner is None and not isinstance(v, Constant)]
