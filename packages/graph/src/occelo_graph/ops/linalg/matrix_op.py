"""`MatrixOp`: the base class of the ops of linear algebra.

The signature of an op says how many trailing dimensions belong to matrices and vectors. All other dimensions are batch
dimensions, which broadcast as in `MatMul`: only a length that is known to be 1 when the graph is built broadcasts.

All ops of this folder derive from `MatrixOp`. Rules, and lowerings to JAX and PyTorch, use it, too.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import broadcasting_hint
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.op import Kernel, Op
from occelo_graph.ops.batching import parse_signature
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.shape.dimensions import matrix_transpose
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import TensorApply
from occelo_graph.tensors.type import StaticShape, TensorType, is_complex, is_discrete, shape_text

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

__all__ = ["MatrixOp", "as_matrices", "hermitian", "if_square"]

LinAlgError = np.linalg.LinAlgError
ON_ERROR = ("raise", "nan")


class MatrixOp(Op):
    """An op on matrices, over batches of them.

    A subclass has a ``signature`` like that of `numpy.vectorize` and computes one element of the batch in `core`. It
    defines `lengths` if the results have dimensions that no argument has, and `dtypes` if their dtypes differ from that
    of the arguments. It may define `core_pullback`. Arguments have one dtype: float32, float64, complex64 or complex128
    (see `as_matrices`).

    ``core`` raises ``numpy.linalg.LinAlgError`` if there is no result; the position in the batch is added to the
    message. If the op has a field ``on_error`` with the value "nan", this element of the results is NaN instead.
    """

    signature: ClassVar[str]

    @property
    def label(self) -> str:
        """The name of the user's function, for messages."""
        return type(self).__name__.lower()

    @abstractmethod
    def core(self, *arrays: Array) -> Array | tuple[Array, ...]:
        """The results for one element of the batch."""
        raise NotImplementedError

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        """The lengths of all dimensions by name: integers, scalar variables, or None for an unknown length."""
        return known

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        """The dtypes of the results; that of the arguments by default."""
        return [types[0].dtype] * len(parse_signature(self.signature)[1])

    # types and shapes

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        names, results = parse_signature(self.signature)
        if len(types) != len(names):
            raise TypeError(f"{self.label} takes {len(names)} arguments, got {len(types)}")
        for kind, own in zip(types, names, strict=True):
            if kind.ndim < len(own):
                raise ValueError(
                    f"{self.label} takes an argument of at least {len(own)} dimensions, got {kind}"
                )
        known = self.lengths(self._static_lengths([t.shape for t in types]))
        splits = [t.shape[: t.ndim - len(own)] for t, own in zip(types, names, strict=True)]
        batch = broadcast_static(splits, self.label) if any(splits) else ()
        dtypes = self.dtypes(*types)
        return tuple(
            TensorType(dtype, (*batch, *(known[d] for d in own)))
            for dtype, own in zip(dtypes, results, strict=True)
        )

    def _static_lengths(self, shapes: Sequence[StaticShape]) -> dict[str, int | None]:
        """The known length of each dimension by name; ValueError if two differ."""
        names, _ = parse_signature(self.signature)
        known: dict[str, int | None] = {}
        for shape, own in zip(shapes, names, strict=True):
            for name, n in zip(own, shape[len(shape) - len(own) :], strict=True):
                before = known.get(name)
                if n is None or before == n:
                    known.setdefault(name, n)
                elif before is None:
                    known[name] = n
                else:
                    raise ValueError(self._mismatch(name, shapes))
        return known

    def _mismatch(self, name: str, shapes: Sequence[Sequence[Any]]) -> str:
        listed = " and ".join(shape_text(tuple(s)) for s in shapes)
        names, _ = parse_signature(self.signature)
        if any(own[:2] == (name, name) for own in names):
            return f"{self.label} needs square matrices that fit the other arguments, got {listed}"
        return f"{self.label}: the shapes {listed} do not fit {self.signature}"

    def infer_shape(self, node: TensorApply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        names, results = parse_signature(self.signature)
        types = [v.type for v in node.inputs]
        known: dict[str, Any] = {}
        batch: list[Any] = [1] * max(t.ndim - len(own) for t, own in zip(types, names, strict=True))
        for kind, own, shape in zip(types, names, input_shapes, strict=True):
            extra = kind.ndim - len(own)
            for i in range(extra):
                if kind.shape[i] != 1:
                    batch[len(batch) - extra + i] = shape[i]
            for name, static, n in zip(own, kind.shape[extra:], shape[extra:], strict=True):
                if static is not None or name not in known:
                    known[name] = n
        lengths = self.lengths(known)
        return [(*batch, *(lengths[d] for d in own)) for own in results]

    # running

    def kernel(self, node: TensorApply) -> Kernel:
        types = [v.type for v in node.inputs]

        def running(*arrays: Array) -> Sequence[Array]:
            self.check_shapes(types, [a.shape for a in arrays])
            return self._over_batch(arrays)

        return running

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        """ValueError for matrices that do not fit, and for batch dimensions that differ unless one is known to be 1."""
        names, _ = parse_signature(self.signature)
        lengths: dict[str, int] = {}
        batch: dict[int, int] = {}
        for kind, own, shape in zip(types, names, shapes, strict=True):
            extra = len(shape) - len(own)
            for name, n in zip(own, shape[extra:], strict=True):
                if lengths.setdefault(name, n) != n:
                    raise ValueError(self._mismatch(name, shapes))
            for i in range(extra):
                if kind.shape[i] != 1 and batch.setdefault(extra - i, shape[i]) != shape[i]:
                    listed = " and ".join(str(s) for s in shapes)
                    hint = broadcasting_hint(shape[i], batch[extra - i])
                    raise ValueError(f"{self.label}: batch dimensions do not match: {listed}{hint}")

    def evaluate(self, *arrays: Array) -> tuple[Array, ...]:
        return tuple(self._over_batch(arrays))

    def _over_batch(self, arrays: Sequence[Array]) -> Sequence[Array]:
        names, _ = parse_signature(self.signature)
        extras = [a.ndim - len(own) for a, own in zip(arrays, names, strict=True)]
        if not any(extras):
            return self._element(arrays, None)
        batch = np.broadcast_shapes(
            *(a.shape[:extra] for a, extra in zip(arrays, extras, strict=True))
        )
        whole = [
            np.broadcast_to(a, (*batch, *a.shape[extra:]))
            for a, extra in zip(arrays, extras, strict=True)
        ]
        results = self._allocated(whole, batch)
        for index in np.ndindex(batch):
            for result, made in zip(
                results, self._element([a[index] for a in whole], index), strict=True
            ):
                result[index] = made
        return results

    def _allocated(self, arrays: Sequence[Array], batch: tuple[int, ...]) -> list[Array]:
        types = [TensorType(a.dtype.name, a.shape) for a in arrays]
        kinds = self.infer_types(tuple(types))
        shapes = [tuple(0 if n is None else n for n in k.shape or ()) for k in kinds]
        return [np.empty(s, k.dtype) for s, k in zip(shapes, kinds, strict=True)]

    def _element(self, arrays: Sequence[Array], index: tuple[int, ...] | None) -> Sequence[Array]:
        """The results for one element of the batch; error messages name its position."""
        try:
            made = self.core(*arrays)
        except LinAlgError as error:
            if getattr(self, "on_error", "raise") == "nan":
                lost = self._allocated(arrays, ())
                return [np.full_like(r, np.nan if r.dtype.kind in "fc" else 0) for r in lost]
            where = "" if index is None else f", at index {', '.join(map(str, index))} of the batch"
            raise LinAlgError(f"{self.label}: {error}{where}") from None
        return made if isinstance(made, tuple) else (made,)

    # batches and derivatives

    def batch(
        self, node: TensorApply, inputs: Sequence[TensorVariable], batch_ndims: Sequence[int]
    ) -> Sequence[TensorVariable]:
        names, _ = parse_signature(self.signature)
        old = [v.type.ndim - len(own) for v, own in zip(node.inputs, names, strict=True)]
        aligned: list[TensorVariable] = []
        for variable, extra, before in zip(inputs, batch_ndims, old, strict=True):
            missing = max(old) - before
            if extra and missing:
                order = [*range(extra), *["x"] * missing, *range(extra, variable.type.ndim)]
                variable = variable.dimshuffle(order)
            aligned.append(variable)
        made: list[TensorVariable] = self(*aligned, return_list=True)
        return made

    def core_pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Cotangents of the inputs. Unlike those of `Op.pullback`, they may have more batch dimensions than the inputs."""
        return super().pullback(inputs, outputs, cotangents)

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        names, _ = parse_signature(self.signature)
        pulled = self.core_pullback(inputs, outputs, cotangents)
        return [
            _like(ct, v, len(own)) if isinstance(ct, Variable) else ct
            for ct, v, own in zip(pulled, inputs, names, strict=True)
        ]


def _like(ct: Any, variable: TensorVariable, core: int) -> Any:
    """A cotangent with the batch dimensions and the dtype of its variable.

    The cotangent of an integer variable stays floating-point.
    """
    own = variable.type
    any_core = (None,) * core
    full = TensorType(ct.dtype, (*ct.type.shape[: ct.ndim - core], *any_core))
    target = TensorType(ct.dtype, (*own.shape[: own.ndim - core], *any_core))
    ct = unbroadcast(ct, full, target)
    if is_complex(ct.dtype) and not is_complex(own.dtype):
        ct = ct.real
    return ct if ct.dtype == own.dtype or is_discrete(own.dtype) else ct.astype(own.dtype)


def as_matrices(label: str, *arguments: Any) -> list[TensorVariable]:
    """Arguments of linear algebra as tensors of one dtype: integers and truth values become float64.

    TypeError for float16, for which there are no routines.
    """
    given = [as_tensor_variable(a) for a in arguments]
    kinds = [np.float64 if is_discrete(v.dtype) else v.type.numpy_dtype for v in given]
    dtype = np.result_type(*kinds).name
    if dtype == "float16" or any(v.dtype == "float16" for v in given):
        raise TypeError(f"{label} does not take float16; cast to float32")
    return [cast(v, dtype) for v in given]


def hermitian(x: Any) -> TensorVariable:
    """The conjugate transpose of the last two dimensions."""
    turned: TensorVariable = matrix_transpose(x)
    return turned.conj() if is_complex(turned.dtype) else turned


def if_square(label: str, x: Any, result: Any) -> Any:
    """``result``, with a check that the matrices ``x`` are square (ValueError), unless that is known.

    Used where a result is computed from ``x`` without an op that would check it.
    """
    rows, columns = x.type.shape[-2:]
    if rows is not None and rows == columns:
        return result
    check = CheckAndRaise(ValueError, f"{label} needs square matrices")
    return check(result, eq(x.shape[-2], x.shape[-1]))


def check_on_error(on_error: str) -> str:
    """``on_error`` itself; ValueError unless it is "raise" or "nan"."""
    if on_error not in ON_ERROR:
        raise ValueError(f'on_error must be "raise" or "nan", got {on_error!r}')
    return on_error
