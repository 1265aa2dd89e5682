"""`MatrixOp`, the base class of the ops of linear algebra, and helpers of the functions that apply the ops.

An op has a signature such as ``"(n,n),(n)->(n)"``. It defines how many trailing dimensions of an input are those of a
matrix or a vector. All other dimensions are batch dimensions, which broadcast as in `MatMul`: only lengths that are
statically 1 broadcast.

Nearly all ops of this folder derive from `MatrixOp`. The lowerings to JAX and PyTorch (`occelo_linalg.traced`)
read the signatures.
"""

from __future__ import annotations

import dataclasses
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from occelo_graph.errors import broadcasting_hint
from occelo_graph.ir.nodes import AnyApply, Variable
from occelo_graph.ir.op import Kernel
from occelo_graph.ir.terms import Term, options_text
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batching import BatchedOp, parse_signature
from occelo_graph.ops.cast import cast
from occelo_graph.ops.control.checks import CheckAndRaise
from occelo_graph.ops.elemwise.arithmetic import eq
from occelo_graph.ops.elemwise.op import broadcast_static, unbroadcast
from occelo_graph.ops.shape.dimensions import matrix_transpose
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import TensorApply
from occelo_graph.tensors.type import StaticShape, TensorType, is_complex, is_discrete, shape_text
from occelo_linalg.ops.scipy_options import checked_options

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import Array
    from occelo_graph.tensors.variable import TensorVariable

LinAlgError = np.linalg.LinAlgError
ON_ERROR = ("raise", "nan")


class MatrixOp(BatchedOp):
    """Base class of ops on matrices. It applies the op to each element of a batch.

    A subclass has a ``signature`` in the notation of `numpy.vectorize`. Its method `core` computes one element of the
    batch. It defines `lengths` if a result has a dimension that no argument has. It defines `dtypes` if the results do
    not have the dtype of the arguments. It may define `core_pullback`. Matrices have the same dtype: float32, float64,
    complex64 or complex128 (see `as_matrices`). Pivots are integers.

    If there is no result, ``core`` raises ``numpy.linalg.LinAlgError``, and the position in the batch is added to the
    message. If the op has a field ``on_error`` with the value "nan", the results are NaN for this element of the batch
    instead (integers are 0).
    """

    signature: ClassVar[str]
    formula: ClassVar[str | None] = "{label}({inputs}{options})"
    """The call of a function of `occelo_linalg.functions` with the results of the op, for `written`.

    Fields of the op, and inputs by their positions, may be named in braces. None if there is no such call.
    """

    @property
    def label(self) -> str:
        """The name of the function that users call, for messages."""
        return type(self).__name__.lower()

    @property
    def core_op(self) -> MatrixOp:
        """The op itself: it takes a batch as it is."""
        return self

    def options(self) -> dict[str, Any]:
        """The options of the function's call in `formula`: by default, the fields that have not their default values."""
        own: Any = self
        fields = [f for f in dataclasses.fields(own) if f.default is not dataclasses.MISSING]
        values = {f.name: (getattr(self, f.name), f.default) for f in fields}
        return {name: value for name, (value, default) in values.items() if value != default}

    def written(self, node: AnyApply, operands: Sequence[Term]) -> Term | None:
        if self.formula is None:
            return None
        texts = [term.text for term in operands]
        options = "".join(f", {text}" for text in options_text(self.options()))
        names = {"label": self.label, "inputs": ", ".join(texts), "options": options}
        return Term("linalg." + self.formula.format(*texts, **{**(self.props() or {}), **names}))

    @abstractmethod
    def core(self, *arrays: Array) -> Array | tuple[Array, ...]:
        """Compute the results for one element of the batch, by NumPy or SciPy."""
        raise NotImplementedError

    def lengths(self, known: Mapping[str, Any]) -> Mapping[str, Any]:
        """The lengths of all dimensions of the results, by their names in the signature.

        ``known`` has the lengths of the dimensions of the arguments. A length is an integer, a scalar variable, or None
        if it is dynamic.
        """
        return known

    def dtypes(self, *types: TensorType) -> Sequence[str]:
        """The dtypes of the results. By default, all are the dtype of the arguments."""
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
        lengths = self.lengths(self._static_lengths([t.shape for t in types]))
        splits = [t.shape[: t.ndim - len(own)] for t, own in zip(types, names, strict=True)]
        batch = broadcast_static(splits, self.label) if any(splits) else ()
        dtypes = self.dtypes(*types)
        return tuple(
            TensorType(dtype, (*batch, *(lengths[d] for d in own)))
            for dtype, own in zip(dtypes, results, strict=True)
        )

    def _static_lengths(self, shapes: Sequence[StaticShape]) -> dict[str, int | None]:
        """The static length of each dimension in the signature, by name; None if it is dynamic.

        ValueError if the static lengths of a dimension differ.
        """
        names, _ = parse_signature(self.signature)
        lengths: dict[str, int | None] = {}
        for shape, own in zip(shapes, names, strict=True):
            for name, n in zip(own, shape[len(shape) - len(own) :], strict=True):
                before = lengths.get(name)
                if n is None or before == n:
                    lengths.setdefault(name, n)
                elif before is None:
                    lengths[name] = n
                else:
                    raise ValueError(self._mismatch(name, shapes))
        return lengths

    def _mismatch(self, name: str, shapes: Sequence[Sequence[Any]]) -> str:
        listed = " and ".join(shape_text(tuple(s)) for s in shapes)
        names, _ = parse_signature(self.signature)
        if any(own[:2] == (name, name) for own in names):
            return f"{self.label} needs square matrices that fit the other arguments, got {listed}"
        return f"{self.label}: the shapes {listed} do not fit {self.signature}"

    def infer_shape(self, node: TensorApply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        names, results = parse_signature(self.signature)
        types = [v.type for v in node.inputs]
        named: dict[str, Any] = {}
        batch: list[Any] = [1] * max(t.ndim - len(own) for t, own in zip(types, names, strict=True))
        for kind, own, shape in zip(types, names, input_shapes, strict=True):
            extra = kind.ndim - len(own)
            for i in range(extra):
                if kind.shape[i] != 1:
                    batch[len(batch) - extra + i] = shape[i]
            for name, static, n in zip(own, kind.shape[extra:], shape[extra:], strict=True):
                if static is not None or name not in named:
                    named[name] = n
        lengths = self.lengths(named)
        return [(*batch, *(lengths[d] for d in own)) for own in results]

    # running

    def kernel(self, node: TensorApply) -> Kernel:
        types = [v.type for v in node.inputs]

        def running(*arrays: Array) -> Sequence[Array]:
            self.check_shapes(types, [a.shape for a in arrays])
            return self._over_batch(arrays)

        return running

    def check_shapes(self, types: Sequence[TensorType], shapes: Sequence[tuple[int, ...]]) -> None:
        """Check shapes when the graph runs.

        ValueError if the shapes do not fit the signature, or if batch dimensions do not broadcast.
        """
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
            for result, value in zip(
                results, self._element([a[index] for a in whole], index), strict=True
            ):
                result[index] = value
        return results

    def _allocated(self, arrays: Sequence[Array], batch: tuple[int, ...]) -> list[Array]:
        types = [TensorType(a.dtype.name, a.shape) for a in arrays]
        kinds = self.infer_types(tuple(types))
        shapes = [tuple(0 if n is None else n for n in k.shape or ()) for k in kinds]
        return [np.empty(s, k.dtype) for s, k in zip(shapes, kinds, strict=True)]

    def _element(self, arrays: Sequence[Array], index: tuple[int, ...] | None) -> Sequence[Array]:
        """Call `core` for one element of the batch. ``index`` is its position, for messages."""
        try:
            results = self.core(*arrays)
        except LinAlgError as error:
            if getattr(self, "on_error", "raise") == "nan":
                lost = self._allocated(arrays, ())
                return [np.full_like(r, np.nan if r.dtype.kind in "fc" else 0) for r in lost]
            where = "" if index is None else f", at index {', '.join(map(str, index))} of the batch"
            raise LinAlgError(f"{self.label}: {error}{where}") from None
        return results if isinstance(results, tuple) else (results,)

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
        results: list[TensorVariable] = self(*aligned, return_list=True)
        return results

    def core_pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        """Compute the cotangents of the inputs, like `Op.pullback`.

        Unlike in `Op.pullback`, a cotangent may have more batch dimensions than its input. The caller sums over these.
        """
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
    """Convert a cotangent to the batch dimensions and the dtype of ``variable``.

    ``core`` is the number of dimensions that are not batch dimensions. Cotangents of integers stay floating-point
    numbers.
    """
    own = variable.type
    any_core = (None,) * core
    full = TensorType(ct.dtype, (*ct.type.shape[: ct.ndim - core], *any_core))
    target = TensorType(ct.dtype, (*own.shape[: own.ndim - core], *any_core))
    ct = unbroadcast(ct, full, target)
    if is_complex(ct.dtype) and not is_complex(own.dtype):
        ct = ct.real
    return ct if ct.dtype == own.dtype or is_discrete(own.dtype) else ct.astype(own.dtype)


def as_matrices(
    label: str, *arguments: Any, options: Mapping[str, Any] | None = None
) -> list[TensorVariable]:
    """Convert the arguments of the function with the name ``label`` to tensors of their common dtype.

    Integers and booleans become float64. ``options`` are those of SciPy that the user gave (`scipy_options`).

    TypeError for float16, since LAPACK has no routines for it.
    """
    tensors = [as_tensor_variable(a) for a in arguments]
    kinds = [np.float64 if is_discrete(v.dtype) else v.type.numpy_dtype for v in tensors]
    dtype = np.result_type(*kinds).name
    if dtype == "float16" or any(v.dtype == "float16" for v in tensors):
        raise TypeError(f"{label} does not take float16; cast to float32")
    converted = [cast(v, dtype) for v in tensors]
    return checked_options(label, options, converted) if options else converted


def several(label: str, name: str, value: Any, count: int, origin: str) -> Sequence[Any]:
    """The ``count`` parts of the argument ``name``, a list or tuple that ``origin`` describes. TypeError for another value."""
    if not is_list_or_tuple(value) or len(value) != count:
        raise TypeError(f"{name} of {label} is {origin}, got {value!r}")
    return value


def hermitian(x: Any) -> TensorVariable:
    """The conjugate transpose of the last two dimensions."""
    turned: TensorVariable = matrix_transpose(x)
    return turned.conj() if is_complex(turned.dtype) else turned


def if_square(label: str, x: Any, result: Any) -> Any:
    """``result``, with a run-time check that the matrices ``x`` are square, unless they are statically square.

    Decompositions and rules call it where no op checks that ``x`` is square. The check raises ValueError.
    """
    rows, columns = x.type.shape[-2:]
    if rows is not None and rows == columns:
        return result
    check = CheckAndRaise(ValueError, f"{label} needs square matrices")
    return check(result, eq(x.shape[-2], x.shape[-1]))


def check_on_error(on_error: str) -> str:
    """Return ``on_error``. ValueError unless it is "raise" or "nan"."""
    if on_error not in ON_ERROR:
        raise ValueError(f'on_error must be "raise" or "nan", got {on_error!r}')
    return on_error
