"""Scaled dot product attention, with the axes of JAX (`dot_product_attention`) or of PyTorch."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from occelo_graph import tensor as ot
from occelo_networks.activations import softmax
from occelo_networks.arguments import as_counts, as_mask
from occelo_networks.selecting import dropout

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = ["causal_mask", "dot_product_attention", "scaled_dot_product_attention"]


def causal_mask(queries: Any, keys: Any) -> TensorVariable:
    """A matrix of truth values: query ``i`` sees the keys up to ``i``.

    ``queries`` and ``keys`` are the numbers of rows and columns, integers. TypeError or ValueError for others.
    """
    queries, keys = as_counts([queries, keys], "A number of positions is")
    return ot.arange(queries)[:, None] >= ot.arange(keys)[None, :]


def scaled_dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    attn_mask: Any = None,
    dropout_rate: Any = 0.0,
    is_causal: bool = False,
    scale: Any = None,
    enable_gqa: bool = False,
    dropout_key: Any = None,
) -> TensorVariable:
    """softmax(query key^T scale) value, over the last two axes; the leading axes are batches, which broadcast.

    - ``query``: (..., L, E); ``key``: (..., S, E); ``value``: (..., S, V). The result is (..., L, V).
    - ``attn_mask``: broadcasts to (..., L, S). Truth values: a query sees a key only where it is True. Numbers are added
      to the products. A query that sees no key has the result 0.
    - ``dropout_rate``, ``dropout_key``: `dropout` of the weights, by a key of random numbers.
    - ``is_causal``: query ``i`` sees only keys up to ``i``. Together with ``attn_mask``, both decide.
    - ``scale``: 1 / sqrt(E) by default.
    - ``enable_gqa``: axis -3 of ``key`` and ``value`` is shorter, and each of their heads serves several of ``query``.

    TypeError for tensors of fewer than two dimensions, for a mask of integers, and for a rate without a key. ValueError
    for static lengths that do not fit.
    """
    query, key, value = _tensors(query, key, value, 3 if enable_gqa else 2, -2)
    if enable_gqa:
        key, value = _repeated_heads(key, query), _repeated_heads(value, query)
    bias, mask = None, None
    if attn_mask is not None:
        attn_mask = ot.as_tensor_variable(attn_mask)
        bias, mask = (None, attn_mask) if attn_mask.dtype == "bool" else (attn_mask, None)
        if bias is not None and bias.type.is_discrete:
            raise TypeError(
                f"attn_mask has truth values, or floats to add, got {bias.type}; a mask of 0 and 1 is cast to bool first"
            )
    if is_causal:
        mask = _both(mask, causal_mask(query.shape[-2], key.shape[-2]))
    weights = _weights(query, key, bias, mask, scale)
    if isinstance(dropout_rate, ot.TensorVariable) or dropout_rate:
        if dropout_key is None:
            raise TypeError("dropout_rate needs a dropout_key")
        weights = dropout(dropout_key, weights, dropout_rate)
    return ot.matmul(weights, value)


def dot_product_attention(
    query: Any,
    key: Any,
    value: Any,
    bias: Any = None,
    mask: Any = None,
    *,
    scale: Any = None,
    is_causal: bool = False,
    query_seq_lengths: Any = None,
    key_value_seq_lengths: Any = None,
) -> TensorVariable:
    """Attention as in ``jax.nn``: ``query`` is (B, T, N, H), ``key`` is (B, S, K, H) and ``value`` is (B, S, K, V).

    The axis of the batch may be missing. N is the number of heads, a multiple of K. The result is (B, T, N, V). ``bias``
    is added to the products and ``mask`` says which keys a query sees; both broadcast to (B, N, T, S).
    ``query_seq_lengths`` and ``key_value_seq_lengths`` are vectors with an element for each example: positions from it on
    are no queries, whose results are 0, or are not seen. ``scale`` and ``is_causal`` are as in
    `scaled_dot_product_attention`. A query that sees no key has the result 0, where JAX gives the mean of all values.

    TypeError for tensors of fewer than three dimensions and for a mask of numbers. ValueError for static lengths that do
    not fit.
    """
    query, key, value = _tensors(query, key, value, 3, -3)
    if mask is not None:
        mask = as_mask(mask, "mask")
    if is_causal:
        mask = _both(mask, causal_mask(query.shape[-3], key.shape[-3]))
    if query_seq_lengths is not None:
        seen = _before(query_seq_lengths, query)
        mask = _both(mask, seen[..., None, :, None])
    if key_value_seq_lengths is not None:
        seen = _before(key_value_seq_lengths, key)
        mask = _both(mask, seen[..., None, None, :])
    query, key, value = (ot.swapaxes(x, -2, -3) for x in (query, key, value))
    heads = query.type.shape[-3]
    if heads is None or heads != key.type.shape[-3]:
        key, value = _repeated_heads(key, query), _repeated_heads(value, query)
    return ot.swapaxes(ot.matmul(_weights(query, key, bias, mask, scale), value), -2, -3)


def _tensors(query: Any, key: Any, value: Any, least: int, positions: int) -> list[TensorVariable]:
    """The three as tensors of ``least`` dimensions or more. ``positions`` is the axis of queries, and of keys."""
    tensors = [ot.as_tensor_variable(x) for x in (query, key, value)]
    for name, x in zip(("query", "key", "value"), tensors, strict=True):
        if x.type.ndim < least:
            raise TypeError(f"The {name} of attention has {least} dimensions or more, got {x.type}")
    _fit("query", tensors[0], "key", tensors[1], -1, "features")
    _fit("key", tensors[1], "value", tensors[2], positions, "positions")
    return tensors


def _fit(name: str, x: TensorVariable, other: str, y: TensorVariable, axis: int, what: str) -> None:
    lengths = x.type.shape[axis], y.type.shape[axis]
    if None not in lengths and lengths[0] != lengths[1]:
        raise ValueError(
            f"The {name} and the {other} of attention have as many {what} (axis {axis}), got {x.type} and {y.type}"
        )


def _weights(
    query: TensorVariable, key: TensorVariable, bias: Any, mask: Any, scale: Any
) -> TensorVariable:
    """The weight of each key for each query, (..., L, S)."""
    if scale is None:
        scale = 1 / ot.sqrt(ot.cast(query.shape[-1], query.dtype))
    logits = ot.matmul(query, ot.swapaxes(key, -1, -2)) * scale
    return softmax(logits if bias is None else logits + bias, -1, where=mask)


def _both(mask: Any, other: TensorVariable) -> TensorVariable:
    return other if mask is None else mask & other


def _before(lengths: Any, x: TensorVariable) -> TensorVariable:
    """Truth values (B, T), or (T,) without a batch: which positions come before the length of their example."""
    lengths = ot.as_tensor_variable(lengths)
    if not lengths.type.is_discrete or lengths.type.ndim != 1:
        raise TypeError(f"The lengths of sequences are a vector of integers, got {lengths.type}")
    before = ot.arange(x.shape[-3])[None, :] < lengths[:, None]
    return before if x.type.ndim > 3 else ot.squeeze(before, 0)


def _repeated_heads(x: TensorVariable, query: TensorVariable) -> TensorVariable:
    """``x`` with axis -3 repeated to the length that it has in ``query``."""
    heads, own = query.type.shape[-3], x.type.shape[-3]
    if heads is not None and own is not None and (not own or heads % own):
        raise ValueError(
            f"The {heads} heads of the query are no multiple of the {own} heads of the key and the value"
        )
    return ot.repeat(x, query.shape[-3] // x.shape[-3], axis=x.type.ndim - 3)
