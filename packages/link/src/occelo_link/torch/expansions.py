"""Functions with loops as ops of PyTorch's own, for the expansions of special functions.

PyTorch cannot trace a loop whose number of iterations depends on the data. So an expansion is an op that is opaque to
Inductor, and that computes with tensors, on any device, when the compiled code runs. `torch.functions` gives `loop` and
`differentiable` to `traced.functions`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from occelo_link.torch.library import torch

_ops: dict[str, Callable[..., Any]] = {}


def loop(more: Callable[[Any], Any], step: Callable[[Any], Any], state: Any) -> Any:
    """Apply ``step`` to ``state`` as long as ``more`` of the state is true, and up to seven times more often.

    An expansion that has come to rest stays there, and to ask whether it has takes as long as a step.
    """
    while bool(more(state)):
        for _ in range(8):
            state = step(state)
    return state


def differentiable(
    name: str, count: int, function: Callable[..., Any], slopes: Callable[..., Sequence[Any]]
) -> Callable[..., Any]:
    """Return a function of tensors as an op that ``torch.autograd`` can differentiate, and ``torch.vmap`` can batch.

    `traced.functions` describes the arguments. There is one op for each ``name``.
    """
    if name not in _ops:
        _ops[name] = _made(name, count, function, slopes)
    return _ops[name]


def _made(
    name: str, count: int, function: Callable[..., Any], slopes: Callable[..., Sequence[Any]]
) -> Callable[..., Any]:
    def computed(*given: Any) -> Any:
        return function(*given).contiguous()

    schema = f"({', '.join(f'Tensor x{i}' for i in range(count))}) -> Tensor"
    op: Any = torch.library.custom_op(f"occelo::{name}", computed, mutates_args=(), schema=schema)

    def shape(first: Any, *_: Any) -> Any:
        return torch.empty(first.shape, dtype=first.dtype, device=first.device)

    def batched(info: Any, axes: Any, *given: Any) -> list[Any]:
        size = info.batch_size
        return [
            x.expand(size, *x.shape) if axis is None else x.movedim(axis, 0)
            for x, axis in zip(given, axes, strict=True)
        ]

    # autograd of the op itself does not work inside torch.func.grad
    class Differentiable(torch.autograd.Function):
        @staticmethod
        def forward(*given: Any) -> Any:
            return op(*given)

        @staticmethod
        def setup_context(ctx: Any, inputs: Any, output: Any) -> None:
            ctx.save_for_backward(*inputs)

        @staticmethod
        def backward(ctx: Any, *cotangents: Any) -> Any:
            partials = slopes(ctx.needs_input_grad, *ctx.saved_tensors)
            return tuple(None if s is None else s * cotangents[0] for s in partials)

        @staticmethod
        def vmap(info: Any, axes: Any, *given: Any) -> Any:
            return Differentiable.apply(*batched(info, axes, *given)), 0

    def batch(info: Any, axes: Any, *given: Any) -> Any:
        return op(*batched(info, axes, *given)), 0

    op.register_fake(shape)
    op.register_vmap(batch)
    wrapped: Callable[..., Any] = Differentiable.apply
    return wrapped
