"""`RandomVariable`: the base class of ops that draw with one of NumPy's generators.

`generator_distributions` has one subclass for each distribution, and users may write subclasses. The inputs of a node are a generator,
the size and the parameters. The outputs are the generator after the draw, and the draw. The op copies the generator and
does not change it, so it is a pure function.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import MethodNotDefined
from occelo_graph.ir.known_values import known_integers
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import Cotangents, Kernel, Op
from occelo_graph.ir.traits import EVERY, trait
from occelo_graph.ir.types import NoneTypeT, Type, none_type
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.batching import batch_shape, parse_signature
from occelo_graph.ops.cast import cast
from occelo_graph.ops.join import make_vector
from occelo_graph.ops.length_inputs import get_vector_length, lengths_of, wrong_shape
from occelo_graph.ops.shape.broadcasting import broadcast_lengths
from occelo_graph.ops.shape.dimensions import expand_dims
from occelo_graph.tensors.constant import as_tensor_variable, constant
from occelo_graph.tensors.nodes import Tensors
from occelo_graph.tensors.type import StaticShape, TensorType, is_discrete, shape_text
from occelo_random.ops.generator_type import RandomGeneratorType, copied, unseeded


def normalize_size_param(size: Any) -> Variable:
    """Convert a size to an input of a `RandomVariable`: a constant None, or an int64 vector of static length.

    ``size`` is None, an integer, a sequence of integers or integer scalars, or a vector variable. TypeError for other
    values, ValueError if the length of the vector is dynamic.
    """
    if size is None or (isinstance(size, Variable) and isinstance(size.type, NoneTypeT)):
        return none_type.make_constant(None) if size is None else size
    if isinstance(size, Variable) and size.type.ndim == 1:
        get_vector_length(size)
        if not is_discrete(size.type.dtype or "") or size.type.dtype == "bool":
            raise TypeError(f"A size consists of integers, got {size} of type {size.type}")
        return cast(size, "int64")
    lengths = lengths_of(size)
    if all(isinstance(n, int) for n in lengths):
        return constant(np.array(lengths, "int64"))
    return make_vector(*(cast(as_tensor_variable(n), "int64") for n in lengths))


class RandomVariable(Op):
    """Base class of ops that draw from a distribution with one of NumPy's generators.

    A subclass defines its distribution by these class attributes:

    - ``name``: the name in printed graphs and messages.
    - ``signature``: the dimensions of the parameters and of one draw, in the notation of `numpy.vectorize`. For
      instance, "(),()->()" is a distribution of numbers with two parameters, and "(n),(n,n)->(n)" is a distribution of vectors.
    - ``dtype``: the dtype of the draw. "floatX" is the option of this name. The argument ``dtype`` of a call replaces it.
    - ``rng_fn(rng, *parameters, size)``: a method or class method that draws. The parameters are arrays, and ``size`` is
      None or a tuple. It raises ValueError if parameters are invalid. By default it is the method of NumPy's generator
      that is called ``name``.
    - ``parameters``: the names of the parameters and their defaults; ``...`` means no default. Without this attribute,
      parameters are positional.
    - ``one_batch``: whether ``rng_fn`` accepts batches of parameters. If not, it is called for each element of a batch.
    - ``_supp_shape_from_params(parameters, shapes)``: a method that returns the lengths of the dimensions of one draw. It
      is needed if a draw has a dimension that no parameter has.
    - ``_print_name``: the name as plain text and in LaTeX.

    Instead of ``signature``, ``ndim_supp`` and ``ndims_params`` may give the numbers of dimensions of a draw and of each
    parameter. An instance is called with parameters and ``rng=``, and returns the draw. ``inplace`` says that a call may
    change its generator.
    """

    name: str = ""
    signature: str = ""
    dtype: str = "floatX"
    parameters: ClassVar[Mapping[str, Any]] = {}
    one_batch: ClassVar[bool] = True
    # the static shape of the draw depends on the value of the size
    plain_nodes: ClassVar[bool] = False
    types_follow_values: ClassVar[bool] = True
    default_output: ClassVar[int | None] = 1
    _print_name: tuple[str, str] | None = None
    __props__: ClassVar[tuple[str, ...]] = ("name", "signature", "dtype", "inplace")

    def __init__(
        self,
        name: str | None = None,
        signature: str | None = None,
        dtype: str | None = None,
        inplace: bool = False,
    ) -> None:
        for field, setting in (("name", name), ("signature", signature), ("dtype", dtype)):
            setattr(self, field, getattr(type(self), field) if setting is None else setting)
        self.inplace = inplace
        self.signature = self.signature or _signature_of(type(self))
        parameters, draws = parse_signature(self.signature)
        if len(draws) != 1:
            raise ValueError(
                f"A random variable has one draw, and {self.signature!r} has {len(draws)}"
            )
        self._parameters, self._draw = parameters, draws[0]

    # the attributes that define a distribution

    @abstractmethod  # what subclasses have in its place changes nothing else of the op
    def rng_fn(self, *arguments: Any, **_: Any) -> Any:
        """Draw, by NumPy. The arguments are a generator, the parameters, and the size, which is None or a tuple.

        By default the method of the generator draws that has the name of the distribution.
        """
        rng, *rest = arguments
        draw = getattr(rng, self.name, None)
        if draw is None:
            raise MethodNotDefined(
                f"{type(self).__name__} defines no rng_fn, and NumPy's generators have no {self.name}"
            )
        return draw(*rest)

    @abstractmethod
    def _supp_shape_from_params(self, parameters: Sequence[Any], shapes: Sequence[Any]) -> Any:
        """The lengths of the dimensions of one draw. ``shapes`` are the shapes of the parameters, which are variables."""
        lengths = {
            name: shape[len(shape) - len(names) + i]
            for names, shape in zip(self._parameters, shapes, strict=True)
            for i, name in enumerate(names)
        }
        missing = [name for name in self._draw if name not in lengths]
        if missing:
            raise MethodNotDefined(
                f"{type(self).__name__} must define _supp_shape_from_params: no parameter has the dimension {missing[0]}"
            )
        return [lengths[name] for name in self._draw]

    # names

    @property
    def ndim_supp(self) -> int:
        """The number of dimensions of one draw: 0 for a distribution of numbers, 1 for a distribution of vectors."""
        return len(self._draw)

    @property
    def ndims_params(self) -> tuple[int, ...]:
        """The number of dimensions that each parameter has for one draw."""
        return tuple(len(names) for names in self._parameters)

    def __str__(self) -> str:
        changed = ", inplace" if self.inplace else ""
        return f"{self.name or type(self).__name__}_rv{{{self.signature}, {self.dtype}{changed}}}"

    def rng_param(self, node: Apply) -> Variable:
        """The input of ``node`` that is the generator."""
        return node.inputs[0]

    def size_param(self, node: Apply) -> Variable:
        """The input of ``node`` that is the size: a constant None or an int64 vector."""
        return node.inputs[1]

    def dist_params(self, node: Apply) -> Sequence[Variable]:
        """The inputs of ``node`` that are the parameters."""
        return node.inputs[2:]

    def batch_ndim(self, node: Apply) -> int:
        """The number of dimensions of the draw of ``node`` in front of those of one draw."""
        return (node.outputs[1].type.ndim or 0) - self.ndim_supp

    def update(self, node: Apply) -> dict[Variable, Variable]:
        """The generator after the draw, by the generator that ``node`` draws with."""
        return {node.inputs[0]: node.outputs[0]}

    # application

    def __call__(
        self,
        *parameters: Any,
        size: Any = None,
        rng: Any = None,
        dtype: str | None = None,
        name: str | None = None,
        return_list: bool = False,
        return_next_rng: bool = False,
        **unknown: Any,
    ) -> Any:
        """Draw with ``rng``. Returns the draw.

        Parameters are given by position or name, and the size may follow them by position. If ``size`` is None, the
        shape of the draw is the shape to which the parameters broadcast. Else the parameters are broadcast to ``size``.
        ``name`` becomes the name of the draw. With ``return_next_rng=True``, the result is a list of two variables: the
        generator after the draw, and the draw. Without ``rng`` the draw has a generator of its own with an unknown seed,
        and there is a warning.
        """
        arguments = list(parameters)
        if len(arguments) == len(self._parameters) + 1 and size is None:
            size = arguments.pop()
        for each, default in list(self.parameters.items())[len(arguments) :]:
            arguments.append(unknown.pop(each, default))
            if arguments[-1] is ...:
                raise TypeError(f"{self.name} needs the parameter {each}")
        if unknown:
            raise TypeError(f"{self.name} has no parameter named {' or '.join(unknown)}")
        if rng is None:
            rng = unseeded(f"{self.name} got no generator as rng=")
        declared = self.dtype if dtype is None else dtype
        concrete = TensorType(FLOAT_X.get() if declared == "floatX" else declared, ()).dtype
        drawing = self if concrete == self.dtype else self.changed(dtype=concrete)
        node = Op.make_node(drawing, rng, size, *arguments)
        if name is not None:
            node.outputs[1].name = name
        return list(node.outputs) if return_next_rng or return_list else node.outputs[1]

    def changed(self, **fields: Any) -> Any:
        """A copy of the op with other values of the attributes ``fields``, such as ``dtype`` or ``inplace``."""
        return type(self)(**{**(self.props() or {}), **fields})

    def as_variable(self, value: Any, position: int) -> Variable:
        if position == 0:
            if not isinstance(value, Variable):
                raise TypeError(
                    f"The generator of a draw is a variable, made by shared_rng() or rng(), got {value!r}"
                )
            return value
        return normalize_size_param(value) if position == 1 else as_tensor_variable(value)

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Any, ...]:
        generator, draw = super().types_for(inputs)
        if isinstance(inputs[1].type, NoneTypeT):
            return generator, draw
        batch = known_integers(inputs[1])
        if batch is None:
            return generator, draw
        self._check_size(batch, inputs[2:])
        static: StaticShape = draw.shape or ()
        return generator, TensorType(self.dtype, (*batch, *static[len(batch) :]))

    def _check_size(self, size: Sequence[int | None], parameters: Sequence[Variable]) -> None:
        for n in size:
            if n is not None and n < 0:
                raise ValueError(f"The size of a draw has negative lengths: {tuple(size)}")
        for variable, core in zip(parameters, self.ndims_params, strict=True):
            whole: StaticShape = variable.type.shape or ()
            shape = whole[: len(whole) - core]
            pairs = zip(reversed(shape), reversed(size), strict=False)
            if any(None not in (n, m) and n not in (1, m) for n, m in pairs):
                raise ValueError(
                    f"The draw has the size {shape_text(tuple(size))}, to which a parameter of shape {shape_text(shape)} does not broadcast"
                )

    def infer(self, *types: Any) -> Any:
        if len(types) != len(self._parameters) + 2:
            raise TypeError(
                f"{self.name} takes {len(self._parameters)} parameters, got {len(types) - 2}"
            )
        generator, size, *parameters = types
        if not isinstance(generator, RandomGeneratorType):
            raise TypeError(f"The first input of {self.name} is a generator, got {generator}")
        batches: list[StaticShape] = []
        for i, (kind, core) in enumerate(zip(parameters, self.ndims_params, strict=True)):
            if not isinstance(kind, TensorType) or kind.ndim < core:
                raise TypeError(
                    f"Parameter {i} of {self.name} has at least {core} dimensions, got {kind}"
                )
            batches.append(kind.shape[: kind.ndim - core])
        if isinstance(size, NoneTypeT):
            batch = _broadcast_static(batches)
        else:
            batch = (None,) * _length(size)
            most = max((len(each) for each in batches), default=0)
            if most > len(batch):
                raise ValueError(
                    f"The size of a draw has {len(batch)} lengths, and a parameter of {self.name} has {most} dimensions of a batch"
                )
        return generator, TensorType(self.dtype, (*batch, *self._core_static(parameters)))

    def _core_static(self, parameters: Sequence[TensorType]) -> StaticShape:
        lengths: dict[str, int | None] = {}
        for names, kind in zip(self._parameters, parameters, strict=True):
            for name, n in zip(names, kind.shape[kind.ndim - len(names) :], strict=True):
                if None not in (n, lengths.get(name)) and n != lengths[name]:
                    raise ValueError(
                        f"The dimension {name} of the parameters of {self.name} has the lengths {lengths[name]} and {n}"
                    )
                lengths[name] = lengths.get(name) if n is None else n
        return tuple(lengths.get(name) for name in self._draw)

    # running

    @trait
    def destroy_map(self) -> Mapping[int, Sequence[int]]:
        return {0: [0]} if self.inplace else {}

    def with_inplace(self) -> Op:
        """The same op with ``inplace=True``, which changes its input generator instead of a copy."""
        op: Op = self.changed(inplace=True)
        return op

    def inplace_on_inputs(self, input_indices: Sequence[int]) -> Op:
        return self.with_inplace()

    def evaluate(self, rng: Any, size: Any, *parameters: Any) -> Any:
        own = rng if self.inplace else copied(rng)
        return own, self.drawn(own, None if size is None else tuple(size.tolist()), parameters)

    def kernel(self, node: Apply) -> Kernel:
        static: StaticShape = node.outputs[1].type.shape or ()

        def drawing(*arguments: Any) -> Sequence[Any]:
            results = self.evaluate(*arguments)
            shape = results[1].shape
            if len(shape) != len(static) or any(
                n not in (None, m) for n, m in zip(static, shape, strict=True)
            ):
                raise ValueError(wrong_shape(f"the draw of {self.name}", shape, static))
            return results

        return drawing

    def drawn(self, rng: Any, size: Any, parameters: Sequence[Any]) -> Any:
        """Draw an array of the op's dtype by `rng_fn`. This changes ``rng``."""
        batch = [
            p.shape[: p.ndim - core] for p, core in zip(parameters, self.ndims_params, strict=True)
        ]
        if self.one_batch or not any(batch):
            return np.asarray(self.rng_fn(rng, *parameters, size), self.dtype)
        shape = np.broadcast_shapes(*batch) if size is None else size
        whole = [
            np.broadcast_to(p, (*shape, *p.shape[p.ndim - core :]))
            for p, core in zip(parameters, self.ndims_params, strict=True)
        ]
        draws = [self.rng_fn(rng, *(p[at] for p in whole), None) for at in np.ndindex(*shape)]
        core_shape = np.shape(draws[0]) if draws else self._empty_core(parameters)
        return np.asarray(draws, self.dtype).reshape(*shape, *core_shape)

    def _empty_core(self, parameters: Sequence[Any]) -> tuple[int, ...]:
        """The shape of one draw if a batch has no elements. Dimensions that no parameter has get the length 0."""
        lengths: dict[str, int] = {}
        for p, names in zip(parameters, self._parameters, strict=True):
            lengths.update(zip(names, p.shape[p.ndim - len(names) :], strict=True))
        return tuple(lengths.get(name, 0) for name in self._draw)

    def do_constant_folding(self, fgraph: Any, node: Apply) -> bool:
        return False  # the constant would be as large as the draw

    def static_inputs(self, node: Apply) -> Sequence[int]:
        return () if isinstance(node.inputs[1].type, NoneTypeT) else (1,)

    # shapes, batches and derivatives

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        size, shapes = node.inputs[1], input_shapes[2:]
        if isinstance(size.type, NoneTypeT):
            ends = zip(shapes, self.ndims_params, strict=True)
            batch = broadcast_lengths([tuple(s[: len(s) - core]) for s, core in ends])
        else:
            batch = _elements(size) or lengths_of(size)
        core = self._supp_shape_from_params(node.inputs[2:], shapes) if self.ndim_supp else ()
        return [None, (*batch, *core)]

    def batch(
        self, node: Apply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        rng, size, *parameters = inputs
        extra = list(batch_ndims[2:])
        if batch_ndims[0] or batch_ndims[1]:
            raise NotImplementedError(
                f"{self.name} draws a batch with one generator and for one size; draw by keys for a batch of states"
            )
        cores = zip(node.inputs[2:], self.ndims_params, strict=True)
        own = [(v.type.ndim or 0) - core for v, core in cores]
        sized = not isinstance(size.type, NoneTypeT)
        inner = _length(size.type) if sized else max(own, default=0)
        if sized and max(extra, default=0):
            size = normalize_size_param([*batch_shape(parameters, extra), *lengths_of(size)])
        # batch dimensions come first; a parameter with fewer dimensions than others gets dimensions of length 1 after
        # them
        aligned = [
            expand_dims(p, tuple(range(b, b + inner - n))) if b else p
            for p, b, n in zip(parameters, extra, own, strict=True)
        ]
        return self.make_node(rng, size, *aligned).outputs

    def connection_pattern(self, node: Apply) -> list[list[bool]]:
        continuous = not is_discrete(self.dtype)
        return [[False, False], [False, False], *([[False, continuous]] * len(self._parameters))]

    def pullback(self, inputs: Tensors, outputs: Tensors, cotangents: Tensors) -> Cotangents:
        if is_discrete(self.dtype):
            return [None] * len(inputs)
        raise MethodNotDefined(
            f"Draws of the distribution {self.name} with a generator have no derivatives by their parameters; draws by keys have"
        )


def _signature_of(cls: type[RandomVariable]) -> str:
    """The signature of a class that has ``ndim_supp`` and ``ndims_params`` in place of one; else an empty text."""
    draw, parameters = getattr(cls, "ndim_supp", None), getattr(cls, "ndims_params", None)
    if not isinstance(draw, int) or not is_list_or_tuple(parameters):
        return ""
    cores = [",".join(f"d{i}{k}" for k in range(n)) for i, n in enumerate(parameters)]
    return f"{','.join(f'({core})' for core in cores)}->({','.join(f's{k}' for k in range(draw))})"


def _length(size: Type) -> int:
    return 0 if size.shape is None or size.shape[0] is None else size.shape[0]


def _elements(size: Variable) -> Sequence[Variable] | None:
    """The scalars that a node `MakeVector` or `Join` makes ``size`` of; None if ``size`` is computed in another way."""
    node = size.owner
    if node is None or node.op.moves != EVERY or any(v.type.ndim != 0 for v in node.inputs):
        return None
    return node.inputs


def _broadcast_static(shapes: Sequence[StaticShape]) -> StaticShape:
    result: list[int | None] = [1] * max((len(s) for s in shapes), default=0)
    for shape in shapes:
        for i, n in enumerate(shape, start=len(result) - len(shape)):
            mine = result[i]
            if n is not None and mine is not None and n != mine and 1 not in (n, mine):
                raise ValueError(
                    f"The parameters do not broadcast: the lengths {mine} and {n} differ"
                )
            # if a length is dynamic, it may be 1 and broadcast, so the other static length is kept
            if mine == 1:
                result[i] = n
            elif mine is None and n != 1:
                result[i] = n
    return tuple(result)
