"""Occelo's linkers, which turn rewritten graphs into callable virtual machines (VMs).

`occelo_compile` gets the linker from the mode of a function and calls the VM that the linker returns. Authors of ops
register lowerings here, and authors of backends register linkers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph.lazy_names import deferred
from occelo_link.linker import VM, Linker, Linking, WrapLinker
from occelo_link.native.linker import NativeLinker
from occelo_link.registry import available_linkers, make_linker, register_linker
from occelo_link.version import __version__ as __version__
from occelo_link.vm import NodeThunk, PerformLinker, PythonVM, VMLinker

if TYPE_CHECKING:
    from occelo_link.c.linker import CLinker as CLinker
    from occelo_link.c.linker import OpWiseCLinker as OpWiseCLinker
    from occelo_link.capabilities import BACKENDS as BACKENDS
    from occelo_link.capabilities import supports as supports
    from occelo_link.jax.calling import as_jax as as_jax
    from occelo_link.jax.linker import JAXLinker as JAXLinker
    from occelo_link.jax.wrapping import wrap_jax as wrap_jax
    from occelo_link.loops.lowerings.elemwise.scalar import (
        lowers_scalar_to_loops as lowers_scalar_to_loops,
    )
    from occelo_link.loops.lowerings.elemwise.scalar import scalar_value as scalar_value
    from occelo_link.loops.registry import lowers_complex_to_loops as lowers_complex_to_loops
    from occelo_link.loops.registry import lowers_parts_to_loops as lowers_parts_to_loops
    from occelo_link.loops.registry import lowers_to_loops as lowers_to_loops
    from occelo_link.loops.tensors import TensorGroup as TensorGroup
    from occelo_link.numba.calling import as_numba as as_numba
    from occelo_link.numba.linker import NumbaLinker as NumbaLinker
    from occelo_link.torch.calling import as_torch as as_torch
    from occelo_link.torch.linker import PytorchLinker as PytorchLinker
    from occelo_link.traced.registry import traces as traces
    from occelo_link.traced.registry import traces_parts as traces_parts
    from occelo_link.traced.scalars import traces_scalar as traces_scalar
    from occelo_link.withheld_lowerings import without_lowering as without_lowering

__all__ = [
    "BACKENDS", "VM", "CLinker", "JAXLinker", "Linker", "Linking", "NativeLinker", "NodeThunk", "NumbaLinker",
    "OpWiseCLinker", "PerformLinker", "PythonVM", "PytorchLinker", "TensorGroup", "VMLinker", "WrapLinker",
    "as_jax", "as_numba", "as_torch", "available_linkers", "lowers_complex_to_loops", "lowers_parts_to_loops",
    "lowers_scalar_to_loops", "lowers_to_loops", "make_linker", "register_linker", "scalar_value", "supports",
    "traces", "traces_parts", "traces_scalar", "without_lowering", "wrap_jax",
]  # fmt: skip


# imported at the first use of a name, since these modules need compilers or other libraries
__getattr__, __dir__ = deferred(
    __name__,
    {
        "BACKENDS": "occelo_link.capabilities",
        "CLinker": "occelo_link.c.linker",
        "JAXLinker": "occelo_link.jax.linker",
        "NumbaLinker": "occelo_link.numba.linker",
        "OpWiseCLinker": "occelo_link.c.linker",
        "PytorchLinker": "occelo_link.torch.linker",
        "as_jax": "occelo_link.jax.calling",
        "as_numba": "occelo_link.numba.calling",
        "as_torch": "occelo_link.torch.calling",
        "lowers_complex_to_loops": "occelo_link.loops.registry",
        "lowers_parts_to_loops": "occelo_link.loops.registry",
        "lowers_to_loops": "occelo_link.loops.registry",
        "lowers_scalar_to_loops": "occelo_link.loops.lowerings.elemwise.scalar",
        "TensorGroup": "occelo_link.loops.tensors",
        "scalar_value": "occelo_link.loops.lowerings.elemwise.scalar",
        "supports": "occelo_link.capabilities",
        "traces": "occelo_link.traced.registry",
        "traces_parts": "occelo_link.traced.registry",
        "traces_scalar": "occelo_link.traced.scalars",
        "without_lowering": "occelo_link.withheld_lowerings",
        "wrap_jax": "occelo_link.jax.wrapping",
    },
)
