"""The linker ``pytorch``, and `as_torch`, with which users turn a compiled function into a function of PyTorch's
tensors.

`registry` imports this module when a mode names the linker.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from occelo_graph.ir.container import local, register_external_array
from occelo_link.linker import Scheduler
from occelo_link.options import TORCH_COMPILE
from occelo_link.torch.arrays import TorchArrays, chosen_device, to_tensor
from occelo_link.torch.library import compile_graph, make_fx, torch
from occelo_link.traced.linker import Traced, TracedLinker, TracedVM, load_lowerings
from occelo_link.traced.traced_values import in_parts, require_arrays
from occelo_link.traced.tracer import Tracer

__all__ = ["PytorchLinker", "as_torch"]


def _to_numpy(value: Any) -> Any:
    return np.array(value.detach().cpu().numpy())


register_external_array(torch.Tensor, _to_numpy)


_tracing = threading.RLock()
"""A lock that is held while a graph is traced and while compiled code runs.

Tracing is a global state of PyTorch, in which compiled code refuses to run.
"""


def _tensor(value: Any, device: Any = None, on_processor: bool = False) -> Any:
    """Return a value as a tensor on a device, by default the device that the option ``pytorch__device`` names.

    ``on_processor`` is true if the device is known to be the CPU. Then an array in C order is not copied: the tensor
    shares its memory.
    """
    if (
        on_processor
        and type(value) is np.ndarray
        and value.flags.carray
        and min(value.strides, default=0) >= 0
    ):
        # compiled code never writes to arguments, so arrays in C order are not copied; PyTorch rejects negative
        # strides, which dimensions of length 1 may have
        return torch.from_numpy(value)
    device = chosen_device() if device is None else device
    tensor: Any = value if isinstance(value, torch.Tensor) else to_tensor(value)
    return tensor.to(device)


def _inductor(module: Any, given: Sequence[Any]) -> Callable[..., Any]:
    """Compile an FX graph with Inductor, for inputs like ``given``."""
    limit = sys.getrecursionlimit()
    try:
        compiled: Callable[..., Any] = compile_graph()(module, given)
    finally:
        sys.setrecursionlimit(limit)  # Inductor raises the limit for the whole process
    return compiled


class PytorchLinker(TracedLinker):
    """The linker ``pytorch``: makes an FX graph for each combination of input shapes, and compiles it with Inductor.

    If ``compiled`` is false, the FX graph runs without being compiled. The default is the option ``pytorch__compile``.
    ``static`` and ``strict`` are explained in `TracedLinker`. Both sides of a branch are computed. If the side that is
    not taken fails, the call runs in Python, with a warning.
    """

    name = "pytorch"
    array_type = torch.Tensor
    computes_both_branches = True

    def __init__(
        self,
        *,
        allow_gc: bool | None = None,
        scheduler: Scheduler | None = None,
        static: Sequence[Any] = (),
        strict: bool = False,
        compiled: bool | None = None,
    ) -> None:
        super().__init__(allow_gc=allow_gc, scheduler=scheduler, static=static, strict=strict)
        self.compiled = TORCH_COMPILE.get() if compiled is None else compiled

    def make_arrays(self) -> TorchArrays:
        return TorchArrays()

    def signature(self, values: Sequence[Any]) -> Any:
        # dtypes are not needed, since they are those of the inputs' types
        return tuple([tuple(v.shape) for v in values])

    def fetch(self, result: Any) -> Any:
        return (result if result.device.type == "cpu" else result.cpu()).numpy()

    def compile_traced(
        self, vm: TracedVM, fixed: dict[int, Any], values: Sequence[Any], wanted: Sequence[int]
    ) -> Traced:
        has_checks = False

        def run(*dynamic: Any) -> Any:
            nonlocal has_checks
            *results, held = vm.trace(fixed, dynamic, wanted)
            has_checks = held is not None
            return (*results, held) if has_checks else tuple(results)

        given = [_tensor(v) for v in values]
        with _tracing, torch.no_grad(), chosen_device():
            module: Any = make_fx(run)(*given)
            called = _inductor(module, given) if self.compiled else module.forward
        device = chosen_device()
        on_processor = device.type == "cpu"

        def call(*dynamic: Any) -> Any:
            tensors = [_tensor(v, device, on_processor).detach() for v in dynamic]
            with _tracing:
                results = called(*tensors)
            return results if has_checks else (*results, None)

        return Traced(call)


def as_torch(function: Any) -> Callable[..., Any]:
    """Return a compiled function as a function of tensors that ``torch.autograd`` can differentiate.

    The function that is returned accepts the arguments in order, and returns a single output or a list of outputs. It
    reads the present values of shared variables, updates nothing, and leaves out checks.
    """
    load_lowerings()
    maker = function.maker
    fgraph = maker.fgraph
    arrays = TorchArrays()
    explicit = [
        v for v, (each, _) in zip(fgraph.inputs, function.indices, strict=True) if not each.implicit
    ]
    require_arrays([*explicit, *fgraph.outputs[: len(maker.outputs)]], "as_torch")

    def call(*arguments: Any) -> Any:
        rest = iter(arguments)
        given: dict[Any, Any] = {}
        for variable, (each, _), container in zip(
            fgraph.inputs, function.indices, function.input_storage, strict=True
        ):
            kept = each.implicit
            value = local(container.storage[0]) if kept else _tensor(next(rest))
            given[variable] = in_parts(variable.type, value)
        tracer = Tracer(arrays, given)
        outputs = fgraph.outputs[: len(maker.outputs)]
        results = [tracer.array(tracer.value(v)) for v in outputs]
        return results[0] if function.unpack_single else results

    return call
