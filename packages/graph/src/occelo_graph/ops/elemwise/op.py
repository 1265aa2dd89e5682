"""`Elemwise`, the op that applies a scalar op to each element of tensors, and `elementwise`, which defines scalar ops.

`elementwise` makes all elementwise ops of this package except casts and fused ops. Users call it to define their own.
Other families call `broadcast_static` and `unbroadcast`, for ops that broadcast like `Elemwise`.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np

from occelo_graph.errors import (
    broadcasting_hint,
    explained,
    explained_by,
    hint_about,
    with_arguments,
)
from occelo_graph.extensions import place_of_definition
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import ZERO, Kernel, Op, op
from occelo_graph.ir.traits import EVERY, FIRST, trait
from occelo_graph.ir.traversal import ancestors
from occelo_graph.ir.types import NullType
from occelo_graph.narrowing import is_tuple
from occelo_graph.ops.arguments import refuse_out
from occelo_graph.ops.elemwise.named_inputs import SignatureOfInputs
from occelo_graph.ops.elemwise.scalar import DtypeRule, ScalarFunction, ScalarOp
from occelo_graph.tensors.constant import promote_arguments
from occelo_graph.tensors.nodes import tensors
from occelo_graph.tensors.type import (
    StaticShape,
    TensorType,
    is_complex,
    is_discrete,
    name_of,
    shape_text,
)
from occelo_graph.upward import cast_by

if TYPE_CHECKING:
    from typing import Unpack

    from occelo_graph.ops.elemwise.signatures import DerivativeOfTensors, ScalarTraits
    from occelo_graph.tensors.signatures import ArrayFunction
    from occelo_graph.tensors.variable import TensorVariable


def broadcast_static(shapes: Sequence[StaticShape], what: str) -> StaticShape:
    """The static shape to which tensors with the static shapes ``shapes`` broadcast.

    Only lengths that are statically 1 broadcast. ValueError if other static lengths differ. ``what`` is the name of the
    function in the message.
    """
    ndim = max(len(s) for s in shapes)
    result: list[int | None] = []
    for axis in range(-ndim, 0):
        lengths = {s[axis] for s in shapes if -axis <= len(s)} - {1}
        static = lengths - {None}
        if len(static) > 1:
            listed = " and ".join(shape_text(s) for s in shapes)
            raise explained(
                ValueError(
                    f"{what} cannot broadcast the shapes {listed}: "
                    f"dimension {ndim + axis} has lengths {' and '.join(str(n) for n in sorted(static, key=str))}"
                ),
                "lengths",
            )
        result.append(static.pop() if static else (None if lengths else 1))
    return tuple(result)


def unbroadcast(value: Any, full: TensorType, target: TensorType) -> Any:
    """Sum ``value`` over broadcast dimensions. This is the pullback of broadcasting.

    ``value`` is the cotangent of a tensor of type ``full``, which was made by broadcasting a tensor of type ``target``.
    The result has the shape of ``target``.
    """
    if full is target:
        return value
    lead = full.ndim - target.ndim
    axes = list(range(lead))
    stretched = [
        i
        for i, (own, out) in enumerate(zip(target.shape, full.shape[lead:], strict=True))
        if own == 1 and out != 1
    ]
    axes += [lead + i for i in stretched]
    if not axes:
        return value
    value = value.sum(axis=axes, dtype=value.dtype)
    if stretched:
        remaining = iter(range(value.ndim))
        order: list[Any] = ["x" if i in stretched else next(remaining) for i in range(target.ndim)]
        value = value.dimshuffle(order)
    return value


@op
class Elemwise(Op):
    """Applies ``scalar_op`` to each element of its inputs, with broadcasting.

    Only dimensions of static length 1 broadcast. A dynamic length does not broadcast: if it is 1 at run time and
    another input's length is not, running the node raises a ValueError. ``inplace`` is a sequence of pairs: the number
    of an output, and the number of the input that it overwrites.

    A call casts its inputs to ``dtype=``, as NumPy's ufuncs do, if ``casting=`` allows it ("same_kind").
    """

    scalar_op: ScalarOp
    inplace: tuple[tuple[int, int], ...] = ()

    elementwise: ClassVar[bool] = True
    plain_nodes: ClassVar[bool] = True
    __signature__: ClassVar[Any] = SignatureOfInputs()

    def __get__(self, owner: object, kind: object = None) -> Self:
        """The op itself. With this method, `help` shows an op like a function, with its signature."""
        return self

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        for name in ("evaluate", "kernel", "perform"):
            if name in cls.__dict__:
                raise TypeError(
                    f"{cls.__name__} may not define {name}: what is computed for each element is the scalar op of an "
                    "Elemwise; see `elementwise`"
                )

    @trait
    def commutative(self) -> bool:
        return self.scalar_op.commutative and not self.inplace

    @trait
    def arithmetic(self) -> bool:
        return self.scalar_op.arithmetic

    @trait
    def moves(self) -> slice | None:
        return self.scalar_op.moves

    def linear_in(self, node: Apply) -> Sequence[slice]:
        linear = self.scalar_op.linear
        if linear == "all":
            return (EVERY,)
        if linear == "first":
            return (FIRST,)
        if linear == "each":
            return tuple(slice(i, i + 1) for i in range(len(node.inputs)))
        return super().linear_in(node)

    def may_fail(self, node: Apply) -> bool:
        return self.scalar_op.external_code

    @property
    def external_code(self) -> bool:
        return self.scalar_op.external_code

    @property
    def rule_keys(self) -> tuple[Any, ...]:
        return Elemwise, self.scalar_op

    @trait
    def destroy_map(self) -> Mapping[int, Sequence[int]]:
        return {out: [inp] for out, inp in self.inplace}

    def make_node(self, *inputs: Any) -> Apply:
        nin = self.scalar_op.nin
        if nin is not None:
            if len(inputs) != nin:
                text = f"{self} takes {nin} argument{'s' * (nin != 1)}, got {len(inputs)}"
                if inputs and (inputs[-1] is None or isinstance(inputs[-1], np.ndarray)):
                    text += hint_about("parameters", self, "out") if len(inputs) == nin + 1 else ""
                raise explained(TypeError(text), "arguments")
        elif (
            len(inputs) > 2 and str(self.scalar_op) != "mul"
        ):  # NumPy has no function of the name mul
            refuse_out(str(self.scalar_op), inputs)
        if not inputs:
            raise explained(TypeError(f"{self} takes at least one argument"), "arguments")
        variables = promote_arguments(inputs, self._beyond)
        try:
            types = self.infer_types(tuple([v.type for v in variables]))
        except (TypeError, ValueError) as error:
            raise with_arguments(error, variables) from None
        return Apply.of_types(self, variables, types)

    def converted(self, inputs: Sequence[Any], options: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs, cast to the dtype of ``dtype=`` by the rule ``casting=`` as by NumPy's ufuncs; see `cast_by`.

        TypeError for other ``options``, and if the result of arguments of this dtype has another one.
        """
        lacking = {name: v for name, v in options.items() if name not in ("dtype", "casting")}
        if lacking:
            return super().converted(inputs, lacking)
        dtype, casting = options.get("dtype"), options.get("casting", "same_kind")
        if dtype is None:
            cast_by(None, casting, inputs)
            return tuple(inputs)
        target = TensorType(dtype, ()).dtype
        if self._dtype_of(inputs) == target:
            return tuple(inputs)
        cast = cast_by(target, casting, inputs)
        actual = self._dtype_of(cast)
        if actual != target:
            text = f"dtype={target} is not for {self}, which gives {actual or 'no result'} for it"
            raise explained(TypeError(f"{text}; write {self}(...).astype({target!r})"), "arguments")
        return tuple(cast)

    def _dtype_of(self, inputs: Sequence[Any]) -> str | None:
        """The dtype of the result, or None if the inputs are not of dtypes that the op takes."""
        with contextlib.suppress(TypeError, OverflowError):
            plain = promote_arguments(inputs, self._beyond)
            return self.infer_types(tuple([v.type for v in plain]))[0].dtype
        return None

    def _beyond(self, value: int, dtypes: Sequence[str]) -> tuple[float, str] | None:
        """What takes the place of a Python integer that does not fit the dtype of integers, as in NumPy."""
        if self.scalar_op.compares:
            return (np.inf if value > 0 else -np.inf), "float32"
        dtype = self.scalar_op.computed_in(dtypes)
        return None if dtype is None else (value, dtype)

    def infer(self, *types: TensorType) -> tuple[TensorType, ...]:
        shape = broadcast_static([t.shape for t in types], str(self.scalar_op))
        try:
            dtypes = self.scalar_op.output_dtypes([t.dtype for t in types])
        except TypeError as error:
            listed = ", ".join(t.dtype for t in types)
            raise TypeError(
                f"{self.scalar_op} is not defined for dtypes {listed}: {str(error).rstrip('.')}"
            ) from None
        return tuple(TensorType(dtype, shape) for dtype in dtypes)

    def evaluate(self, *arrays: Any) -> Any:
        result = self.scalar_op.evaluate(*arrays)
        return tuple(map(np.asarray, result)) if is_tuple(result) else np.asarray(result)

    @property
    def has_decompose(self) -> bool:
        return super().has_decompose and self.scalar_op.is_formula

    def decompose(self, *inputs: Any) -> Sequence[Any] | None:
        terms = self.scalar_op.composed(inputs)
        if terms is None:
            return None
        dtypes = self.scalar_op.output_dtypes([v.type.dtype for v in inputs])
        cast = [v if v.type.dtype == d else v.astype(d) for v, d in zip(terms, dtypes, strict=True)]
        return [_filled(v, inputs) for v in cast]

    def kernel(self, node: Apply) -> Kernel:
        scalar_op = self.scalar_op
        evaluate = scalar_op.evaluate
        if isinstance(scalar_op, ScalarFunction) and (scalar_op.arity or len(node.inputs) == 2):
            evaluate = scalar_op.function
        if scalar_op.external_code and scalar_op.nout == 1:
            # for users' code only
            from occelo_graph.ops.elemwise.declared import with_shape_checked

            evaluate = with_shape_checked(str(scalar_op), evaluate)
        dtypes = [out.type.numpy_dtype for out in node.outputs if isinstance(out.type, TensorType)]
        check = _run_time_check(node)
        inplace = self.inplace

        if len(dtypes) == 1 and not inplace:
            dtype = dtypes[0]

            def running_one(*arrays: Any) -> Sequence[Any]:
                if check is not None:
                    check(arrays)
                result = evaluate(*arrays)
                if type(result) is np.ndarray and result.dtype == dtype:
                    return (result,)
                return (np.asarray(result, dtype=dtype),)

            return running_one

        def running(*arrays: Any) -> Sequence[Any]:
            if check is not None:
                check(arrays)
            result = evaluate(*arrays)
            results: Sequence[Any] = result if len(dtypes) > 1 else (result,)
            converted = [np.asarray(r, dtype=d) for r, d in zip(results, dtypes, strict=True)]
            for out, inp in inplace:
                arrays[inp][...] = converted[out]
                converted[out] = arrays[inp]
            return converted

        return running

    def pull(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        cotangents: Sequence[Any],
        wanted: Sequence[bool],
    ) -> Sequence[Any]:
        if len(outputs) != 1:
            return self._pull_several(inputs, outputs, cotangents)
        out = outputs[0]
        ct = cotangents[0]
        full = out.type
        if full.is_discrete or ct is ZERO:
            return [ZERO] * len(inputs)
        has_complex = full.is_complex
        for v in inputs:
            has_complex = has_complex or v.type.is_complex
        if has_complex:
            terms = self._complex_terms(_in_dtype_of(out, inputs), out, ct, wanted)
        else:
            derivatives = self.scalar_op.derivatives(len(inputs))
            converted = _in_dtype_of(out, inputs)
            terms = [
                None if not want else ZERO if d is None else d(ct, *converted, out)
                for d, want in zip(derivatives, wanted, strict=True)
            ]
        return [
            term if term is None or term is ZERO else _fit_cotangent(term, full, v.type)
            for term, v in zip(terms, inputs, strict=True)
        ]

    def _pull_several(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        pull = getattr(self.scalar_op, "pull", None)
        if pull is None:
            raise NotImplementedError(f"{self} has several outputs and no derivative")
        terms = pull(inputs, [None if ct is ZERO else ct for ct in cotangents])
        full = outputs[0].type
        return [
            ZERO if term is None else _fit_cotangent(term, full, v.type)
            for term, v in zip(terms, inputs, strict=True)
        ]

    def _complex_terms(
        self, inputs: Sequence[Any], out: Any, ct: Any, wanted: Sequence[bool]
    ) -> list[Any]:
        # The cotangent of a complex variable is dL/d(re) + i dL/d(im). For a holomorphic function, the derivative, a
        # linear map, is applied to the conjugate of the cotangent, and its result is conjugated (Wirtinger calculus).
        scalar_op = self.scalar_op
        own = scalar_op.complex_pullback
        if own is not None:
            return [
                d(ct, *inputs, out) if d is not None and want else None
                for d, want in zip(own, wanted, strict=True)
            ]
        _require_holomorphic(scalar_op)
        turned = ct.conj() if is_complex(ct.type.dtype) else ct
        terms: list[Any] = []
        for d, want in zip(scalar_op.derivatives(len(inputs)), wanted, strict=True):
            if not want:
                terms.append(None)
            elif d is None:
                terms.append(ZERO)
            else:
                term = d(turned, *inputs, out)
                terms.append(term.conj() if is_complex(term.type.dtype) else term)
        return terms

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Sequence[Any]:
        return Elemwise.pull(self, inputs, outputs, cotangents, [True] * len(inputs))

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> Sequence[Any]:
        out = outputs[0]
        if is_discrete(out.type.dtype):
            return [ZERO]
        total: Any = None
        converted = _in_dtype_of(out, inputs)
        if is_complex(out.type.dtype) or any(is_complex(v.type.dtype) for v in inputs):
            if self.scalar_op.complex_pullback is not None:
                return [self._complex_tangent(converted, out, tangents)]
            _require_holomorphic(self.scalar_op)
        for d, tangent in zip(self.scalar_op.derivatives(len(inputs)), tangents, strict=True):
            # the tangent of a truth value is False everywhere, which has no negative
            if tangent is None or tangent is ZERO or d is None or tangent.type.dtype == "bool":
                continue
            term = d(tangent, *converted, out)
            if isinstance(term.type, NullType):
                return [term]
            total = term if total is None else total + term
        if total is None:
            return [ZERO]
        if total.type.dtype != out.type.dtype:
            total = total.astype(out.type.dtype)
        if total.type.ndim != out.type.ndim or total.type.broadcastable != out.type.broadcastable:
            total = Elemwise(ScalarFunction("second"))(out, total)
        return [total]

    def _complex_tangent(self, inputs: Sequence[Any], out: Any, tangents: Sequence[Any]) -> Any:
        """The tangent of a function that is not holomorphic, computed from its ``complex_pullback``.

        The real part of the tangent is the inner product of the inputs' tangents with the pullback of 1. The imaginary
        part is the inner product with the pullback of i.
        """
        real, joined = Elemwise(ScalarFunction("real")), Elemwise(ScalarFunction("complex"))
        pullbacks = self.scalar_op.complex_pullback or ()
        live = [t is not None and t is not ZERO for t in tangents]
        parts: list[Any] = []
        for unit in (1.0, 1.0j) if is_complex(out.type.dtype) else (1.0,):
            ct = Elemwise(ScalarFunction("second"))(out, np.asarray(unit, out.type.dtype))
            terms = [
                real(d(ct, *inputs, out).conj() * t)
                for d, t, want in zip(pullbacks, tangents, live, strict=True)
                if want and d is not None
            ]
            if not terms:
                return ZERO
            parts.append(Elemwise(ScalarFunction("add"))(*terms) if len(terms) > 1 else terms[0])
        tangent: Any = joined(*parts) if len(parts) > 1 else parts[0]
        return tangent if tangent.type.dtype == out.type.dtype else tangent.astype(out.type.dtype)

    def known_integers(self, node: Apply, of: Callable[[Any], Any]) -> Any:
        """The number, or for each element of a vector the number or None.

        An element is known if those of all inputs are.
        """
        kinds = [v.type for v in tensors((*node.inputs, *node.outputs))]
        if len(node.outputs) > 1 or any(t.ndim > 1 or not is_discrete(t.dtype) for t in kinds):
            return None
        length = kinds[-1].shape[0] if kinds[-1].ndim else 1
        if length is None:
            return None
        rows: list[Any] = []
        for variable in node.inputs:
            integers = of(variable)
            if integers is None:
                return None
            row = integers if is_tuple(integers) else (integers,)
            rows.append(row * length if len(row) == 1 else row)
        if any(len(row) != length for row in rows):
            return None
        places = [i for i in range(length) if all(row[i] is not None for row in rows)]
        arrays = [
            np.array([row[i] for i in places], kind.dtype)
            for row, kind in zip(rows, kinds, strict=False)
        ]
        try:
            with np.errstate(all="ignore"):
                computed = self.evaluate(*arrays)
        except Exception:
            return None  # running the node will raise the error
        values = dict(zip(places, map(int, computed), strict=True))
        every = tuple(values.get(i) for i in range(length))
        return every if kinds[-1].ndim else every[0]

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        out = tensors(node.outputs)[0].type
        shape: list[Any] = [1] * out.ndim
        for var, lengths in zip(tensors(node.inputs), input_shapes, strict=True):
            lead = out.ndim - var.type.ndim
            for i, (static, length) in enumerate(zip(var.type.shape, lengths, strict=True)):
                if static != 1 and (shape[lead + i] == 1 or isinstance(length, int)):
                    shape[lead + i] = length
        return [tuple(shape)] * len(node.outputs)

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        core = max(v.type.ndim for v in tensors(node.inputs))
        aligned: list[Any] = []
        for old, new, extra in zip(tensors(node.inputs), inputs, batch_ndims, strict=True):
            missing = core - old.type.ndim
            if extra and missing:
                order: list[Any] = [*range(extra), *["x"] * missing, *range(extra, new.type.ndim)]
                new = new.dimshuffle(order)
            aligned.append(new)
        return self.make_node(*aligned).outputs

    def inplace_on_inputs(self, input_indices: Sequence[int]) -> Elemwise:
        return Elemwise(self.scalar_op, ((0, input_indices[0]),))

    if TYPE_CHECKING:

        def __call__(
            self,
            *inputs: Any,
            name: str | None = None,
            return_list: bool = False,
            dtype: Any = None,
            casting: str = "same_kind",
            **unknown: Any,
        ) -> TensorVariable: ...

    def __str__(self) -> str:
        suffix = "_inplace" if self.inplace else ""
        return f"{self.scalar_op}{suffix}"


def _in_dtype_of(out: Any, inputs: Sequence[Any]) -> Sequence[Any]:
    """Cast the inputs to the precision of the output, so that derivatives are computed in this precision.

    For instance, if x is int8, the derivative 2 x would wrap around, and log(x) would be computed in float16. Booleans
    are not cast. If the output is real and an input is complex, no inputs are cast.
    """
    dtype = out.type.dtype
    for v in inputs:
        if v.type.dtype != dtype:
            break
    else:
        return inputs
    if not is_complex(dtype) and any(is_complex(v.type.dtype) for v in inputs):
        return inputs
    real = name_of(out.type.numpy_dtype.type(0).real.dtype)
    dtypes = [dtype if is_complex(v.type.dtype) else real for v in inputs]
    return [
        v if v.type.dtype in (d, "bool") else v.astype(d)
        for v, d in zip(inputs, dtypes, strict=True)
    ]


def _fit_cotangent(term: Any, full: TensorType, target: TensorType) -> Any:
    if isinstance(term.type, NullType):
        return term
    if full is not target:
        term = unbroadcast(term, full, target)
    if term.type is target:
        return term
    if term.type.is_complex and not target.is_complex:
        term = term.real
    if not target.is_discrete and term.type.dtype != target.dtype:
        term = term.astype(target.dtype)
    return term


def _filled(value: Any, inputs: Sequence[Any]) -> Any:
    """Broadcast ``value``, a composed output, to the shape of all inputs, even of inputs that it does not depend on.

    If ``value`` is one of the inputs, it is copied.
    """
    reached = set(ancestors([value], inputs))
    alone = any(value is v for v in inputs)  # a result must have its own memory
    for v in inputs:
        if alone or v not in reached:
            value = Elemwise(ScalarFunction("second"))(v, value)
    return value


def _run_time_check(node: Apply) -> Callable[[Sequence[Any]], None] | None:
    """A function that checks at run time that dynamic lengths are equal. None if there are no lengths to check."""
    types = [v.type for v in node.inputs]
    ndim = max(t.ndim for t in types if isinstance(t, TensorType))
    groups: list[list[tuple[int, int]]] = []
    for axis in range(-ndim, 0):
        group = [
            (i, axis)
            for i, t in enumerate(types)
            if isinstance(t, TensorType) and -axis <= t.ndim and t.shape[axis] != 1
        ]
        statics = {t.shape[axis] for i, _ in group if isinstance(t := types[i], TensorType)}
        if len(group) > 1 and (len(statics) > 1 or None in statics):
            groups.append(group)
    if not groups:
        return None

    def check(arrays: Sequence[Any]) -> None:
        for group in groups:
            first = arrays[group[0][0]].shape[group[0][1]]
            for i, axis in group[1:]:
                if arrays[i].shape[axis] != first:
                    _raise_mismatch(node, arrays, ndim + axis)

    return check


def _raise_mismatch(node: Apply, arrays: Sequence[Any], axis: int) -> None:
    listed = ", ".join(
        f"{v.name or f'input {i}'} {a.shape}"
        for i, (v, a) in enumerate(zip(node.inputs, arrays, strict=True))
    )
    ndim = max(a.ndim for a in arrays)
    lengths = [a.shape[axis - ndim] for a in arrays if a.ndim >= ndim - axis]
    hint = broadcasting_hint(*lengths)
    raise ValueError(f"Input dimension mismatch in dimension {axis}: {listed}{hint}")


def _require_holomorphic(function: ScalarOp) -> None:
    if function.holomorphic is None:
        raise NotImplementedError(
            f"{function} has no derivative for complex tensors: it does not declare the trait holomorphic, or complex_pullback"
        )
    if not function.holomorphic:
        raise NotImplementedError(f"{function} has no derivative for complex tensors")


@explained_by("arguments")
def elementwise(
    name: str,
    nin: int | None,
    rule: DtypeRule,
    function: ArrayFunction | None,
    partials: Sequence[DerivativeOfTensors] = (),
    doc: str = "",
    **options: Unpack[ScalarTraits],
) -> Elemwise:
    """Define a scalar op, and return the `Elemwise` that applies it: ``exp = elementwise("exp", 1, ...)``.

    ``name`` is the name of the scalar op, and ``nin`` is its number of inputs (None for any number). ``rule`` maps the
    dtypes of the inputs to the dtype of the result. ``function`` is NumPy code, which is called with arrays that
    broadcast. If it is None, the option ``formula`` is evaluated instead (TypeError without a formula).

    ``partials`` is a list with a derivative for each input. A derivative is a function ``(cotangent, *inputs, output)``
    that returns the cotangent of the input; None means that the derivative is 0. If ``partials`` is empty,
    differentiation raises an exception. If ``nin`` is None, the option ``partial_at`` maps the position of an input to
    its derivative. ``doc`` is the docstring. Other ``options`` are traits; see `ScalarOp`.

    ValueError if the name is taken by a scalar op that was defined at another place. If it was defined at the same
    place, such as a cell of a notebook that runs again, it is replaced. Earlier graphs and compiled functions keep the
    earlier scalar op. ValueError if an option has a value that is not allowed, if the NumPy code contradicts a trait
    for some sample numbers, or if it overwrites its arguments.
    """
    place = place_of_definition()
    if place is not None:
        from occelo_graph.ops.elemwise import declared  # for definitions of users only

        declared.check_definition(name, rule, options)
        declared.check_options(name, nin, partials, options)
        if function is not None:
            declared.check_traits(name, nin, rule, function, options)
            declared.check_arguments_kept(name, nin, function)
    ScalarFunction.rename_earlier(name, place)
    scalar_op = ScalarFunction(name, nin, rule, function, partials, doc=doc, **options)
    scalar_op.place = place
    op = Elemwise(scalar_op)
    op.__dict__["__doc__"] = inspect.cleandoc(doc) if doc else f"{name}, element by element."
    op.__dict__["__name__"] = name
    return op
