"""What runs as a Python thunk in compiled graphs, and why."""

from __future__ import annotations

from typing import Any

from occelo_graph import Apply, TensorType
from occelo_graph.ops.blas.updates import Gemm, Gemv, Ger

__all__ = ["DTYPES", "SCALARS", "reason_for_python"]

DTYPES = {
    "complex64": "loop programs have no complex numbers yet",
    "complex128": "loop programs have no complex numbers yet",
    "float16": "loop programs have no 16-bit floats yet",
}
SCALARS = {
    "pow": "a negative exponent of an integer is an error that depends on the data",
    "tri_gamma": "SciPy exports no function for it",
    "polygamma": "SciPy exports no function for it",
    "kn": "SciPy's function takes the order as an integer of the platform",
    "gammainc_dk": "a series whose number of terms depends on the data, in NumPy",
    "betainc_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_da": "a series whose number of terms depends on the data, in NumPy",
    "hyp2f1_dc": "a series whose number of terms depends on the data, in NumPy",
    "complex": "loop programs have no complex numbers yet",
}


def reason_for_python(node: Apply) -> str | None:
    """Why a node of this library's ops has no loop lowering; None if there is no known reason."""
    for variable in (*node.inputs, *node.outputs):
        if isinstance(variable.type, TensorType) and variable.type.dtype in DTYPES:
            return DTYPES[variable.type.dtype]
    if isinstance(node.op, Gemm | Gemv | Ger):
        return (
            "made by rewriting, for linkers that run op by op; loop programs have products and sums"
        )
    scalar: Any = getattr(node.op, "scalar_op", None)
    if node.op.destroy_map:
        return "an op that overwrites its input needs the input's own memory"
    return SCALARS.get(getattr(scalar, "name", ""))
