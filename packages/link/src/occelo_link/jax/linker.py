"""``jax``: the whole graph as one function under ``jax.jit``.

Numbers of 64 bits are switched on around each call only, so that the user's settings stay as they are.
Shared variables stay on the device between calls. Where nothing can fail once the function runs, the old
values of what is updated are donated to XLA.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from occelo_graph.ir.container import local, register_foreign
from occelo_link.jax.arrays import JaxArrays
from occelo_link.jax.library import jax, jnp
from occelo_link.traced.linker import Traced, TracedLinker, TracedVM, load_lowerings
from occelo_link.traced.tracer import Tracer

__all__ = ["JAXLinker", "as_jax"]


def _to_numpy(value: Any) -> Any:
    return np.array(value)


register_foreign(type(jnp.zeros(())), _to_numpy)  # pyright: ignore[reportUnknownArgumentType]


class JAXLinker(TracedLinker):
    """``jax``: compiled by XLA; see `TracedLinker` for ``static`` and ``strict``."""

    name = "jax"

    @cached_property
    def arrays(self) -> JaxArrays:  # type: ignore[override]
        return JaxArrays()

    def signature(self, values: Sequence[Any]) -> Any:
        # jax.jit compiles for each combination of shapes by itself
        return None

    def compile_traced(
        self, vm: TracedVM, fixed: dict[int, Any], values: Sequence[Any], wanted: Sequence[int]
    ) -> Traced:
        noted: list[Any] = []

        def run(*dynamic: Any) -> Any:
            return vm.trace(fixed, dynamic, wanted, noted)

        given = [v for i, v in enumerate(values) if i not in vm.static]
        with jax.enable_x64(True):
            jax.eval_shape(run, *given)
        compiled = jax.jit(run)

        def call(*dynamic: Any) -> Any:
            with jax.enable_x64(True):
                return compiled(*dynamic)

        return Traced(call, bool(noted[-1]))


def as_jax(function: Any) -> Callable[..., Any]:
    """A compiled function as a function of JAX's, for ``jax.jit``, ``jax.grad`` and ``jax.vmap``.

    It takes the function's arguments in order and returns its outputs (one, or a list). Shared variables
    have the values that they have when it is traced; nothing is updated and no check is made. For numbers
    of 64 bits switch them on in JAX.
    """
    load_lowerings()
    maker = function.maker
    fgraph = maker.fgraph
    inputs = [each for each, _ in function.indices]
    arrays = JaxArrays()

    def call(*arguments: Any) -> Any:
        rest = iter(arguments)
        given: dict[Any, Any] = {}
        for variable, each, container in zip(
            fgraph.inputs, inputs, function.input_storage, strict=True
        ):
            kept = each.implicit
            value = local(container.storage[0]) if kept else jnp.asarray(next(rest))
            given[variable] = value
        tracer = Tracer(arrays, given)
        outputs = fgraph.outputs[: len(maker.outputs)]
        results = [tracer.array(tracer.value(v)) for v in outputs]
        return results[0] if function.unpack_single else results

    return call
