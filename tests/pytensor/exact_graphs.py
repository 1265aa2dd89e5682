"""Values of PyTensor graphs with hundreds of digits, which decide where two systems differ.

`exact` runs a graph node by node on arrays of mpmath numbers: elementwise functions by a table, linear algebra by plain
loops, and ops that only move elements by their own code. `exact_gradient` and `exact_second` differentiate by finite
differences with as many digits, so nothing depends on the gradients of either system.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import mpmath
import numpy as np
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.raise_op import CheckAndRaise
from pytensor.scalar.basic import Composite, ScalarOp
from pytensor.scan.op import Scan
from pytensor.tensor.blockwise import Blockwise
from pytensor.tensor.elemwise import CAReduce, DimShuffle, Elemwise
from pytensor.tensor.linalg.decomposition.cholesky import Cholesky
from pytensor.tensor.linalg.decomposition.eigen import Eigh
from pytensor.tensor.linalg.solvers.general import Solve
from pytensor.tensor.linalg.solvers.triangular import SolveTriangular
from pytensor.tensor.linalg.summary import Det, SLogDet
from pytensor.tensor.special import LogSoftmax, LogSumExp, Softmax

mp = mpmath.mp
mp.dps = 700  # exponentials of some hundreds, and what cancels in them
STEP = mp.mpf(10) ** (-mp.dps // 3)
"""The step of finite differences."""


def _integral(x: Any) -> bool:
    return isinstance(x, bool | int | np.integer | np.bool_)


def _round_half_even(x: Any) -> Any:
    return mp.nint(x)


def _pow(a: Any, b: Any) -> Any:
    return mp.mpf(a) ** b if a != 0 or b > 0 else (mp.mpf(1) if b == 0 else mp.inf)


def _log(x: Any) -> Any:
    return mp.log(x) if x > 0 else (-mp.inf if x == 0 else mp.nan)


def _gammaln(x: Any) -> Any:
    return mp.loggamma(x) if x > 0 else mp.log(abs(mp.gamma(x))) if x != int(x) else mp.inf


def _softplus(x: Any) -> Any:
    return mp.log(1 + mp.exp(x))


SCALARS: dict[str, Callable[..., Any]] = {
    "Add": lambda *x: functools.reduce(lambda a, b: a + b, x),
    "Mul": lambda *x: functools.reduce(lambda a, b: mp.mpf(0) if a == 0 or b == 0 else a * b, x),
    "Sub": lambda a, b: a - b,
    "TrueDiv": lambda a, b: mp.mpf(a) / b if b != 0 else (mp.nan if a == 0 else mp.sign(a) * mp.inf),
    "IntDiv": lambda a, b: a // b,
    "Mod": lambda a, b: a % b,
    "Pow": _pow,
    "Neg": lambda x: -x,
    "Abs": abs,
    "Sign": lambda x: mp.sign(x),
    "Sqr": lambda x: x * x,
    "Sqrt": lambda x: mp.sqrt(x) if x >= 0 else mp.nan,
    "Reciprocal": lambda x: 1 / mp.mpf(x) if x != 0 else mp.inf,
    "Exp": lambda x: mp.exp(x),
    "Log": _log,
    "Log1p": lambda x: _log(1 + mp.mpf(x)),
    "Expm1": lambda x: mp.exp(x) - 1,
    "Log2": lambda x: _log(x) / mp.log(2),
    "Log10": lambda x: _log(x) / mp.log(10),
    "Sin": mp.sin, "Cos": mp.cos, "Tan": mp.tan, "Tanh": mp.tanh, "Sinh": mp.sinh, "Cosh": mp.cosh,
    "ArcTan": mp.atan, "ArcSin": mp.asin, "ArcTanh": mp.atanh,
    "Erf": mp.erf, "Erfc": mp.erfc,
    "Erfcx": lambda x: mp.exp(mp.mpf(x) ** 2) * mp.erfc(x),
    "NdtriExp": None,
    "Gamma": mp.gamma,
    "GammaLn": _gammaln,
    "Psi": lambda x: mp.psi(0, x),
    "TriGamma": lambda x: mp.psi(1, x),
    "GammaInc": lambda a, x: mp.gammainc(a, 0, x, regularized=True),
    "GammaIncC": lambda a, x: mp.gammainc(a, x, mp.inf, regularized=True),
    "BetaInc": lambda a, b, x: mp.betainc(a, b, 0, x, regularized=True),
    "I0e": lambda x: mp.besseli(0, x) * mp.exp(-abs(x)),
    "I0": lambda x: mp.besseli(0, x), "I1": lambda x: mp.besseli(1, x),
    "Ive": lambda v, x: mp.besseli(v, x) * mp.exp(-abs(x)),
    "Kve": lambda v, x: mp.besselk(v, x) * mp.exp(x),
    "Sigmoid": lambda x: 1 / (1 + mp.exp(-x)),
    "Softplus": _softplus,
    "Log1mexp": lambda x: _log(1 - mp.exp(x)),
    "Switch": lambda c, a, b: a if c else b,
    "Second": lambda a, b: b,
    "Identity": lambda x: x,
    "Maximum": max, "Minimum": min,
    "Clip": lambda x, low, high: min(max(x, low), high),
    "GT": lambda a, b: a > b, "GE": lambda a, b: a >= b, "LT": lambda a, b: a < b,
    "LE": lambda a, b: a <= b, "EQ": lambda a, b: a == b, "NEQ": lambda a, b: a != b,
    "AND": lambda a, b: a & b, "OR": lambda a, b: a | b, "XOR": lambda a, b: a ^ b,
    "Invert": lambda x: (not x) if isinstance(x, bool | np.bool_) else ~x,
    "IsNan": mp.isnan, "IsInf": mp.isinf,
    "Floor": mp.floor, "Ceil": mp.ceil, "RoundHalfToEven": _round_half_even,
    "XLogY": lambda x, y: mp.mpf(0) if x == 0 else x * _log(y),
}  # fmt: skip
REDUCE = {
    "Add": (0, lambda a, b: a + b), "Mul": (1, lambda a, b: a * b), "AND": (True, lambda a, b: a & b),
    "OR": (False, lambda a, b: a | b), "Maximum": (-mp.inf, max), "Minimum": (mp.inf, min),
}  # fmt: skip


def exact_array(value: Any) -> Any:
    """An array of mpmath numbers for floats; integers and truth values stay."""
    array = np.asarray(value)
    if array.dtype.kind != "f":
        return array
    made = np.empty(array.shape, object)
    with np.errstate(invalid="ignore"):
        made[...] = np.frompyfunc(lambda x: mp.mpf(float(x)), 1, 1)(array)
    return made


def _scalar(op: ScalarOp) -> Callable[..., Any]:
    if isinstance(op, Composite):
        return lambda *x: _run(op.fgraph.inputs, op.fgraph.outputs, [np.asarray(v) for v in x])[0][
            ()
        ]
    if type(op).__name__ == "Cast":
        kind = op.o_type.dtype
        return (lambda x: mp.mpf(x)) if kind.startswith("float") else (lambda x: int(x))
    return SCALARS[type(op).__name__]


def _object(function: Callable[..., Any], inputs: Sequence[Any], dtype: str) -> Any:
    found = np.asarray(np.frompyfunc(function, len(inputs), 1)(*inputs))
    return found if dtype.startswith("float") else found.astype(dtype)


def _elementwise(node: Any, inputs: Sequence[Any]) -> list[Any]:
    op = getattr(node.op, "scalar_op", node.op)
    return [_object(_scalar(op), inputs, node.outputs[0].type.dtype)]


def _reduce(node: Any, inputs: Sequence[Any]) -> list[Any]:
    start, combine = REDUCE[type(node.op.scalar_op).__name__]
    (x,) = inputs
    axes = range(x.ndim) if node.op.axis is None else sorted(node.op.axis)
    for axis in reversed(list(axes)):
        parts = np.moveaxis(x, axis, 0)
        total = np.full(parts.shape[1:], start, object)
        for part in parts:
            total = np.frompyfunc(combine, 2, 1)(total, part)
        x = np.asarray(total)
    dtype = node.outputs[0].type.dtype
    return [x if dtype.startswith("float") else x.astype(dtype)]


def _cholesky(a: Any, lower: bool) -> Any:
    n = len(a)
    found = np.full((n, n), mp.mpf(0), object)
    for i in range(n):
        for j in range(i + 1):
            rest = a[i, j] - sum((found[i, k] * found[j, k] for k in range(j)), mp.mpf(0))
            if i == j and rest <= 0:
                return np.full((n, n), mp.nan, object)
            found[i, j] = mp.sqrt(rest) if i == j else rest / found[j, j]
    return found if lower else found.T


def _solve(a: Any, b: Any) -> Any:
    vector = b.ndim == 1
    columns = b[:, None] if vector else b
    made = np.empty(columns.shape, object)
    for k in range(columns.shape[1]):
        column = mp.lu_solve(mp.matrix(a.tolist()), mp.matrix(columns[:, k].tolist()))
        made[:, k] = list(column)
    return made[:, 0] if vector else made


def _eigh(a: Any) -> list[Any]:
    values, vectors = mp.eigsy(mp.matrix(a.tolist()))
    return [np.array(list(values), object), np.array(vectors.tolist(), object)]


def _triangular(a: Any, lower: bool, unit: bool) -> Any:
    kept = np.tril(np.ones(a.shape, bool)) if lower else np.triu(np.ones(a.shape, bool))
    whole = np.where(kept, a, mp.mpf(0))
    if unit:
        np.fill_diagonal(whole, mp.mpf(1))
    return whole


def _core(op: Any, inputs: Sequence[Any]) -> list[Any] | None:
    match op:
        case Cholesky():
            return [_cholesky(inputs[0], op.lower)]
        case Eigh():
            return _eigh(inputs[0])
        case SolveTriangular():
            a = _triangular(inputs[0], op.lower, op.unit_diagonal)
            return [_solve(a, inputs[1])]
        case Solve():
            return [_solve(*inputs)]
        case Det():
            return [np.asarray(mp.det(mp.matrix(inputs[0].tolist())))]
        case SLogDet():
            found = mp.det(mp.matrix(inputs[0].tolist()))
            return [np.asarray(mp.sign(found)), np.asarray(_log(abs(found)))]
        case _:
            return None


def _batched(node: Any, inputs: Sequence[Any]) -> list[Any]:
    op = node.op
    count = op.batch_ndim(node)
    core = [x.ndim - count for x in inputs]
    shape = np.broadcast_shapes(*(x.shape[:count] for x in inputs))
    whole = [np.broadcast_to(x, shape + x.shape[count:]) for x in inputs]
    outputs: list[Any] = []
    for at in np.ndindex(*shape):
        found = _core(op.core_op, [x[at] for x in whole])
        if found is None:
            (found,) = (
                [_perform(op._create_dummy_core_node(node.inputs), [x[at] for x in whole])[0]],
            )
        outputs.append([np.asarray(v, object) for v in found])
    assert all(n >= 0 for n in core)
    made: list[Any] = []
    for i in range(len(node.outputs)):
        stacked = np.empty(shape + outputs[0][i].shape, object)
        for at, found in zip(np.ndindex(*shape), outputs, strict=True):
            stacked[at] = found[i]
        made.append(stacked)
    return made


def _log_sum(x: Any, axis: Any, keep: bool) -> Any:
    each = np.frompyfunc(mp.exp, 1, 1)(x)
    total = np.asarray(each.sum(axis=None if axis is None else tuple(axis), keepdims=keep), object)
    return np.asarray(np.frompyfunc(_log, 1, 1)(total), object)


def _perform(node: Any, inputs: Sequence[Any]) -> list[Any]:
    cells: list[list[Any]] = [[None] for _ in node.outputs]
    node.op.perform(node, list(inputs), cells)
    return [cell[0] for cell in cells]


def _scan(node: Any, inputs: Sequence[Any]) -> list[Any]:
    """A loop without states that are updated in place (gradients have those), run step by step."""
    op, info = node.op, node.op.info
    outer = list(inputs)
    steps = int(outer[0])
    assert not info.n_mit_mot
    sequences = op.outer_seqs(outer)
    buffers = [*op.outer_mitsot(outer), *op.outer_sitsot(outer)]
    rows = [
        [b[i] for i in range(-min(taps))] for b, taps in zip(buffers, info.tap_array, strict=True)
    ]
    untraced = list(op.outer_untraced_sit_sot(outer))
    traces: list[list[Any]] = [[] for _ in range(info.n_nit_sot)]
    for t in range(steps):
        given = [s[t] for s in sequences]
        for kept, taps in zip(rows, info.tap_array, strict=True):
            given += [kept[len(kept) + tap] for tap in taps]
        given += [*untraced, *op.outer_non_seqs(outer)]
        found = _run(op.fgraph.inputs, op.fgraph.outputs, [np.asarray(g) for g in given])
        for kept, value in zip(rows, found, strict=False):
            kept.append(value)
        for kept, value in zip(traces, found[len(rows) :], strict=False):
            kept.append(value)
        untraced = found[len(rows) + len(traces) :][: len(untraced)]
        if info.as_while and found[-1]:
            break
    lengths = [len(b) for b in buffers] + [int(n) for n in op.outer_nitsot(outer)]
    stacked = []
    for kept, length in zip([*rows, *traces], lengths, strict=True):
        last = kept[max(0, len(kept) - length) :]
        whole = np.empty((len(last), *np.shape(last[0])), object)
        for i, value in enumerate(last):
            whole[i] = np.asarray(value)[()]
        stacked.append(whole)
    return [*stacked, *untraced]


def _node(node: Any, inputs: Sequence[Any]) -> list[Any]:
    op = node.op
    core = _core(op, inputs)
    if core is not None:
        return core
    match op:
        case Elemwise() | ScalarOp():
            return _elementwise(node, inputs)
        case CAReduce():
            return _reduce(node, inputs)
        case CheckAndRaise():
            holds = all(bool(np.all(c)) for c in inputs[1:])
            return [inputs[0] if holds else np.full(np.shape(inputs[0]), -mp.inf, object)]
        case LogSumExp():
            return [_log_sum(inputs[0], op.axis, False)]
        case LogSoftmax():
            return [inputs[0] - _log_sum(inputs[0], op.axis, True)]
        case Softmax():
            return [np.frompyfunc(mp.exp, 1, 1)(inputs[0] - _log_sum(inputs[0], op.axis, True))]
        case Scan():
            return _scan(node, inputs)
        case OpFromGraph():
            return _run(op.fgraph.inputs, op.fgraph.outputs, inputs)
        case Blockwise():
            return _batched(node, inputs)
        case DimShuffle():
            return [np.asarray(_perform(node, [np.asarray(inputs[0])])[0])]
        case _:
            name = type(op).__name__
            if name == "Alloc":
                return [np.broadcast_to(inputs[0], [int(n) for n in inputs[1:]]).copy()]
            if name == "AllocEmpty":
                return [np.full([int(n) for n in inputs], mp.mpf(0), object)]
            if name == "Join":
                return [np.concatenate(inputs, axis=op.axis)]
            if name == "MakeVector":
                made = np.empty(len(inputs), object)
                made[:] = [np.asarray(v)[()] for v in inputs]
                dtype = node.outputs[0].type.dtype
                return [made if dtype.startswith("float") else made.astype(dtype)]
            if name == "Dot":
                return [np.asarray(np.dot(*inputs), object)]
            if name in ("ScalarFromTensor", "TensorFromScalar"):
                return [np.asarray(inputs[0])]
            if name == "IncSubtensor":  # an array without axes would become an element of the array
                return _perform(
                    node, [np.asarray(v)[()] if i == 1 else v for i, v in enumerate(inputs)]
                )
            return _perform(node, inputs)


def _run(inputs: Sequence[Any], outputs: Sequence[Any], values: Sequence[Any]) -> list[Any]:
    known: dict[Any, Any] = dict(zip(inputs, values, strict=True))

    def value(variable: Any) -> Any:
        if variable not in known:
            if isinstance(variable, Constant):
                data = variable.data
                known[variable] = exact_array(data) if hasattr(variable.type, "dtype") else data
            else:
                data = variable.get_value()
                known[variable] = exact_array(data) if hasattr(variable.type, "dtype") else data
        return known[variable]

    for node in toposort(outputs, blockers=list(inputs)):
        found = _node(node, [value(v) for v in node.inputs])
        known.update(zip(node.outputs, found, strict=True))
    return [value(v) for v in outputs]


def exact(output: Any, inputs: Sequence[Any], values: Sequence[Any]) -> Any:
    """The value of a scalar graph of PyTensor."""
    return _run(inputs, [output], [exact_array(v) for v in values])[0][()]


def exact_gradient(
    output: Any, inputs: Sequence[Any], values: Sequence[Any], which: Sequence[tuple[int, int]]
) -> list[Any]:
    """Some elements of the gradient: element ``j`` of input ``i`` for each pair (i, j) in ``which``."""
    found: list[Any] = []
    for each in which:
        ends = [_moved(output, inputs, values, [(each, sign * STEP)]) for sign in (1, -1)]
        found.append((ends[0] - ends[1]) / (2 * STEP))
    return found


def exact_second(
    output: Any,
    inputs: Sequence[Any],
    values: Sequence[Any],
    one: tuple[int, int],
    two: tuple[int, int],
) -> Any:
    """The second derivative by two elements, each a pair as in `exact_gradient`."""
    total = mp.mpf(0)
    for a in (1, -1):
        for b in (1, -1):
            total += a * b * _moved(output, inputs, values, [(one, a * STEP), (two, b * STEP)])
    return total / (4 * STEP**2)


def _moved(
    output: Any,
    inputs: Sequence[Any],
    values: Sequence[Any],
    by: Sequence[tuple[tuple[int, int], Any]],
) -> Any:
    """The value of ``output`` where some elements of the inputs are larger by some numbers."""
    moved = [exact_array(v) for v in values]
    for (i, j), step in by:
        flat = moved[i].reshape(-1)
        flat[j] = flat[j] + step
        moved[i] = flat.reshape(np.shape(values[i]))
    return _run(inputs, [output], moved)[0][()]
