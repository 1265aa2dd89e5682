"""Definitions of the reductions of this package, and `register_reduction`, which adds reductions of users.

Each definition has an identity element, derivatives and names in libraries. Importing `occelo_graph` imports this
module, and so adds its definitions to the table in `reductions`. Users call `register_reduction` from `occelo_graph`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph.errors import explained_by
from occelo_graph.extensions import place_of_definition, remember_extension
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ops.arguments import checked_keepdims
from occelo_graph.ops.create import ones_like
from occelo_graph.ops.elemwise.arithmetic import add as add_
from occelo_graph.ops.elemwise.arithmetic import (
    and_,
    eq,
    maximum,
    minimum,
    mul,
    or_,
    second,
    supremum,
    switch,
    true_div,
    xor,
)
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction
from occelo_graph.ops.elemwise.transcendental import pow as pow_
from occelo_graph.ops.reduce import CAReduce, CumOp, LinearRecurrence, cumprod, sum
from occelo_graph.ops.reduction_checks import check_reduction
from occelo_graph.ops.reductions import Derive, Reduction, add_reduction
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_graph.ops.shape.dimensions import expand_dims, transpose
from occelo_graph.ops.shape.reading import length_product, lengths_by_variables
from occelo_graph.ops.shape.reshaping import flatten, reshape
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.type import TensorType, is_complex, is_discrete

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["Reducer", "register_reduction"]


# derivatives of any reduction, computed from the derivatives of its scalar op


def _along(x: TensorVariable, axis: int, part: slice) -> TensorVariable:
    return x[tuple(part if i == axis else slice(None) for i in range(x.ndim))]


def _steps(
    reduction: Reduction, x: TensorVariable, running: TensorVariable, axis: int
) -> tuple[TensorVariable, TensorVariable]:
    """The derivatives of the cumulative results p_k with respect to p_{k-1} (for k >= 1) and to x_k.

    ``running`` holds the cumulative results: p_0 is x_0, and p_k is f(p_{k-1}, x_k), where f is the scalar op.
    """
    before = _along(running, axis, slice(None, -1))
    rest, after = _along(x, axis, slice(1, None)), _along(running, axis, slice(1, None))
    ones = ones_like(after)
    by_state, by_element = (reduction.partial(i)(ones, before, rest, after) for i in (0, 1))
    first = ones_like(_along(running, axis, slice(None, 1)))
    return by_state, first.join_with(by_element, axis=axis)


def _partials(op: CAReduce, x: TensorVariable) -> TensorVariable:
    """The derivatives of the result of a reduction with respect to each element of ``x``."""

    def partials(flat: TensorVariable) -> TensorVariable:
        last = flat.ndim - 1
        by_state, by_element = _steps(
            op.reduction, flat, CumOp(last, op.reduction.name)(flat), last
        )
        # chain rule: the derivative by an element is the product of the derivatives of all later steps
        backwards = _along(by_state, last, slice(None, None, -1))
        first = ones_like(_along(flat, last, slice(None, 1)))
        passed = cumprod(first.join_with(backwards, axis=last), axis=last)
        return _along(passed, last, slice(None, None, -1)) * by_element

    return _over_one_axis(partials, x, op.axis)


def _over_one_axis(
    function: Callable[[TensorVariable], TensorVariable], x: TensorVariable, axis: tuple[int, ...]
) -> TensorVariable:
    """Flatten the axes ``axis`` of ``x`` to a last axis, apply ``function`` to the result, and restore the axes."""
    others = [i for i in range(x.ndim) if i not in axis]
    order = [*others, *axis]
    moved = transpose(x, order)
    lengths = lengths_by_variables(moved)
    if x.dtype != "bool" and is_discrete(x.dtype):
        moved = moved.astype("float64")
    flat = reshape(moved, (*lengths[: len(others)], length_product(lengths[len(others) :])))
    back = [order.index(i) for i in range(x.ndim)]
    return transpose(reshape(function(flat), lengths), back)


def _pull_by_partials(
    op: CAReduce, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    partials = _partials(op, x)
    return op.spread(ct) * (partials.conj() if is_complex(x.dtype) else partials)


def _push_by_partials(
    op: CAReduce, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    return sum(tangent * _partials(op, x), axis=op.axis)


def _recurrence(multiplier: TensorVariable, term: TensorVariable, axis: int) -> TensorVariable:
    """Computes ``s_k = a_k s_{k-1} + b_k`` along ``axis``, where s_0 is b_0.

    ``multiplier`` holds the factors from a_1 on, and ``term`` holds the terms from b_0 on.
    """
    first = ones_like(_along(term, axis, slice(None, 1)))
    return LinearRecurrence(axis)(first.join_with(multiplier, axis=axis), term)


def _pull_running_by_partials(
    op: CumOp, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    by_state, by_element = _steps(op.reduction, x, out, op.axis)
    if is_complex(x.dtype):
        by_state, by_element = by_state.conj(), by_element.conj()
    backwards = slice(None, None, -1)
    after = _recurrence(
        _along(by_state, op.axis, backwards), _along(ct, op.axis, backwards), op.axis
    )
    return _along(after, op.axis, backwards) * by_element


def _push_running_by_partials(
    op: CumOp, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    by_state, by_element = _steps(op.reduction, x, out, op.axis)
    return _recurrence(by_state, tangent * by_element, op.axis)


# sums


def _pull_sum(
    op: CAReduce, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    spread = op.spread(ct)
    if None not in x.type.shape:
        return second(x, spread)  # follows x when the graph is rebuilt for another shape
    return spread.broadcast_to(lengths_by_variables(x))


def _push_linear(
    op: CAReduce | CumOp, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    return op(tangent)


def _pull_running_sum(
    op: CumOp, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    backwards = slice(None, None, -1)
    return _along(op(_along(ct, op.axis, backwards)), op.axis, backwards)


# products


def _product_of_others(x: TensorVariable, axis: tuple[int, ...]) -> TensorVariable:
    """For each element, the product of all other elements along the axes. It is correct for any number of zeros."""

    def others(flat: TensorVariable) -> TensorVariable:
        ones = ones_like(flat[..., :1])
        before = cumprod(ones.join_with(flat[..., :-1], axis=-1), axis=-1)
        after = cumprod(ones.join_with(flat[..., :0:-1], axis=-1), axis=-1)[..., ::-1]
        return before * after

    return _over_one_axis(others, x, axis)


def _pull_product(
    op: CAReduce, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    others = _product_of_others(x, op.axis)
    return op.spread(ct) * (others.conj() if is_complex(x.dtype) else others)


def _push_product(
    op: CAReduce, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    return sum(tangent * _product_of_others(x, op.axis), axis=op.axis)


def _pull_running_product(
    op: CumOp, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    backwards = slice(None, None, -1)
    factor = x.conj() if is_complex(x.dtype) else x
    # d/dx_k sum_i ct_i prod_{j<=i} x_j = prod_{j<k} x_j * s_k, where s_k = ct_k + x_{k+1} s_{k+1}
    ones = ones_like(_along(factor, op.axis, slice(None, 1)))
    before = op(ones.join_with(_along(factor, op.axis, slice(None, -1)), axis=op.axis))
    multiplier = ones.join_with(_along(factor, op.axis, slice(None, 0, -1)), axis=op.axis)
    after = LinearRecurrence(op.axis)(multiplier, _along(ct, op.axis, backwards))
    return before * _along(after, op.axis, backwards)


def _push_running_product(
    op: CumOp, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    # p_k = x_k p_{k-1}, so dp_k = x_k dp_{k-1} + dx_k p_{k-1}
    ones = ones_like(_along(x, op.axis, slice(None, 1)))
    previous = ones.join_with(_along(out, op.axis, slice(None, -1)), axis=op.axis)
    return LinearRecurrence(op.axis)(x, tangent * previous)


# maxima and minima; equal elements share the derivative


def _pull_extreme(
    op: CAReduce, x: TensorVariable, out: TensorVariable, ct: TensorVariable
) -> TensorVariable:
    spread = op.spread(ct)
    hit = eq(x, op.spread(out))
    count = sum(hit, axis=op.axis, dtype=spread.dtype)
    return switch(hit, true_div(spread, op.spread(count)), 0.0)


def _push_extreme(
    op: CAReduce, x: TensorVariable, out: TensorVariable, tangent: TensorVariable
) -> TensorVariable:
    hit = eq(x, op.spread(out))
    count = sum(hit, axis=op.axis, dtype=tangent.dtype)
    return sum(switch(hit, tangent, 0.0), axis=op.axis) / count


# the table


def _number(value: int) -> Callable[[str], Any]:
    return lambda dtype: value


def _least(dtype: str) -> Any:
    if dtype == "bool":
        return False
    return int(np.iinfo(dtype).min) if is_discrete(dtype) else -np.inf


def _greatest(dtype: str) -> Any:
    if dtype == "bool":
        return True
    return int(np.iinfo(dtype).max) if is_discrete(dtype) else np.inf


def _all_bits(dtype: str) -> Any:
    if dtype == "bool":
        return True
    return int(np.iinfo(dtype).max) if dtype.startswith("uint") else -1


def _scalar_function(function: Any) -> ScalarFunction:
    scalar_op = getattr(function, "scalar_op", function)
    if isinstance(scalar_op, str):
        scalar_op = ScalarFunction(scalar_op)
    if not isinstance(scalar_op, ScalarFunction):
        raise TypeError(f"A reduction combines with a scalar function, not {function!r}")
    return scalar_op


_BY_CHAIN_RULE: dict[str, Any] = {
    "pullback": _pull_by_partials,
    "pushforward": _push_by_partials,
    "running_pullback": _pull_running_by_partials,
    "running_pushforward": _push_running_by_partials,
}


def _add(op: Elemwise, **fields: Any) -> None:
    add_reduction(Reduction(_scalar_function(op), **{**_BY_CHAIN_RULE, **fields}))


_add(
    add_,
    title="Sum",
    identity=_number(0),
    pullback=_pull_sum,
    pushforward=_push_linear,
    running_pullback=_pull_running_sum,
    running_pushforward=_push_linear,
    accumulates=True,
    linear=True,
    repeated=mul,
    names={
        "numpy": "sum",
        "numpy running": "cumsum",
        "loops": "add",
        "loops:bool": "or",
        "jax": "sum",
        "jax running": "cumsum",
        "pytorch": "sum",
        "pytorch running": "cumsum",
    },
)
_add(
    mul,
    title="Prod",
    identity=_number(1),
    pullback=_pull_product,
    pushforward=_push_product,
    running_pullback=_pull_running_product,
    running_pushforward=_push_running_product,
    accumulates=True,
    repeated=pow_,
    names={
        "numpy": "prod",
        "numpy running": "cumprod",
        "loops": "mul",
        "loops:bool": "and",
        "jax": "prod",
        "jax running": "cumprod",
        "pytorch": "prod",
        "pytorch running": "cumprod",
    },
)
_add(
    maximum,
    title="Max",
    identity=_least,
    needs_elements=True,
    pullback=_pull_extreme,
    pushforward=_push_extreme,
    rounds=False,
    idempotent=True,
    names={"numpy": "max", "loops": "max", "jax": "max", "pytorch": "amax"},
)
_add(
    supremum,
    title="Supremum",
    identity=_least,
    pullback=_pull_extreme,
    pushforward=_push_extreme,
    rounds=False,
    idempotent=True,
    names={"loops": "max", "jax": "max", "pytorch": "amax"},
)
_add(
    minimum,
    title="Min",
    identity=_greatest,
    needs_elements=True,
    pullback=_pull_extreme,
    pushforward=_push_extreme,
    rounds=False,
    idempotent=True,
    names={"numpy": "min", "loops": "min", "jax": "min", "pytorch": "amin"},
)
_add(
    and_,
    title="All",
    identity=_all_bits,
    rounds=False,
    idempotent=True,
    names={"loops": "and", "jax:bool": "all", "pytorch:bool": "all"},
)
_add(
    or_,
    title="Any",
    identity=_number(0),
    rounds=False,
    idempotent=True,
    names={"loops": "or", "jax:bool": "any", "pytorch:bool": "any"},
)
_add(xor, title="Reduce{xor}", identity=_number(0), rounds=False, names={"loops": "xor"})


@frozen_dataclass
class Reducer:
    """A reduction that users call like a function: ``r(x, axis=None, keepdims=False)``. TypeError if the reduction is missing.

    ``r.running(x, axis=None)`` returns the cumulative results, like `cumsum` for sums.
    """

    reduction: Reduction

    def __call__(
        self,
        x: Any,
        axis: Any = None,
        keepdims: bool = False,
        dtype: Any = None,
        acc_dtype: Any = None,
    ) -> TensorVariable:
        """Combine the elements over ``axis`` (one, several, or None for all).

        ``dtype`` and ``acc_dtype`` have the same meaning as in `CAReduce`.
        """
        x = as_tensor_variable(x)
        axes = normalize_axes(axis, x)
        named, acc = (None if d is None else TensorType(d, ()).dtype for d in (dtype, acc_dtype))
        reduced: TensorVariable = CAReduce(self.reduction.function, axes, named, acc)(x)
        return expand_dims(reduced, axes) if checked_keepdims(keepdims) and axes else reduced

    def running(self, x: Any, axis: Any = None) -> TensorVariable:
        """Cumulative results: each element is combined with all elements before it along ``axis``.

        If ``axis`` is None, all elements are combined in C order.
        """
        x = as_tensor_variable(x)
        if axis is None:
            x, axis = flatten(x), 0
        accumulated: TensorVariable = CumOp(normalize_axis(axis, x), self.reduction.name)(x)
        return accumulated


_places: dict[ScalarFunction, tuple[str, ...] | None] = {}
"""Maps a scalar op to the place that defined its reduction; None for places in this package."""


@explained_by("arguments")
def register_reduction(
    function: Any,
    identity: Any = None,
    *,
    title: str | None = None,
    pullback: Derive | None = None,
    pushforward: Derive | None = None,
    accumulates: bool = False,
    rounds: bool = True,
    idempotent: bool = False,
    linear: bool = False,
    repeated: Callable[[Any, Any], Any] | None = None,
) -> Reducer:
    """Define a reduction by an associative, commutative function of two scalars. It works on every backend.

    Returns a `Reducer`, which users call like a function such as `sum`.

    ``function`` is a result of `elementwise`, a scalar op, or the name of a scalar op. The result of the function must
    have the dtype of its arguments. ``title`` is the name of the reduction in printed graphs.

    ``identity`` is the identity element, or a function that maps a dtype to the identity element. Without an identity
    element, a reduction of no elements is a ValueError.

    By default, derivatives are computed by the chain rule from the derivatives of ``function``. If ``pullback(op, x,
    out, cotangent)`` or ``pushforward(op, x, out, tangent)`` is given, it is called instead; ``op`` is a `CAReduce`.
    The cotangent has the shape of the result. ``op.spread(cotangent)`` inserts the reduced axes with length 1.

    - ``accumulates``: integers and booleans are combined as int64 or uint64.
    - ``rounds``: results for floats depend on the order of the elements; if False, rules may change the order.
    - ``idempotent``: f(a, a) = a.
    - ``linear``: the reduction of a sum is the sum of the reductions.
    - ``repeated``: ``repeated(a, n)`` returns the result for n elements that all equal ``a``.

    Backends compile the reduction if the function has a formula (the option ``formula`` of `elementwise`). Without a
    formula, compiled code calls Python for the reduction.

    TypeError unless the function takes two arguments. ValueError if results for a few sample numbers contradict the
    declared properties. ValueError if the scalar op already has a reduction that was defined at another place. If the
    old reduction was defined at the same place, such as a cell of a notebook that runs again, it is replaced.
    """
    scalar_function = _scalar_function(function)
    derivatives: dict[str, Any] = {"pullback": pullback, "pushforward": pushforward}
    at: Any = identity if identity is None or callable(identity) else _number(identity)
    reduction = Reduction(
        scalar_function,
        title=f"Reduce{{{scalar_function.name}}}" if title is None else title,
        identity=at,
        accumulates=accumulates,
        rounds=rounds,
        idempotent=idempotent,
        linear=linear,
        repeated=repeated,
        **{**_BY_CHAIN_RULE, **{k: v for k, v in derivatives.items() if v is not None}},
    )
    place = place_of_definition()
    if place is not None and scalar_function.nin == 2:
        check_reduction(reduction)
    add_reduction(reduction, again=place is not None and _places.get(scalar_function) == place)
    _places[scalar_function] = place
    own = {k: v for k, v in vars(reduction).items() if k != "function"}
    parts = scalar_function.parts(), own, identity  # which `own` has in a function of this module
    remember_extension("reduction", scalar_function.name, *parts, place=place)
    return Reducer(reduction)
