"""Checks single ops in DebugMode: their destroy maps, view maps, types of results, other traits, and memory layouts.

`debug_mode` runs every node with `OpChecks`.
"""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from occelo_compile.debugging.comparing import (
    agree,
    copied,
    difference,
    finite,
    has_data,
    is_array,
    mapped,
    same,
    shares_memory,
    short,
)
from occelo_compile.debugging.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    InvalidValueError,
)
from occelo_compile.debugging.trait_checks import raise_for_traits
from occelo_graph import Apply, Op, Type, Variable
from occelo_graph.errors import WrongResultError, describe, lines
from occelo_graph.interpret import annotate_error, inner_nodes_run_by
from occelo_graph.ir.op import Kernel


def node_context(node: Apply, arrays: Sequence[Any]) -> list[str]:
    """Return lines of a message: the node, the user's line, and each input."""
    context = [f"Checking {node.op}" + (f", made at {node.source}:" if node.source else ":")]
    if node.source is not None and node.source.text:
        context.append(f"    {node.source.text}")
    for position, (variable, value) in enumerate(zip(node.inputs, arrays, strict=False)):
        kind = f"{value.dtype} {value.shape}: " if is_array(value) else ""
        context.append(f"  input {position}, {variable}: {kind}{short(value)}")
    return context


def _strided(array: Any) -> Any:
    if not array.ndim:
        return np.array(array)
    wide: Any = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def _backward(array: Any) -> Any:
    """Return a view with the same elements and negative strides."""
    if not array.ndim:
        return np.array(array)
    reverse = tuple(slice(None, None, -1) for _ in array.shape)
    return np.ascontiguousarray(array[reverse])[reverse]


LAYOUTS: dict[str, Callable[[Any], Any]] = {
    "c_contiguous": lambda a: np.array(a, order="C"),
    "f_contiguous": lambda a: np.array(a, order="F"),
    "strided": _strided,
    "backward": _backward,
}
"""Maps the name of a memory layout to a function that copies an array into that layout."""
_CELLS = ("initial", "previous", "wrong_size", *LAYOUTS)


def chosen_layouts(names: str) -> list[str]:
    """Return the names in a text such as "strided:initial"; "ALL" means all names. ValueError for an unknown name.

    A name stands for a memory layout of inputs, or for the content of output cells before a run.
    """
    chosen = [n for n in names.split(":") if n]
    if "ALL" in chosen:
        return list(dict.fromkeys(_CELLS))
    for name in chosen:
        if name not in _CELLS:
            raise ValueError(f"There is no layout {name!r}; there are ALL, {', '.join(_CELLS)}")
    return chosen


_MOST_RUNS = 100
"""The most runs in which a node of an inner graph is checked, for each run of the node that has the inner graph."""


@dataclass
class OpChecks:
    """Runs nodes, and checks their results and which arrays they overwrite. If ``python`` is False, nothing is checked
    (the option ``check_py_code`` of DebugMode).

    ``layouts`` is a result of `chosen_layouts`: for each name in it, the node runs once more, with inputs in this
    layout or with output cells of this content. If ``warn_not_reused`` is True, there is a warning if an op should
    overwrite an input and makes a new array instead.

    Nodes of inner graphs are checked in the same way. Nodes in a loop are checked only in its first steps; errors have
    notes that name the step.
    """

    python: bool
    layouts: Sequence[str]
    warn_not_reused: bool

    def __call__(self, node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
        """Run a node, check it, and return its outputs."""
        if not self.python:
            return all_copied(node.outputs, _run(node, all_copied(node.inputs, arrays)))
        runs = Counter[Apply]()

        def inner(node: Apply, kernel: Kernel, arrays: Sequence[Any]) -> Sequence[Any]:
            runs[node] += 1
            return kernel(*arrays) if runs[node] > _MOST_RUNS else checked(node, arrays)

        def checked(node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
            copies = all_copied(node.inputs, arrays)
            with inner_nodes_run_by(inner):
                results = _run(node, copies)
            # checks may run other graphs, whose inner nodes are not checked
            with inner_nodes_run_by(None):
                return self._check(node, arrays, copies, results)

        return checked(node, arrays)

    def _check(
        self,
        node: Apply,
        arrays: Sequence[Any],
        given: Sequence[Any],
        results: Sequence[Any],
    ) -> Sequence[Any]:
        """Check a run of a node. Returns copies of its results.

        The node ran with ``given``, which are copies of ``arrays``.
        """
        self._check_destroyed(node, arrays, given)
        self._check_views(node, given, results)
        self._check_values(node, arrays, results)
        raise_for_traits(node, arrays, results, lambda: node_context(node, arrays))
        outputs = all_copied(node.outputs, results)
        for layout in self.layouts:
            self._check_layout(node, arrays, outputs, layout)
        return outputs

    def _check_destroyed(self, node: Apply, arrays: Sequence[Any], given: Sequence[Any]) -> None:
        declared = {i for sources in node.op.destroy_map.values() for i in sources}
        for i, (before, after) in enumerate(zip(arrays, given, strict=True)):
            if i not in declared and not same(node.inputs[i].type, before, after):
                raise BadDestroyMap(
                    lines(
                        node_context(node, arrays),
                        f"{node.op} changed its input {i}, which its destroy_map does not say",
                    )
                )

    def _check_views(self, node: Apply, given: Sequence[Any], results: Sequence[Any]) -> None:
        op, kinds, out_kinds = node.op, _types(node.inputs), _types(node.outputs)
        for k, result in enumerate(results):
            shared = shares_memory(out_kinds[k], result, given, kinds)
            for i in shared:
                if i in op.view_map.get(k, ()) or i in op.destroy_map.get(k, ()):
                    continue
                cause = f"output {k} of {op} shares memory with input {i}, which its view_map does not say"
                raise BadViewMap(lines(node_context(node, given), cause))
            allowed = {*op.view_map.get(k, ()), *op.destroy_map.get(k, ())}
            for j in shares_memory(out_kinds[k], result, results[:k], out_kinds[:k]):
                if not allowed & {*op.view_map.get(j, ()), *op.destroy_map.get(j, ())}:
                    cause = (
                        f"outputs {j} and {k} of {op} share memory, which its view_map does not say"
                    )
                    raise BadViewMap(lines(node_context(node, given), cause))
            for i in op.destroy_map.get(k, ()):
                if self.warn_not_reused and i not in shared and has_data(out_kinds[k], result):
                    warnings.warn(
                        f"{op} says that it overwrites its input {i}, and made a new array",
                        stacklevel=2,
                    )

    def _check_values(self, node: Apply, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        for k, (variable, value) in enumerate(zip(node.outputs, results, strict=True)):
            if not variable.type.is_valid_value(value, strict=True):
                kind = f"{value.dtype} {value.shape}" if is_array(value) else f"{value.__class__}"
                cause = f"output {k} of {node.op} is {kind}, and its type is {variable.type}"
                raise InvalidValueError(lines(node_context(node, arrays), cause))

    def _check_layout(
        self, node: Apply, arrays: Sequence[Any], expected: Sequence[Any], layout: str
    ) -> None:
        if layout in LAYOUTS:
            lay = LAYOUTS[layout]
            inputs = [mapped(v.type, a, lay) for v, a in zip(node.inputs, arrays, strict=True)]
            results = _run(node, inputs)
            what = f"with {layout} inputs"
        else:
            inputs = all_copied(node.inputs, arrays)
            into_cells = _run_into(node, inputs, _cells(node, expected, layout))
            if into_cells is None:
                return
            results, what = into_cells, f"with {layout} output cells"
        for k, (variable, a, b) in enumerate(zip(node.outputs, expected, results, strict=True)):
            if not agree(variable.type, a, b):
                cause = f"output {k} of {node.op} is different {what}: {difference(variable.type, a, b)}"
                raise BadThunkOutput(lines(node_context(node, arrays), cause))


def _run(node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
    try:
        with np.errstate(all="ignore"):
            return node.op.kernel(node)(*arrays)
    except WrongResultError as error:
        raise InvalidValueError(lines(node_context(node, arrays), str(error))) from None
    except Exception as error:
        annotated = annotate_error(error, node, arrays)
        if annotated is error:
            raise
        raise annotated from None


def _run_into(node: Apply, arrays: Sequence[Any], cells: list[list[Any]]) -> Sequence[Any] | None:
    """Run an op that has the older method ``perform`` with preallocated outputs. Returns None for other ops."""
    if type(node.op).perform is Op.perform:
        return None
    node.op.perform(node, list(arrays), cells)
    return [cell[0] for cell in cells]


def _cells(node: Apply, expected: Sequence[Any], layout: str) -> list[list[Any]]:
    if layout == "initial":
        return [[None] for _ in expected]
    if layout == "previous":
        return [[value] for value in all_copied(node.outputs, expected)]
    # wrong_size: right dtype and number of dimensions, wrong lengths
    return [
        [np.empty([n + 1 for n in v.shape], v.dtype) if is_array(v) else None] for v in expected
    ]


def _types(variables: Sequence[Variable]) -> list[Type]:
    return [v.type for v in variables]


def all_copied(variables: Sequence[Variable], values: Sequence[Any]) -> list[Any]:
    """Return copies of the values of variables."""
    return [copied(v.type, value) for v, value in zip(variables, values, strict=True)]


def check_finite(node: Apply, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """Raise `InvalidValueError` if a result is not finite although all inputs are.

    The largest of no elements is -inf without a fault.
    """
    if not all(
        finite(v.type, a) and getattr(a, "size", 1)
        for v, a in zip(node.inputs, arrays, strict=True)
    ):
        return
    for variable, value in zip(node.outputs, results, strict=True):
        if not finite(variable.type, value):
            cause = f"{describe(variable)} is not finite, though all its inputs are: {short(value)}"
            raise InvalidValueError(lines(node_context(node, arrays), cause))
