"""The linker ``pytorch``, which compiles graphs with PyTorch's Inductor.

`registry` imports this module when a mode names the linker.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable, Sequence
from typing import Any

from occelo_link.linker import Scheduler
from occelo_link.options import TORCH_COMPILE
from occelo_link.torch.arrays import TorchArrays, chosen_device, on_device
from occelo_link.torch.inductor_cache import with_whole_cache
from occelo_link.torch.library import compile_graph, make_fx, torch
from occelo_link.traced.linker import Traced, TracedLinker, TracedVM

_tracing = threading.RLock()
"""A lock that is held while a graph is traced and while compiled code runs.

Tracing is a global state of PyTorch, in which compiled code refuses to run.
"""


def _inductor(module: Any, given: Sequence[Any]) -> Callable[..., Any]:
    """Compile an FX graph with Inductor, for inputs like ``given``."""
    limit = sys.getrecursionlimit()
    try:
        compiled: Callable[..., Any] = with_whole_cache(lambda: compile_graph()(module, given))
    finally:
        sys.setrecursionlimit(limit)  # Inductor raises the limit for the whole process
    return compiled


class PytorchLinker(TracedLinker):
    """The linker ``pytorch``: makes an FX graph for each combination of input shapes, and compiles it with Inductor.

    If ``compiled`` is false, the FX graph runs without being compiled. The default is the option ``pytorch__compile``.
    ``static`` and ``strict`` are explained in `TracedLinker`. Both sides of a branch are computed. If the side that is
    not taken fails, the call runs in Python, with a warning. TypeError for unknown options.
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

        arguments = [on_device(v) for v in values]
        with _tracing, torch.no_grad(), chosen_device():
            module: Any = make_fx(run)(*arguments)
            called = _inductor(module, arguments) if self.compiled else module.forward
        device = chosen_device()
        on_processor = device.type == "cpu"

        def call(*dynamic: Any) -> Any:
            tensors = [on_device(v, device, on_processor).detach() for v in dynamic]
            with _tracing:
                results = called(*tensors)
            return results if has_checks else (*results, None)

        return Traced(call)
