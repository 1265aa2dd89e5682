"""Table of reductions: the identity element, derivatives and library names for each associative scalar op.

Each entry is a `Reduction`. The ops in `reduce` look entries up with `reduction_of`. Rules and lowerings read the
property `CAReduce.reduction`. The module `reduction_table` fills the table by `add_reduction`. Users add reductions by
`reduction_table.register_reduction`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import field
from typing import Any

import numpy as np

from occelo_graph.errors import MethodNotDefined
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op
from occelo_graph.ir.traits import FIRST, trait
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.tensors.type import is_discrete

Derive = Callable[[Any, Any, Any, Any], Any]
"""A pullback maps ``(op, input, output, cotangent)`` to the cotangent of the input. A pushforward maps ``(op, input,
output, tangent)`` to the tangent of the output.
"""


@frozen_dataclass(eq=False)
class Reduction:
    """An associative, commutative scalar op of two arguments, with the properties of the reduction by this op.

    Methods raise `MethodNotDefined` if the reduction lacks the property that they need.
    """

    function: ScalarFunction
    title: str
    """Name of the reduction in printed graphs."""
    identity: Callable[[str], Any] | None = None
    """Maps a dtype to the identity element. If it is None, a reduction of no elements is an error."""
    pullback: Derive | None = None
    pushforward: Derive | None = None
    """Derivatives of the result of `CAReduce`."""
    running_pullback: Derive | None = None
    running_pushforward: Derive | None = None
    """Derivatives of the cumulative results of `CumOp`."""
    accumulates: bool = False
    """Integers and booleans are combined as int64 or uint64, unless the user passes another ``dtype``."""
    rounds: bool = True
    """Results for floats are rounded, so they depend on the order of the elements."""
    idempotent: bool = False
    """f(a, a) = a, where f is the scalar op."""
    linear: bool = False
    """The reduction of a sum of tensors is the sum of their reductions."""
    repeated: Callable[[Any, Any], Any] | None = None
    """``repeated(a, n)`` returns the result for n elements that all equal ``a``. Idempotent reductions need no such
    function, since the result is ``a``.
    """
    needs_elements: bool = False
    """A reduction of no elements is an error although there is an identity element, as for `max` in NumPy."""
    names: Mapping[str, str] = field(default_factory=dict[str, str])
    """Names in libraries. The key ``loops`` maps to an operation of loop programs, ``jax`` to JAX's reduction, and
    ``jax running`` to JAX's cumulative function. The keys ``pytorch`` and ``pytorch running``, and ``numpy`` and
    ``numpy running``, are similar.

    A key that ends with ``:bool`` is used for booleans.
    """

    @property
    def name(self) -> str:
        """The name of the scalar op."""
        return self.function.name

    def called(self, library: str, dtype: str) -> str | None:
        """The name of the reduction in a library, for elements of ``dtype``; None if the library does not have it.

        ``library`` is a key of `names`, such as "loops".
        """
        of_truth = self.names.get(f"{library}:bool") if dtype == "bool" else None
        return of_truth or self.names.get(library)

    def start(self, dtype: str) -> Any:
        """The identity element for elements of ``dtype``; `MethodNotDefined` if there is none."""
        if self.identity is None:
            raise MethodNotDefined(f"The reduction {self.name} has no identity")
        return self.identity(dtype)

    def partial(self, position: int) -> Callable[..., Any]:
        """The derivative of the scalar op with respect to its argument at ``position``, 0 or 1.

        `MethodNotDefined` if the scalar op declares no derivative.
        """
        partial = self.function.derivatives(2)[position]
        if partial is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no derivative: its scalar function has none for argument {position}"
            )
        return partial

    def derivative(self, which: str) -> Derive:
        """The derivative in the field named ``which``, such as "running_pullback"; `MethodNotDefined` if it is None."""
        derive: Derive | None = getattr(self, which)
        if derive is None:
            raise MethodNotDefined(
                f"The reduction {self.name} has no {which}: it cannot be differentiated"
            )
        return derive

    def of_many(self, element: Any, count: Any) -> Any:
        """The result for ``count`` elements that all equal ``element``.

        `MethodNotDefined` if the reduction is not idempotent and `repeated` is None.
        """
        if self.idempotent:
            return element
        if self.repeated is None:
            raise MethodNotDefined(
                f"The reduction {self.name} does not say what repeated elements make"
            )
        return self.repeated(element, count)

    @property
    def may_be_empty(self) -> bool:
        """Whether a reduction of no elements has a result and is not an error."""
        return self.identity is not None and not self.needs_elements

    def is_exact(self, dtype: str) -> bool:
        """Whether results for elements of ``dtype`` are equal to the last bit for every order of the elements."""
        return not self.rounds or is_discrete(dtype)

    def over(self, x: Any, axes: Sequence[int], dtype: str | None) -> Any:
        """Reduce a NumPy array over ``axes``. Elements are combined in ``dtype``; None is the dtype of the array.

        ValueError if there are no elements and a reduction of no elements is not defined.
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
        others = [i for i in range(x.ndim) if i not in axes]
        count = int(np.prod([x.shape[i] for i in axes], dtype="int64"))
        moved = x.transpose((*axes, *others)).reshape((count, *(x.shape[i] for i in others)))
        if not count:
            return np.full(moved.shape[1:], self.start(x.dtype.name), x.dtype)
        return combine_in_halves(
            self._combined, moved, len, lambda t, a, b: t[a:b], np.concatenate
        )[0]

    def running(self, x: Any, axis: int, dtype: str) -> Any:
        """The cumulative results of the reduction along ``axis`` of a NumPy array, computed in ``dtype``."""
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
    """Combine all elements along the first dimension of ``x``, which has at least one element.

    In each step, the first half of the elements is combined with the second half, until one element is left. ``x`` may
    be an array of any library. ``length(x)`` is its number of elements, ``cut(x, start, stop)`` takes a slice, and
    ``join`` concatenates. `Reduction.over` and the lowerings to JAX and PyTorch call this function.
    """
    while (count := length(x)) > 1:
        half = count // 2
        combined = combine(cut(x, 0, half), cut(x, half, 2 * half))
        x = join([combined, cut(x, 2 * half, count)]) if count % 2 else combined
    return x


_reductions: dict[ScalarFunction, Reduction] = {}


def add_reduction(reduction: Reduction, again: bool = False) -> Reduction:
    """Add a reduction to the table. TypeError unless its scalar op takes two arguments.

    If the scalar op already has a reduction, it is replaced if ``again`` is true; else ValueError.
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
    """The reduction of a scalar op, or of the scalar op with a given name; `MethodNotDefined` if there is none."""
    scalar_op = ScalarFunction.named(function) if isinstance(function, str) else function
    reduction = None if scalar_op is None else _reductions.get(scalar_op)
    if reduction is None:
        name = function if isinstance(function, str) else function.name
        raise MethodNotDefined(
            f"There is no reduction {name!r}; register_reduction makes one of an associative function"
        )
    return reduction


def reductions() -> dict[str, Reduction]:
    """All reductions. The keys are the names of their scalar ops."""
    return {each.name: each for each in _reductions.values()}


class ByReduction(Op):
    """Base class of ops that combine elements by a row of the table of reductions."""

    @property
    def reduction(self) -> Reduction:
        """The row in the table of reductions."""
        raise NotImplementedError

    @trait
    def by_parts(self) -> slice | None:
        return FIRST if self.reduction.linear else None

    def linear_in(self, node: Apply) -> Sequence[slice]:
        return (FIRST,) if self.reduction.linear else ()

    def named_extensions(self) -> Sequence[tuple[str, str]]:
        return [("reduction", self.reduction.name)]


_operations: dict[str, Reduction] = {}


def by_operation(operation: str) -> Reduction:
    """The reduction that combines elements by an operation of loop programs; `MethodNotDefined` if there is none."""
    reduction = _operations.get(operation)
    if reduction is None:
        for each in _reductions.values():
            if "loops" in each.names:
                _operations.setdefault(each.names["loops"], each)
        reduction = _operations.get(operation)
    if reduction is None:
        raise MethodNotDefined(f"No reduction combines with {operation!r}")
    return reduction
