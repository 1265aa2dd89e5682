"""Occelo's linkers, which turn rewritten graphs into callable virtual machines (VMs).

`occelo_compile` gets the linker from the mode of a function and calls the VM that the linker returns. Authors of ops
register lowerings here, and authors of backends register linkers.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph.lazy_names import deferred
from occelo_link import options as options  # configurations may name them from now on
from occelo_link.version import __version__ as __version__

if TYPE_CHECKING:
    from occelo_link.c.linker import CLinker, OpWiseCLinker
    from occelo_link.capabilities import BACKENDS, supports
    from occelo_link.jax.calling import as_jax
    from occelo_link.jax.linker import JAXLinker
    from occelo_link.jax.wrapping import wrap_jax
    from occelo_link.linker import VM, Linker, Linking, WrapLinker
    from occelo_link.loops.lowerings.elemwise.scalar import lowers_scalar_to_loops, scalar_value
    from occelo_link.loops.registry import (
        lowers_complex_to_loops,
        lowers_parts_to_loops,
        lowers_to_loops,
    )
    from occelo_link.loops.tensors import TensorGroup
    from occelo_link.native.linker import NativeLinker
    from occelo_link.numba.calling import as_numba
    from occelo_link.numba.linker import NumbaLinker
    from occelo_link.registry import available_linkers, make_linker, register_linker
    from occelo_link.torch.calling import as_torch
    from occelo_link.torch.linker import PytorchLinker
    from occelo_link.traced.registry import traces, traces_parts
    from occelo_link.traced.scalars import traces_scalar
    from occelo_link.vm import NodeThunk, PerformLinker, PythonVM, VMLinker
    from occelo_link.withheld_lowerings import without_lowering

__all__ = [
    "BACKENDS", "VM", "CLinker", "JAXLinker", "Linker", "Linking", "NativeLinker", "NodeThunk", "NumbaLinker",
    "OpWiseCLinker", "PerformLinker", "PythonVM", "PytorchLinker", "TensorGroup", "VMLinker", "WrapLinker",
    "as_jax", "as_numba", "as_torch", "available_linkers", "lowers_complex_to_loops", "lowers_parts_to_loops",
    "lowers_scalar_to_loops", "lowers_to_loops", "make_linker", "register_linker", "scalar_value", "supports",
    "traces", "traces_parts", "traces_scalar", "without_lowering", "wrap_jax",
]  # fmt: skip

# imported at the first use of a name: a function from the cache needs few of them, and some need compilers or other libraries
_LATER = {
    name: f"occelo_link.{module}"
    for module, names in {
        "c.linker": "CLinker OpWiseCLinker",
        "capabilities": "BACKENDS supports",
        "jax.calling": "as_jax",
        "jax.linker": "JAXLinker",
        "jax.wrapping": "wrap_jax",
        "linker": "Linker Linking VM WrapLinker",
        "loops.lowerings.elemwise.scalar": "lowers_scalar_to_loops scalar_value",
        "loops.registry": "lowers_complex_to_loops lowers_parts_to_loops lowers_to_loops",
        "loops.tensors": "TensorGroup",
        "native.linker": "NativeLinker",
        "numba.calling": "as_numba",
        "numba.linker": "NumbaLinker",
        "registry": "available_linkers make_linker register_linker",
        "torch.calling": "as_torch",
        "torch.linker": "PytorchLinker",
        "traced.registry": "traces traces_parts",
        "traced.scalars": "traces_scalar",
        "vm": "NodeThunk PerformLinker PythonVM VMLinker",
        "withheld_lowerings": "without_lowering",
    }.items()
    for name in names.split()
}
__getattr__, __dir__ = deferred(__name__, _LATER)
