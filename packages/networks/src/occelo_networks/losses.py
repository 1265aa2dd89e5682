"""Cross-entropies, from logits or from probabilities. From logits they are finite wherever the result is.

Functions named as in optax return a loss for each example. `cross_entropy` is named and called as in PyTorch.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.errors import with_arguments
from occelo_graph.ops.control.checks import raise_unless
from occelo_graph.ops.elemwise.op import broadcast_static
from occelo_graph.ops.shape.axes import normalize_axis
from occelo_networks.activations import log_softmax
from occelo_networks.arguments import along
from occelo_networks.selecting import one_hot

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = [
    "binary_cross_entropy",
    "binary_cross_entropy_with_logits",
    "cross_entropy",
    "sigmoid_binary_cross_entropy",
    "softmax_cross_entropy",
    "softmax_cross_entropy_with_integer_labels",
]


def softmax_cross_entropy(
    logits: Any, labels: Any, axis: int = -1, where: Any = None
) -> TensorVariable:
    """Minus the sum of ``labels`` times `log_softmax` of ``logits``, over an axis.

    ``labels`` are probabilities, with the shape of ``logits``. Where ``where`` is False, classes are left out. TypeError
    for labels that are numbers of classes.
    """
    logits, labels = ot.as_tensor_variable(logits), ot.as_tensor_variable(labels)
    if labels.type.is_discrete and labels.type.ndim < logits.type.ndim:
        raise TypeError(
            f"Labels are probabilities in the shape of logits, {logits.type}, got {labels.type}; for numbers of classes "
            "call softmax_cross_entropy_with_integer_labels"
        )
    _check_lengths("softmax_cross_entropy", labels, logits, logits.type.shape)
    logs = log_softmax(logits, axis, where)
    return -(labels * _finite_where_zero(labels, logs)).sum(axis=axis)


def _finite_where_zero(labels: Any, logs: Any) -> Any:
    """Logarithms of probabilities, 0 for infinity where the label is 0. Elsewhere they are the derivatives of the products."""
    # NaN is equal to nothing; the labels themselves come first, so that an error about lengths names them
    return ot.switch(ot.eq(labels, ot.switch(ot.isinf(logs), 0.0, math.nan)), 0, logs)


def _check_lengths(name: str, labels: Any, logits: Any, expected: Sequence[int | None]) -> None:
    """ValueError, which names the variables, if static lengths of labels are others than expected."""
    try:
        broadcast_static([labels.type.shape, tuple(expected)], name)
    except ValueError as error:
        raise with_arguments(error, [labels, logits]) from None


def softmax_cross_entropy_with_integer_labels(
    logits: Any, labels: Any, axis: int = -1
) -> TensorVariable:
    """Minus `log_softmax` of ``logits`` at ``labels``: the numbers of the classes along the axis.

    ``labels`` has the shape of ``logits`` without the axis. TypeError if they are not integers.
    """
    logits, labels = ot.as_tensor_variable(logits), ot.as_tensor_variable(labels)
    axis = normalize_axis(axis, logits)
    if not labels.type.is_discrete or labels.dtype == "bool":
        raise TypeError(f"Labels are the numbers of classes, got {labels.type}")
    if labels.type.ndim != logits.type.ndim - 1:
        raise TypeError(
            f"Labels have the dimensions of logits, {logits.type}, without axis {axis}, got {labels.type}"
        )
    lengths = _without(axis, logits.type.shape)
    _check_lengths("softmax_cross_entropy_with_integer_labels", labels, logits, lengths)
    logs = log_softmax(logits, axis)
    chosen = ot.take_along_axis(logs, ot.expand_dims(labels, axis), axis)
    return -ot.squeeze(chosen, axis)


def _without(axis: int, lengths: Sequence[Any]) -> list[Any]:
    return [n for i, n in enumerate(lengths) if i != axis]


def cross_entropy(
    logits: Any,
    target: Any,
    weight: Any = None,
    ignore_index: int = -100,
    reduction: str = "mean",
    label_smoothing: float = 0.0,
) -> TensorVariable:
    """The cross-entropy of PyTorch: classes are axis 1 of ``logits``, or axis 0 of a vector.

    - ``target``: numbers of classes, without the axis of classes, or probabilities in the shape of ``logits``.
    - ``weight``: a vector of weights of the classes. The mean over numbers of classes is weighted by them.
    - ``ignore_index``: a number of a class that does not count.
    - ``reduction``: "mean", "sum" or "none". The mean of probabilities divides by the number of examples.
    - ``label_smoothing``: a part of each label, between 0 and 1, that is spread evenly over the classes.

    TypeError for targets of other dimensions, ValueError when it runs for a number that is no class.
    """
    logits, target = ot.as_tensor_variable(logits), ot.as_tensor_variable(target)
    if reduction not in ("mean", "sum", "none"):
        raise ValueError(f"reduction is mean, sum or none, not {reduction!r}")
    if not 0 <= label_smoothing <= 1:
        raise ValueError(f"label_smoothing lies between 0 and 1, got {label_smoothing}")
    axis = min(1, logits.type.ndim - 1)
    logs = log_softmax(logits, axis)
    count = logits.shape[axis]
    by_number = target.type.is_discrete
    if target.type.ndim != logits.type.ndim - by_number:
        raise TypeError(
            f"A target for logits {logits.type} has numbers of classes, integers without axis {axis}, or probabilities in "
            f"the shape of the logits, got {target.type}"
        )
    lengths = logits.type.shape
    _check_lengths(
        "cross_entropy", target, logits, _without(axis, lengths) if by_number else lengths
    )
    if by_number:
        # a number for each target, so that an error about lengths names the target
        counts = ot.full(_without(axis, list(logits.shape)), count)
        is_class = (target >= 0) & (target < counts) | ot.eq(target, ignore_index)
        message = "A target of cross_entropy is a number of a class, from 0 on, or ignore_index"
        target = raise_unless(target, is_class.all(), error=ValueError, message=message)
    labels = one_hot(target, count, dtype=logs.dtype, axis=axis) if by_number else target
    smooth = (
        labels
        if label_smoothing == 0
        else labels * (1 - label_smoothing) + (ot.cast(label_smoothing / count, logs.dtype))
    )
    of_class = 1 if weight is None else along(weight, "weight", axis, logits)
    each = -(smooth * _finite_where_zero(smooth, logs) * of_class).sum(axis=axis)
    if by_number:
        each = ot.switch(ot.eq(target, ignore_index), 0, each)
    if reduction != "mean":
        return each.sum() if reduction == "sum" else each
    if not by_number:
        return each.mean()
    counted = ot.neq(target, ignore_index)
    sizes = (labels * of_class).sum(axis=axis) * counted
    return each.sum() / sizes.sum()


def sigmoid_binary_cross_entropy(logits: Any, labels: Any) -> TensorVariable:
    """The cross-entropy of ``labels``, probabilities or truth values, and `sigmoid` of ``logits``, for each element."""
    logits, labels = ot.as_tensor_variable(logits), ot.as_tensor_variable(labels)
    if labels.dtype == "bool":
        return ot.softplus(ot.switch(labels, -logits, logits))
    return labels * ot.softplus(-logits) + (1 - labels) * ot.softplus(logits)


def binary_cross_entropy(probabilities: Any, labels: Any) -> TensorVariable:
    """The cross-entropy of ``labels`` and ``probabilities``, for each element. A factor of 0 makes a product 0.

    If the probabilities are those of a `sigmoid`, `sigmoid_binary_cross_entropy` is more accurate.
    """
    p, labels = ot.as_tensor_variable(probabilities), ot.as_tensor_variable(labels)
    labels = ot.cast(labels, p.dtype) if labels.type.is_discrete else labels
    # where the factor and the probability are 0, the logarithm of 1; else the factor's derivative is the logarithm
    true = labels * ot.log(ot.switch(ot.eq(labels, 0) & ot.eq(p, 0), 1, p))
    false = (1 - labels) * ot.log1p(-ot.switch(ot.eq(labels, 1) & ot.eq(p, 1), 0, p))
    return -(true + false)


binary_cross_entropy_with_logits = sigmoid_binary_cross_entropy
