"""`to_pytensor`: a graph of Occelo as a PyTensor graph, for the ops that have an equal there.

An op without one is replaced by its decomposition into simpler ops, if it has one.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from pytensor.tensor.basic import MakeVector as TheirVector
from pytensor.tensor.math import Argmax, Max, Min
from pytensor.tensor.shape import specify_shape

from occelo_graph import Constant, SharedVariable, toposort
from occelo_graph.ir.decomposing import decomposition
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.ops.cast import Cast
from occelo_graph.ops.control import CheckAndRaise, IfElse
from occelo_graph.ops.control.identities import Assume
from occelo_graph.ops.create import Alloc, ARange, Eye
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.key import ARRAY, SCALAR
from occelo_graph.ops.index.search import ExtractDiag, Nonzero
from occelo_graph.ops.index.subtensor import (
    AdvancedIncSubtensor,
    AdvancedSubtensor,
    IncSubtensor,
    Subtensor,
)
from occelo_graph.ops.join import Join, MakeVector
from occelo_graph.ops.reduce import Argmax as OurArgmax
from occelo_graph.ops.reduce import CAReduce, CumOp, LogSoftmax, Softmax
from occelo_graph.ops.shape.asserting import SpecifyShape
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape, Shape_i
from occelo_graph.ops.shape.reshaping import Reshape
from occelo_graph.ops.shape.stretching import Stretch
from occelo_linalg.ops.determinant import Det
from occelo_linalg.ops.equations.triangular import SolveTriangular
from occelo_linalg.ops.factorizations.cholesky import Cholesky
from occelo_linalg.ops.inverse import Inv
from occelo_pytensor.library import tensor as pt
from occelo_pytensor.library import theirs
from occelo_pytensor.variables import their_shared

Back = Callable[..., Any]
_back: dict[type, Back] = {}


def _for(*kinds: type) -> Callable[[Back], Back]:
    def register(function: Back) -> Back:
        _back.update(dict.fromkeys(kinds, function))
        return function

    return register


_RENAMED = {"sgn": "sign", "floor_div": "int_div", "and": "and_", "or": "or_"}
"""PyTensor's names of elementwise functions, where they are not the same."""


@_for(Elemwise)
def _elementwise(op: Any, *inputs: Any) -> Any:
    scalar = op.scalar_op
    if isinstance(scalar, Cast):
        return pt.cast(inputs[0], scalar.dtype)
    if scalar.name == "tri_gamma":
        return pt.polygamma(1, inputs[0])
    name = str(scalar.name)
    function = getattr(pt, _RENAMED.get(name, name), None)
    return NotImplemented if function is None else function(*inputs)


_REDUCTIONS = {
    "add": "sum", "mul": "prod", "maximum": "max", "minimum": "min", "and": "all", "or": "any",
    "supremum": "max", "infimum": "min",
}  # fmt: skip


@_for(CAReduce)
def _reduce(op: Any, x: Any) -> Any:
    name = _REDUCTIONS.get(op.scalar_op.name)
    if name is None:
        return NotImplemented
    if op.scalar_op.name in ("supremum", "infimum"):  # of no elements it is infinite
        return (Max if name == "max" else Min)(axis=tuple(op.axis), initial=True)(x)
    options = {} if name in ("max", "min", "all", "any") else {"dtype": op.dtype}
    return getattr(pt, name)(x, axis=list(op.axis), **options)


@_for(OurArgmax)
def _argmax(op: Any, x: Any) -> Any:
    axes = tuple(op.axis)
    return Argmax(None if len(axes) == x.ndim else axes)(x)


@_for(CumOp)
def _cumulative(op: Any, x: Any) -> Any:
    return (pt.cumsum if op.mode == "add" else pt.cumprod)(x, axis=op.axis)


@_for(Softmax)
def _softmax(op: Any, x: Any) -> Any:
    return pt.special.softmax(x, axis=list(op.axis))


@_for(LogSoftmax)
def _log_softmax(op: Any, x: Any) -> Any:
    return pt.special.log_softmax(x, axis=list(op.axis))


@_for(DimShuffle)
def _shuffle(op: Any, x: Any) -> Any:
    return x.dimshuffle(*op.new_order)


@_for(Shape)
def _shape(op: Any, x: Any) -> Any:
    return x.shape


@_for(Shape_i)
def _length(op: Any, x: Any) -> Any:
    return x.shape[op.i]


def _filled(static: Sequence[int | None], given: Sequence[Any]) -> list[Any]:
    """The lengths of an op: those of its field, with inputs where it is None."""
    rest = iter(given)
    return [next(rest) if n is None else n for n in static]


@_for(Reshape)
def _reshape(op: Any, x: Any, *lengths: Any) -> Any:
    shape = [pt.as_tensor(n, dtype="int64") for n in _filled(op.shape, lengths)]
    return pt.reshape(x, TheirVector("int64")(*shape), ndim=len(shape))


@_for(Alloc)
def _alloc(op: Any, value: Any, *lengths: Any) -> Any:
    return pt.alloc(value, *_filled(op.shape, lengths))


@_for(SpecifyShape)
def _specify(op: Any, x: Any, *lengths: Any) -> Any:
    rest = iter(lengths)
    wanted = [next(rest) if given else n for n, given in zip(op.static, op.given, strict=True)]
    return specify_shape(x, wanted)


@_for(Eye)
def _eye(op: Any, offset: Any, *lengths: Any) -> Any:
    rows, columns = _filled(op.shape, lengths)
    return pt.eye(rows, columns, offset, dtype=op.dtype)


@_for(ARange)
def _arange(op: Any, start: Any, stop: Any, step: Any) -> Any:
    return pt.arange(start, stop, step, dtype=op.dtype)


@_for(Stretch)
def _stretch(op: Any, x: Any, *lengths: Any) -> Any:
    """A write in PyTensor broadcasts by static lengths of 1 only, so values are stretched before."""
    return pt.alloc(x, *op.wanted(list(x.shape), lengths))


@_for(Join)
def _join(op: Any, *tensors: Any) -> Any:
    return pt.join(op.axis, *tensors)


@_for(MakeVector)
def _vector(op: Any, *scalars: Any) -> Any:
    return TheirVector(op.dtype)(*(pt.cast(x, op.dtype) for x in scalars))


_GIVEN: tuple[str, ...] = (ARRAY, SCALAR)


def _key(op: Any, indices: Sequence[Any]) -> tuple[Any, ...]:
    rest = iter(indices)

    def entry(part: Any) -> Any:
        return next(rest) if isinstance(part, str) and part in _GIVEN else part

    return tuple(
        slice(entry(e.start), entry(e.stop), entry(e.step)) if isinstance(e, slice) else entry(e)
        for e in op.key
    )


@_for(Subtensor, AdvancedSubtensor)
def _read(op: Any, x: Any, *indices: Any) -> Any:
    return x[_key(op, indices)]


@_for(IncSubtensor, AdvancedIncSubtensor)
def _write(op: Any, x: Any, y: Any, *indices: Any) -> Any:
    part = x[_key(op, indices)]
    return (pt.set_subtensor if op.set_instead_of_inc else pt.inc_subtensor)(part, y)


@_for(Nonzero)
def _nonzero(op: Any, x: Any) -> Any:
    return list(pt.nonzero(x))


@_for(ExtractDiag)
def _diagonal(op: Any, x: Any) -> Any:
    return pt.diagonal(x, op.offset, op.axis1, op.axis2)


@_for(Dot)
def _dot(op: Any, a: Any, b: Any) -> Any:
    return pt.dot(a, b)


@_for(MatMul)
def _matmul(op: Any, a: Any, b: Any) -> Any:
    return pt.matmul(a, b)


@_for(Cholesky)
def _cholesky(op: Any, a: Any) -> Any:
    return pt.linalg.cholesky(a, lower=True)


@_for(SolveTriangular)
def _solve_triangular(op: Any, a: Any, b: Any) -> Any:
    return pt.linalg.solve_triangular(
        a, b, lower=op.lower, unit_diagonal=op.unit_diagonal, b_ndim=2
    )


@_for(Inv)
def _inverse(op: Any, a: Any) -> Any:
    return pt.linalg.inv(a)


@_for(Det)
def _determinant(op: Any, a: Any) -> Any:
    return pt.linalg.det(a)


@_for(CheckAndRaise)
def _check(op: Any, value: Any, *conditions: Any) -> Any:
    return theirs.raise_op.CheckAndRaise(op.exc_type, op.msg)(value, *conditions)


@_for(Assume)
def _same(op: Any, x: Any) -> Any:
    return x


@_for(IfElse)
def _conditional(op: Any, condition: Any, *branches: Any) -> Any:
    half = len(branches) // 2
    found = theirs.conditional.ifelse(condition, list(branches[:half]), list(branches[half:]))
    return list(found) if isinstance(found, list | tuple) else [found]


def _root(variable: Any) -> Any:
    if isinstance(variable, Constant):
        return pt.constant(np.asarray(variable.data))
    if isinstance(variable, SharedVariable):
        return their_shared(variable)
    return pt.tensor(variable.name, dtype=variable.type.dtype, shape=variable.type.shape)


def _node(node: Any, inputs: Sequence[Any]) -> list[Any]:
    """PyTensor's variables for the outputs of a node of Occelo."""
    function = next((_back[c] for c in type(node.op).__mro__ if c in _back), None)
    found = NotImplemented if function is None else function(node.op, *inputs)
    if found is NotImplemented:
        simpler = decomposition(node)
        if simpler is None:
            raise TypeError(f"PyTensor has no equal of {node.op}, made at {node.outputs[0].source}")
        return _converted(list(simpler.outputs), dict(zip(simpler.inputs, inputs, strict=True)))
    several = list(found) if isinstance(found, list | tuple) else [found]
    return [
        v if v.type.dtype == o.type.dtype else pt.cast(v, o.type.dtype)
        for v, o in zip(several, node.outputs, strict=True)
    ]


def _converted(outputs: Sequence[Any], known: dict[Any, Any]) -> list[Any]:
    for node in toposort(list(outputs), blockers=list(known)):
        for variable in node.inputs:
            if variable not in known:
                known[variable] = _root(variable)
        made = _node(node, [known[v] for v in node.inputs])
        for variable, value in zip(node.outputs, made, strict=True):
            if variable.name and value.name is None:
                value.name = variable.name
            known[variable] = value
    for variable in outputs:
        if variable not in known:
            known[variable] = _root(variable)
    return [known[v] for v in outputs]


def to_pytensor(
    outputs: Any,
    inputs: Sequence[Any] | None = None,
    *,
    replace: Mapping[Any, Any] | None = None,
) -> Any:
    """Convert a graph of Occelo to a graph of PyTensor.

    ``outputs`` is a variable or a list of them. Without ``inputs``, the result has the same form. With ``inputs``, a list
    of Occelo's variables, the result is a pair of a list of PyTensor's variables for them, and the converted
    ``outputs``. Shared variables have one storage on both sides. ``replace`` maps variables of Occelo to PyTensor's
    variables that take their places.

    TypeError for an op that has no equal in PyTensor and no decomposition, with the line that applied it.
    """
    several = isinstance(outputs, list | tuple)
    known: dict[Any, Any] = dict(replace or {})
    made = [known.setdefault(v, _root(v)) for v in inputs or ()]
    results = _converted(list(outputs) if several else [outputs], known)
    converted: Any = results if several else results[0]
    return converted if inputs is None else (made, converted)
