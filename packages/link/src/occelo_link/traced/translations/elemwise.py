"""Lowerings of elementwise ops for JAX and PyTorch. The name of a scalar op finds the library's function for it.

`occelo_link.traced.linker` imports this module to register the lowerings. The tracer calls them for nodes. `translations.reduce` applies
single scalar ops with `apply_scalar`. `capabilities` calls `supports_scalar`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

import numpy as np

from occelo_graph import Apply, Constant, TensorApply, Variable
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp
from occelo_graph.tensors.type import is_complex
from occelo_link.traced.fallback import fall_back
from occelo_link.traced.functions import VALID
from occelo_link.traced.pieces import fold
from occelo_link.traced.registry import traces
from occelo_link.traced.traced_values import Array
from occelo_link.traced.tracer import Tracer
from occelo_rewrite.fusion.composite import Composite


def supports_scalar(
    knows: Callable[[str], object], scalar: ScalarOp, dtypes: Sequence[str] = ()
) -> bool:
    """Whether a library can compute a scalar op: by a function of its own, or by the op's formula or inner scalar ops.

    ``knows`` tells whether the library has a function for a name of a scalar op. ``dtypes`` are the dtypes of the
    arguments; the default is float64.
    """
    if isinstance(scalar, Composite):
        return _all_known(knows, scalar.inner_nodes)
    if isinstance(scalar, ScalarFunction) and not knows(scalar.name):
        if scalar.formula is None or scalar.nin is None:
            return False
        expression = scalar.expression(dtypes or ["float64"] * scalar.nin)
        return expression is not None and _all_known(knows, expression[1])
    return isinstance(scalar, Cast | ScalarFunction)


def _all_known(knows: Callable[[str], object], nodes: Iterable[Apply]) -> bool:
    """Whether a library can compute the scalar ops of all nodes."""
    pairs = [(getattr(n.op, "scalar_op", None), n) for n in nodes]
    return all(
        isinstance(scalar, ScalarOp)
        and supports_scalar(knows, scalar, [v.type.dtype or "" for v in node.inputs])
        for scalar, node in pairs
    )


def apply_scalar(tracer: Tracer, scalar: ScalarOp, inputs: Sequence[Array], dtype: str) -> Array:
    """Apply a scalar op to arrays, which broadcast. The result has the dtype ``dtype``."""
    arrays = tracer.arrays
    if isinstance(scalar, Cast):
        return arrays.cast(inputs[0], dtype)
    valid = VALID.get(scalar.name)
    holds = None if valid is None else valid(arrays, *inputs)
    if holds is not None:
        tracer.check(holds)
    entry = arrays.scalar(scalar.name)
    if entry is None:
        return arrays.cast(_by_formula(tracer, scalar, inputs), dtype)
    conversion, function = entry
    common = np.result_type(*(np.dtype(arrays.dtype(x)) for x in inputs)).name
    if conversion == "out" or (conversion == "exact" and np.can_cast(common, dtype)):
        common = dtype
    if conversion == "as is":
        inputs = [arrays.cast(x, arrays.working(arrays.dtype(x))) for x in inputs]
    else:
        inputs = [arrays.cast(x, arrays.working(common)) for x in inputs]
    function = arrays.working_function(scalar.name, common) or function
    if isinstance(scalar, ScalarFunction) and scalar.arity is None:
        result = fold(arrays, function, inputs)
    else:
        result = function(*inputs)
    if is_complex(arrays.dtype(result)) and not is_complex(dtype):
        raise TypeError(f"The function of arrays for {scalar} gave complex numbers, not {dtype}")
    return arrays.cast(result, dtype)


def _by_formula(tracer: Tracer, scalar: ScalarOp, inputs: Sequence[Array]) -> Array:
    arrays = tracer.arrays
    expression = (
        scalar.expression([arrays.dtype(x) for x in inputs])
        if isinstance(scalar, ScalarFunction)
        else None
    )
    if expression is None:
        raise NotImplementedError(
            f"{arrays.name} has no function {scalar.name}, which has no formula"
        )
    arguments, nodes, result = expression
    values: dict[Variable, Array] = dict(zip(arguments, inputs, strict=True))

    def value(v: Variable) -> Array:
        if isinstance(v, Constant) and v not in values:
            return arrays.constant(v.data)
        return values[v]

    for node in nodes:
        (out,) = node.outputs
        values[out] = apply_scalar(
            tracer, node.op.scalar_op, list(map(value, node.inputs)), out.type.dtype
        )
    return value(result)


@traces(Elemwise)
def lower_elemwise(
    tracer: Tracer, node: TensorApply[Elemwise], inputs: list[Array]
) -> Sequence[Array]:
    op = node.op
    shape = common_shape(node, inputs)
    in_dtypes: list[str] = [v.type.dtype for v in node.inputs]
    if not supports_scalar(tracer.arrays.scalar, op.scalar_op, in_dtypes):
        return fall_back(tracer, node, inputs)
    values = [tracer.array(x) for x in inputs]
    dtypes: list[str] = [v.type.dtype for v in node.outputs]
    if isinstance(op.scalar_op, Composite):
        results = _composite(tracer, op.scalar_op, values)
    else:
        results = [apply_scalar(tracer, op.scalar_op, values, dtypes[0])]
    return [r if tuple(r.shape) == shape else tracer.arrays.broadcast(r, shape) for r in results]


def _composite(tracer: Tracer, scalar: Composite, values: Sequence[Array]) -> list[Array]:
    computed: dict[Variable, Array] = dict(zip(scalar.inner.inputs, values, strict=True))
    for node in scalar.inner_nodes:
        operands = [
            tracer.arrays.constant(v.data) if isinstance(v, Constant) else computed[v]
            for v in node.inputs
        ]
        (out,) = node.outputs
        computed[out] = apply_scalar(tracer, node.op.scalar_op, operands, out.type.dtype)
    return [computed[v] for v in scalar.inner.outputs]


def common_shape(node: TensorApply, inputs: Sequence[Array]) -> tuple[int, ...]:
    """Return the shape of the result of an elementwise op.

    Only lengths that are statically 1 broadcast. Raises ValueError if other lengths differ.
    """
    count = max((len(x.shape) for x in inputs), default=0)
    shape = [1] * count
    for variable, x in zip(node.inputs, inputs, strict=True):
        lead = count - len(x.shape)
        for axis, length in enumerate(x.shape):
            if variable.type.shape[axis] != 1:
                if shape[lead + axis] not in (1, int(length)) or (
                    shape[lead + axis] == 1 and _is_fixed(node, inputs, lead + axis, count, x)
                ):
                    raise ValueError(f"Lengths of dimension {lead + axis} differ")
                shape[lead + axis] = int(length)
    return tuple(shape)


def _is_fixed(
    node: TensorApply, inputs: Sequence[Array], axis: int, count: int, until: Array
) -> bool:
    """Whether the length of the input ``until`` along an axis contradicts the length of an earlier input.

    Earlier inputs are those that precede ``until`` in ``inputs``. If the static length of an earlier input is 1, the
    input broadcasts, and there is no contradiction. ``axis`` is an axis of the result, which has ``count`` dimensions.
    """
    for variable, x in zip(node.inputs, inputs, strict=True):
        if x is until:
            return False
        own = axis - (count - len(x.shape))
        if (
            own >= 0
            and variable.type.shape[own] != 1
            and x.shape[own] != int(until.shape[axis - (count - len(until.shape))])
        ):
            return True
    return False
