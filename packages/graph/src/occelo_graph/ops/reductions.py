"""Table of reductions (`Reduction`): the identity element, derivatives and library names of each associative scalar op.

The ops in `reduce`, rules and lowerings read the table. The methods of a `Reduction` raise `MethodNotDefined` for
properties that it lacks. `reduction_table` fills the table by `add_reduction`; its `register_reduction` adds the
reductions of other packages.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.tensors.type import is_discrete

__all__ = ["Reduction", "add_reduction", "by_operation", "reduction_of", "reductions"]

Derive = Callable[[Any, Any, Any, Any], Any]
"""Maps ``(op, input, output, cotangent or tangent)`` to the cotangent of the input, or the tangent of the output."""


@frozen_dataclass(eq=False)
class Reduction:
    """An associative and commutative binary scalar op, and the properties of combining many elements with it."""

    function: ScalarFunction
    title: str
    """Its name in printed ops."""
    identity: Callable[[str], Any] | None = None
    """The identity element for a dtype; None if there is none: then a reduction of no elements is an error."""
    pullback: Derive | None = None
    pushforward: Derive | None = None
    """Derivatives of the reduction."""
    running_pullback: Derive | None = None
    running_pushforward: Derive | None = None
    """Derivatives of cumulative results."""
    accumulates: bool = False
    """Integers and truth values are combined as int64 or uint64; a requested result dtype is also that of the accumulator."""
    rounds: bool = True
    """Combining floats rounds, so results depend on the order of the elements."""
    idempotent: bool = False
    """f(a, a) = a."""
    linear: bool = False
    """The reduction of a sum of tensors is the sum of their reductions."""
    repeated: Callable[[Any, Any], Any] | None = None
    """``repeated(a, n)`` combines n copies of a; idempotent functions need none."""
    needs_elements: bool = False
    """A reduction of no elements is an error, as in NumPy, although there is an identity element."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in libraries: ``loops`` is the operation of loop programs, ``jax`` the reduction of JAX, ``jax running``
    its cumulative form, and so on.

    A key that ends with ``:bool`` is for truth values.
    """

    @property
    def name(self) -> str:
        """The name of the scalar function."""
        return self.function.name

    def called(self, library: str, dtype: str) -> str | None:
        """The name of the reduction in a library, for elements of a dtype; None if the library does not have it."""
        of_truth = self.names.get(f"{library}:bool") if dtype == "bool" else None
        return of_truth or self.names.get(library)

    def start(self, dtype: str) -> Any:
        """The identity element for a dtype; `MethodNotDefined` if there is none."""
        if self.identity is None:
            raise MethodNotDefined(f"The reduction {self.name} has no identity")
        return self.identity(dtype)

    def partial(self, position: int) -> Callable[..., Any]:
        """The derivative of the scalar op with respect to one of its two arguments.

        `MethodNotDefined` if none is declared.
        """
        found = self.function.derivatives(2)[position]
        if found is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no derivative: its scalar function has none for argument {position}"
            )
        return found

    def derivative(self, which: str) -> Derive:
        """One of the four derivatives, given the name of its field; `MethodNotDefined` if it is None."""
        found: Derive | None = getattr(self, which)
        if found is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no {which}: it cannot be differentiated"
            )
        return found

    def of_many(self, element: Any, count: Any) -> Any:
        """``count`` copies of one element combined; `MethodNotDefined` if the reduction does not define it."""
        if self.idempotent:
            return element
        if self.repeated is None:
            raise MethodNotDefined(
                f"The reduction {self.name} does not say what repeated elements make"
            )
        return self.repeated(element, count)

    @property
    def may_be_empty(self) -> bool:
        """Whether a reduction of no elements has a result."""
        return self.identity is not None and not self.needs_elements

    def is_exact(self, dtype: str) -> bool:
        """Whether the result is the same for every order of the elements, to the last bit."""
        return not self.rounds or is_discrete(dtype)

    def over(self, x: Any, axes: Sequence[int], dtype: str | None) -> Any:
        """A NumPy array reduced over axes, computed in ``dtype`` (None: the dtype of the array).

        ValueError if there are no elements and the reduction is not defined for none.
        """
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
        return combine_in_halves(
            self._combined, moved, len, lambda t, a, b: t[a:b], np.concatenate
        )[0]

    def running(self, x: Any, axis: int, dtype: str) -> Any:
        """The cumulative results of the reduction for a NumPy array along an axis."""
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


def combine_in_halves(
    combine: Callable[[Any, Any], Any],
    x: Any,
    length: Callable[[Any], int],
    cut: Callable[[Any, int, int], Any],
    join: Callable[[Sequence[Any]], Any],
) -> Any:
    """Combine all elements along the first dimension; there must be at least one.

    In each step the first half of the elements is combined with the second, until one element is left.
    """
    while (count := length(x)) > 1:
        half = count // 2
        made = combine(cut(x, 0, half), cut(x, half, 2 * half))
        x = join([made, cut(x, 2 * half, count)]) if count % 2 else made
    return x


_reductions: dict[ScalarFunction, Reduction] = {}


def add_reduction(reduction: Reduction, again: bool = False) -> Reduction:
    """Register a reduction; TypeError unless its scalar op takes two arguments.

    ValueError if the scalar op has a reduction already, unless ``again`` is true; then this reduction is replaced.
    """
    if reduction.function in _reductions and not again:
        raise ValueError(f"There is a reduction {reduction.name!r} already")
    if reduction.function.nin not in (2, None):
        raise TypeError(
            f"A reduction combines two elements, and {reduction.name} takes {reduction.function.nin}"
        )
    _reductions[reduction.function] = reduction
    return reduction


def reduction_of(function: ScalarFunction | str) -> Reduction:
    """The reduction by a scalar op or its name; `MethodNotDefined` if there is none."""
    scalar_op = ScalarFunction.named(function) if isinstance(function, str) else function
    found = None if scalar_op is None else _reductions.get(scalar_op)
    if found is None:
        name = function if isinstance(function, str) else function.name
        raise MethodNotDefined(
            f"There is no reduction {name!r}; register_reduction makes one of an associative function"
        )
    return found


def reductions() -> dict[str, Reduction]:
    """All reductions by the names of their scalar ops."""
    return {each.name: each for each in _reductions.values()}


_operations: dict[str, Reduction] = {}


def by_operation(operation: str) -> Reduction:
    """The reduction for the named operation of loop programs, which combines its elements; else `MethodNotDefined`."""
    found = _operations.get(operation)
    if found is None:
        for each in _reductions.values():
            if "loops" in each.names:
                _operations.setdefault(each.names["loops"], each)
        found = _operations.get(operation)
    if found is None:
        raise MethodNotDefined(f"No reduction combines with {operation!r}")
    return found
