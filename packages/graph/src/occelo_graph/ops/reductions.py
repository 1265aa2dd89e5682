"""What a reduction is: a row for each associative function of two, which ops, rules and lowerings read.

A part that a row lacks raises where it is asked for. Rows of other packages are made by `register_reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.tensors.type import is_discrete

__all__ = ["Reduction", "add_row", "by_operation", "reduction_of", "reductions"]

Derive = Callable[[Any, Any, Any, Any], Any]
"""``(op, input, output, cotangent or tangent)`` to the cotangent of the input, or the tangent of the output."""


@dataclass(frozen=True, eq=False)
class Reduction:
    """A row: an associative and commutative scalar function of two, and what is known of combining many elements with it."""

    function: ScalarFunction
    title: str
    """What it is called when ops are printed."""
    identity: Callable[[str], Any] | None = None
    """What changes nothing when it is combined, for a dtype; without it there is no result of no elements."""
    pullback: Derive | None = None
    pushforward: Derive | None = None
    """Derivatives."""
    running_pullback: Derive | None = None
    running_pushforward: Derive | None = None
    """Those of running results."""
    accumulates: bool = False
    """Integers and truth values are combined as int64 or uint64, and the dtype that is asked for is the one computed in."""
    rounds: bool = True
    """Floats are rounded where they are combined, so the order of elements matters to the last bits."""
    idempotent: bool = False
    """An element combined with itself is itself."""
    linear: bool = False
    """A sum of tensors is reduced to the sum of what they are reduced to."""
    repeated: Callable[[Any, Any], Any] | None = None
    """From an element and how often it is there to what it makes; for idempotent functions that is the element."""
    needs_elements: bool = False
    """No elements are an error, as NumPy has it, although there is an identity."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """What libraries call it: ``loops`` the operation of loop programs, ``jax`` and ``pytorch`` the reduction, ``numpy running``
    and so on the running one. After a colon, what it is for truth values."""

    @property
    def name(self) -> str:
        """The name of the scalar function."""
        return self.function.name

    def called(self, library: str, dtype: str) -> str | None:
        """The name in a library for elements of a dtype; None if it has none."""
        of_truth = self.names.get(f"{library}:bool") if dtype == "bool" else None
        return of_truth or self.names.get(library)

    def start(self, dtype: str) -> Any:
        """The identity for a dtype; `MethodNotDefined` if the row has none."""
        if self.identity is None:
            raise MethodNotDefined(f"The reduction {self.name} has no identity")
        return self.identity(dtype)

    def partial(self, position: int) -> Callable[..., Any]:
        """The derivative of the scalar function by one of its two arguments; `MethodNotDefined` if it has none."""
        found = self.function.derivatives(2)[position]
        if found is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no derivative: its scalar function has none for argument {position}"
            )
        return found

    def derivative(self, which: str) -> Derive:
        """One of the four derivatives by the name of its field; `MethodNotDefined` if the row has none."""
        found: Derive | None = getattr(self, which)
        if found is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no {which}: it cannot be differentiated"
            )
        return found

    def of_many(self, element: Any, count: Any) -> Any:
        """``count`` times the same element combined; `MethodNotDefined` if the row does not say."""
        if self.idempotent:
            return element
        if self.repeated is None:
            raise MethodNotDefined(
                f"The reduction {self.name} does not say what repeated elements make"
            )
        return self.repeated(element, count)

    @property
    def may_be_empty(self) -> bool:
        """Whether there is a result of no elements."""
        return self.identity is not None and not self.needs_elements

    def is_exact(self, dtype: str) -> bool:
        """Whether the order of the elements does not matter at all."""
        return not self.rounds or is_discrete(dtype)

    def over(self, x: Any, axes: Sequence[int], dtype: str | None) -> Any:
        """A NumPy array reduced over axes, computed in ``dtype`` (that of the array for None)."""
        ufunc = self.function.function
        if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1:
            extra: dict[str, Any] = {}
            if ufunc.identity is None and self.may_be_empty:
                extra["initial"] = self.start(dtype or x.dtype.name)
            return np.asarray(ufunc.reduce(x, axis=tuple(axes), dtype=dtype, **extra))
        if not self.may_be_empty and not all(x.shape[i] for i in axes):
            raise ValueError(f"There is no {self.name} of no elements: it has no identity")
        x = x if dtype is None else x.astype(dtype)
        kept = [i for i in range(x.ndim) if i not in axes]
        count = int(np.prod([x.shape[i] for i in axes], dtype="int64"))
        moved = x.transpose((*axes, *kept)).reshape((count, *(x.shape[i] for i in kept)))
        if not count:
            return np.full(moved.shape[1:], self.start(x.dtype.name), x.dtype)
        return halved(self._combined, moved, len, lambda t, a, b: t[a:b], np.concatenate)[0]

    def running(self, x: Any, axis: int, dtype: str) -> Any:
        """The running results of a NumPy array along an axis."""
        ufunc = self.function.function
        if isinstance(ufunc, np.ufunc) and ufunc.nin == 2 and ufunc.nout == 1:
            return np.asarray(ufunc.accumulate(x, axis=axis, dtype=dtype))
        result = np.array(x, dtype)
        along = np.moveaxis(result, axis, 0)
        for k in range(1, along.shape[0]):
            along[k] = self._combined(along[k - 1], along[k])
        return result

    def _combined(self, a: Any, b: Any) -> Any:
        return np.asarray(self.function.evaluate(a, b)).astype(a.dtype, copy=False)


def halved(
    combine: Callable[[Any, Any], Any],
    x: Any,
    length: Callable[[Any], int],
    cut: Callable[[Any, int, int], Any],
    join: Callable[[Sequence[Any]], Any],
) -> Any:
    """Combine the elements along the first dimension, of which there is one at least: one half with the other until one is left."""
    while (count := length(x)) > 1:
        half = count // 2
        made = combine(cut(x, 0, half), cut(x, half, 2 * half))
        x = join([made, cut(x, 2 * half, count)]) if count % 2 else made
    return x


_rows: dict[ScalarFunction, Reduction] = {}


def add_row(row: Reduction, again: bool = False) -> Reduction:
    """Put a row into the table; ValueError if the function has one already, TypeError unless it takes two arguments.

    With ``again`` it takes the place of one that the function has.
    """
    if row.function in _rows and not again:
        raise ValueError(f"There is a reduction {row.name!r} already")
    if row.function.nin not in (2, None):
        raise TypeError(
            f"A reduction combines two elements, and {row.name} takes {row.function.nin}"
        )
    _rows[row.function] = row
    return row


def reduction_of(function: ScalarFunction | str) -> Reduction:
    """The row of a scalar function, or of its name; `MethodNotDefined` if there is none."""
    row = ScalarFunction.named(function) if isinstance(function, str) else function
    found = None if row is None else _rows.get(row)
    if found is None:
        name = function if isinstance(function, str) else function.name
        raise MethodNotDefined(
            f"There is no reduction {name!r}; register_reduction makes one of an associative function"
        )
    return found


def reductions() -> dict[str, Reduction]:
    """All rows by the names of their scalar functions."""
    return {row.name: row for row in _rows.values()}


_operations: dict[str, Reduction] = {}


def by_operation(operation: str) -> Reduction:
    """The row that an operation of loop programs belongs to; `MethodNotDefined` if there is none."""
    found = _operations.get(operation)
    if found is None:
        for row in _rows.values():
            if "loops" in row.names:
                _operations.setdefault(row.names["loops"], row)
        found = _operations.get(operation)
    if found is None:
        raise MethodNotDefined(f"No reduction combines with {operation!r}")
    return found
