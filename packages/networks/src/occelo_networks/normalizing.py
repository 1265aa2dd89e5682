"""Normalization: tensors with mean 0 and variance 1 over some axes, with optional factors and offsets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_graph.ops.shape.axes import normalize_axes, normalize_axis
from occelo_networks.arguments import along

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = ["batch_norm", "group_norm", "layer_norm", "moments", "rms_norm", "standardize"]

Axes = int | Sequence[int] | None


def moments(
    x: Any, axis: Axes = None, keepdims: bool = False
) -> tuple[TensorVariable, TensorVariable]:
    """The mean and the variance of ``x`` over one or several axes, or all. The variance divides by the number of elements.

    With ``keepdims`` the reduced ``axis`` has the length 1 in both.
    """
    x = ot.as_tensor_variable(x)
    return x.mean(axis=axis, keepdims=keepdims), x.var(axis=axis, keepdims=keepdims)


def standardize(
    x: Any, axis: Axes = -1, mean: Any = None, variance: Any = None, epsilon: float = 1e-5
) -> TensorVariable:
    """(x - mean) / sqrt(variance + epsilon). By default mean and variance are those of ``x`` over ``axis``.

    If they are given, they have the dimensions of ``x``, with length 1 along ``axis``, or broadcast against ``x``.
    """
    x = ot.as_tensor_variable(x)
    mean = x.mean(axis=axis, keepdims=True) if mean is None else ot.as_tensor_variable(mean)
    if variance is None:
        variance = ((x - mean) ** 2).mean(axis=axis, keepdims=True)
    return (x - mean) / ot.sqrt(variance + epsilon)


def layer_norm(
    x: Any, weight: Any = None, bias: Any = None, axis: Axes = -1, epsilon: float = 1e-5
) -> TensorVariable:
    """`standardize` each example over ``axis``, times ``weight``, plus ``bias``. Both broadcast against ``x``.

    ``epsilon`` is added to the variance. TypeError for a ``weight`` of integers, such as PyTorch's ``normalized_shape``.
    """
    if weight is not None and (weight := ot.as_tensor_variable(weight)).type.is_discrete:
        raise TypeError(
            f"weight is a tensor of floats, got {weight.type}; axis= says what is normalized"
        )
    return _scaled(standardize(x, axis, epsilon=epsilon), weight, bias)


def rms_norm(x: Any, weight: Any = None, axis: Axes = -1, epsilon: float = 1e-6) -> TensorVariable:
    """``x`` divided by the root of its mean square over ``axis``, times ``weight``.

    ``epsilon`` is added to the mean square. ``weight`` broadcasts against ``x``.
    """
    x = ot.as_tensor_variable(x)
    axes = normalize_axes(axis, x)
    return _scaled(x / ot.sqrt((x**2).mean(axis=axes, keepdims=True) + epsilon), weight, None)


def batch_norm(
    x: Any,
    weight: Any = None,
    bias: Any = None,
    mean: Any = None,
    variance: Any = None,
    axis: int = 1,
    epsilon: float = 1e-5,
) -> TensorVariable:
    """`standardize` each feature over the batch, times ``weight``, plus ``bias``: vectors with an element for each feature.

    ``axis`` is the axis of features; mean and variance are taken over all others. ``mean`` and ``variance``, vectors as
    well, replace those of the batch: pass the moving averages where the network does not train. The function does not
    update them; `moments` over the same axes gives what to average. ``epsilon`` is added to the variance of ``x``.
    """
    x = ot.as_tensor_variable(x)
    own = normalize_axis(axis, x)

    def spread(vector: Any, name: str) -> Any:
        return None if vector is None else along(vector, name, own, x)

    others = tuple(i for i in range(x.type.ndim) if i != own)
    normalized = standardize(x, others, spread(mean, "mean"), spread(variance, "variance"), epsilon)
    return _scaled(normalized, spread(weight, "weight"), spread(bias, "bias"))


def group_norm(
    x: Any, groups: int, weight: Any = None, bias: Any = None, epsilon: float = 1e-5
) -> TensorVariable:
    """`standardize` groups of features of each example in ``x``, times ``weight``, plus ``bias``, vectors of features.

    Axis 0 is the batch and axis 1 has the features, which are divided into ``groups`` of neighbours. With as many groups
    as features it is instance normalization. ValueError if a static number of features is not a multiple of ``groups``.
    ``epsilon`` is added to the variance. TypeError for ``weight`` or ``bias`` that is no vector.
    """
    x = ot.as_tensor_variable(x)
    if x.type.ndim < 2:
        raise TypeError(f"group_norm takes axes of the batch and of features, got {x.type}")
    if groups < 1:
        raise ValueError(f"The number of groups must be positive, got {groups}")
    features = x.type.shape[1]
    if features is not None and features % groups:
        raise ValueError(f"{features} features cannot be divided into {groups} groups")
    shape = [x.shape[i] for i in range(x.type.ndim)]
    divided = x.reshape((shape[0], groups, shape[1] // groups, *shape[2:]))
    normalized = standardize(divided, tuple(range(2, divided.type.ndim)), epsilon=epsilon).reshape(
        shape
    )
    vectors = [
        None if vector is None else along(vector, name, 1, x)
        for name, vector in {"weight": weight, "bias": bias}.items()
    ]
    return _scaled(ot.specify_shape(normalized, x.type.shape), *vectors)


def _scaled(x: TensorVariable, weight: Any, bias: Any) -> TensorVariable:
    x = x if weight is None else x * weight
    return x if bias is None else x + bias
