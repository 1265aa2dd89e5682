"""Checks of one op on one set of inputs: what it says of itself must be true."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from occelo_compile.debugging.errors import (
    BadDestroyMap,
    BadThunkOutput,
    BadViewMap,
    InvalidValueError,
)
from occelo_graph import Apply, Op
from occelo_graph.errors import WrongResultError, describe, lines
from occelo_graph.interpret import annotate_error

__all__ = ["LAYOUTS", "OpChecks", "agree", "check_finite", "copied", "difference", "same", "told"]


def told(node: Apply, arrays: Sequence[Any]) -> list[str]:
    """The node, its line and its inputs, a line each."""
    context = [f"Checking {node.op}" + (f", made at {node.source}:" if node.source else ":")]
    if node.source is not None and node.source.text:
        context.append(f"    {node.source.text}")
    for position, (variable, value) in enumerate(zip(node.inputs, arrays, strict=False)):
        kind = f"{value.dtype} {value.shape}: " if isinstance(value, np.ndarray) else ""  # pyright: ignore[reportUnknownMemberType]
        context.append(f"  input {position}, {variable}: {kind}{short(value)}")
    return context


def short(value: Any) -> str:
    """A value on one line."""
    text = " ".join(str(value).split())
    return text if len(text) <= 60 else text[:50] + " ... " + text[-8:]


def same(a: Any, b: Any) -> bool:
    """Whether two values are alike to the last bit."""
    if isinstance(a, np.ndarray) and isinstance(b, np.ndarray):
        kind = a.dtype.kind in "fc"  # pyright: ignore[reportUnknownMemberType]
        return a.shape == b.shape and bool(np.array_equal(a, b, equal_nan=kind))  # pyright: ignore[reportUnknownArgumentType, reportUnknownMemberType, reportUnknownVariableType]
    return a is b or bool(a == b)


def agree(kind: Any, expected: Any, found: Any, stable: bool = False) -> bool:
    """Whether values are equal but for rounding.

    With ``stable``, ``found`` may be finite where ``expected`` is not: what rewriting for stability is for.
    """
    if not (isinstance(expected, np.ndarray) and isinstance(found, np.ndarray)):
        return same(expected, found)
    return bool(
        kind.values_eq_approx(expected, found, allow_remove_inf=stable, allow_remove_nan=stable)
    )


def difference(expected: Any, found: Any) -> str:
    """How far values are apart: largest and mean difference, absolute and relative."""
    if not (isinstance(expected, np.ndarray) and isinstance(found, np.ndarray)):
        return f"{short(expected)} became {short(found)}"
    if expected.shape != found.shape or expected.dtype != found.dtype:  # pyright: ignore[reportUnknownMemberType]
        return f"{expected.dtype} {expected.shape} became {found.dtype} {found.shape}"  # pyright: ignore[reportUnknownMemberType]
    with np.errstate(all="ignore"):
        apart: Any = np.abs(np.asarray(found) * 1.0 - expected)  # pyright: ignore[reportUnknownArgumentType]
        relative: Any = apart / np.maximum(np.abs(expected), 1e-300)  # pyright: ignore[reportUnknownArgumentType]
        figures = [
            f"{name} difference: largest {np.nanmax(each):.3g}, mean {np.nanmean(each):.3g}, "
            f"median {np.nanmedian(each):.3g}, deviation {np.nanstd(each):.3g}"
            for name, each in (("absolute", apart), ("relative", relative))
        ]
    return "; ".join(figures)


def _strided(array: Any) -> Any:
    if not array.ndim:
        return np.array(array)
    wide: Any = np.zeros([2 * n for n in array.shape], array.dtype)
    view = wide[tuple(slice(None, None, 2) for _ in array.shape)]
    view[...] = array
    return view


def _backward(array: Any) -> Any:
    """Equal elements, in memory from back to front."""
    if not array.ndim:
        return np.array(array)
    turned = tuple(slice(None, None, -1) for _ in array.shape)
    return np.ascontiguousarray(array[turned])[turned]


LAYOUTS = {  # pyright: ignore[reportUnknownVariableType]
    "c_contiguous": lambda a: np.array(a, order="C"),  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    "f_contiguous": lambda a: np.array(a, order="F"),  # pyright: ignore[reportUnknownArgumentType, reportUnknownLambdaType]
    "strided": _strided,
    "backward": _backward,
}
"""Ways to lay the elements of an array into memory."""
_CELLS = ("initial", "previous", "wrong_size", *LAYOUTS)


def chosen_layouts(names: str) -> list[str]:
    """The layouts that a setting names; ValueError for one that does not exist."""
    wanted = [n for n in names.split(":") if n]
    if "ALL" in wanted:
        return list(dict.fromkeys(_CELLS))
    for name in wanted:
        if name not in _CELLS:
            raise ValueError(f"There is no layout {name!r}; there are ALL, {', '.join(_CELLS)}")
    return wanted


@dataclass
class OpChecks:
    """Runs nodes and checks what they do; without ``python`` they only run."""

    python: bool
    layouts: Sequence[str]
    warn_not_reused: bool

    def __call__(self, node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
        """The outputs of a node, checked."""
        given = [copied(a) for a in arrays]
        results = _run(node, given)
        if not self.python:
            return [copied(r) for r in results]
        self._check_destroyed(node, arrays, given)
        self._check_views(node, given, results)
        self._check_values(node, arrays, results)
        kept = [copied(r) for r in results]
        for layout in self.layouts:
            self._check_layout(node, arrays, kept, layout)
        return kept

    def _check_destroyed(self, node: Apply, arrays: Sequence[Any], given: Sequence[Any]) -> None:
        declared = {i for sources in node.op.destroy_map.values() for i in sources}
        for i, (before, after) in enumerate(zip(arrays, given, strict=True)):
            if i not in declared and not same(before, after):
                raise BadDestroyMap(
                    lines(
                        told(node, arrays),
                        f"{node.op} changed its input {i}, which its destroy_map does not say",
                    )
                )

    def _check_views(self, node: Apply, given: Sequence[Any], results: Sequence[Any]) -> None:
        op = node.op
        for k, result in enumerate(results):
            for i in _sharing(result, given):
                if i in op.view_map.get(k, ()) or i in op.destroy_map.get(k, ()):
                    continue
                cause = f"output {k} of {op} shares memory with input {i}, which its view_map does not say"
                raise BadViewMap(lines(told(node, given), cause))
            allowed = {*op.view_map.get(k, ()), *op.destroy_map.get(k, ())}
            for j in _sharing(result, results[:k]):
                if not allowed & {*op.view_map.get(j, ()), *op.destroy_map.get(j, ())}:
                    cause = (
                        f"outputs {j} and {k} of {op} share memory, which its view_map does not say"
                    )
                    raise BadViewMap(lines(told(node, given), cause))
            for i in op.destroy_map.get(k, ()):
                if self.warn_not_reused and i not in _sharing(result, given) and _has_data(result):
                    warnings.warn(
                        f"{op} says that it overwrites its input {i}, and made a new array",
                        stacklevel=2,
                    )

    def _check_values(self, node: Apply, arrays: Sequence[Any], results: Sequence[Any]) -> None:
        for k, (variable, value) in enumerate(zip(node.outputs, results, strict=True)):
            if not variable.type.is_valid_value(value, strict=True):
                kind = (  # pyright: ignore[reportUnknownVariableType]
                    f"{value.dtype} {value.shape}" if isinstance(value, np.ndarray) else type(value)  # pyright: ignore[reportUnknownMemberType]
                )  # pyright: ignore[reportUnknownMemberType]
                cause = f"output {k} of {node.op} is {kind}, and its type is {variable.type}"
                raise InvalidValueError(lines(told(node, arrays), cause))

    def _check_layout(
        self, node: Apply, arrays: Sequence[Any], expected: Sequence[Any], layout: str
    ) -> None:
        if layout in LAYOUTS:
            given = [LAYOUTS[layout](a) if isinstance(a, np.ndarray) else a for a in arrays]  # pyright: ignore[reportUnknownVariableType]
            results = _run(node, given)  # pyright: ignore[reportUnknownArgumentType]
            what = f"with {layout} inputs"
        else:
            given = [copied(a) for a in arrays]
            found = _run_into(node, given, _cells(expected, layout))
            if found is None:
                return
            results, what = found, f"with {layout} output cells"
        for k, (variable, a, b) in enumerate(zip(node.outputs, expected, results, strict=True)):
            if not agree(variable.type, a, b):
                cause = f"output {k} of {node.op} is different {what}: {difference(a, b)}"
                raise BadThunkOutput(lines(told(node, arrays), cause))


def _run(node: Apply, arrays: Sequence[Any]) -> Sequence[Any]:
    try:
        with np.errstate(all="ignore"):
            return node.op.kernel(node)(*arrays)
    except WrongResultError as error:
        raise InvalidValueError(lines(told(node, arrays), str(error))) from None
    except Exception as error:
        made = annotate_error(error, node, arrays)
        if made is error:
            raise
        raise made from None


def _run_into(node: Apply, arrays: Sequence[Any], cells: list[list[Any]]) -> Sequence[Any] | None:
    """What an op of the older protocol computes into cells that hold something; None for others."""
    if type(node.op).perform is Op.perform:
        return None
    node.op.perform(node, list(arrays), cells)
    return [cell[0] for cell in cells]


def _cells(expected: Sequence[Any], layout: str) -> list[list[Any]]:
    if layout == "initial":
        return [[None] for _ in expected]
    if layout == "previous":
        return [[copied(value)] for value in expected]
    # wrong_size: of the right dtype and number of dimensions
    return [
        [np.empty([n + 1 for n in v.shape], v.dtype) if isinstance(v, np.ndarray) else None]  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType, reportUnknownMemberType]
        for v in expected
    ]


def copied(value: Any) -> Any:
    """An array with memory of its own; anything else as it is."""
    return np.array(value, order="K") if isinstance(value, np.ndarray) else value  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]


def _has_data(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.size > 0


def _sharing(value: Any, others: Iterable[Any]) -> list[int]:
    if not isinstance(value, np.ndarray):
        return []
    return [
        i
        for i, other in enumerate(others)
        if isinstance(other, np.ndarray) and _overlap(value, other)
    ]


_MOST_WORK: Any = 10_000


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays have an element in common, as far as that can be found out quickly."""
    try:
        return np.shares_memory(a, b, max_work=_MOST_WORK)
    except np.exceptions.TooHardError:
        return True


def check_finite(node: Apply, arrays: Sequence[Any], results: Sequence[Any]) -> None:
    """Object to results that are not finite although all inputs are."""
    if not all(_finite(a) for a in arrays):
        return
    for variable, value in zip(node.outputs, results, strict=True):
        if not _finite(value):
            cause = f"{describe(variable)} is not finite, though all its inputs are: {short(value)}"
            raise InvalidValueError(lines(told(node, arrays), cause))


def _finite(value: Any) -> bool:
    if not isinstance(value, np.ndarray) or value.dtype.kind not in "fc":  # pyright: ignore[reportUnknownMemberType]
        return True
    return bool(np.isfinite(value).all())  # pyright: ignore[reportUnknownArgumentType]
