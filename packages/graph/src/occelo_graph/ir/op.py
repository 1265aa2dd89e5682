"""`Op`: the base class of all ops, including those of users.

Gradients, vectorization, rewriting, the interpreter and linkers call the methods of ops.

A class of ops is a frozen dataclass, made with the decorator `op`. Its fields are the static parameters of the op. The
class defines `infer`, which computes the types of the outputs from the types of the inputs, and `evaluate`, which
computes the outputs with NumPy. It may define derivatives (`pullback`, `pushforward`), `infer_shape`, `batch`,
`decompose` and traits (`ir.traits`). If the op runs other graphs, the class defines `regions` or `loop`.

The older protocol of similar libraries works, too: ``make_node``, ``perform``, ``view_map``, ``destroy_map``,
``L_op``, ``grad``, ``R_op``, ``__props__``, ``itypes`` and ``otypes``.
"""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar, dataclass_transform, overload

from occelo_graph import provenance
from occelo_graph.errors import (
    MethodNotDefined,
    explained,
    explained_by,
    hint_about,
    with_arguments,
)
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ir.nodes import AnyApply, Apply, Variable, is_node
from occelo_graph.ir.op_caches import cache_of, forget_cached, is_fixed
from occelo_graph.ir.regions import Loop, Region
from occelo_graph.ir.slices import slice_parts
from occelo_graph.ir.terms import Term
from occelo_graph.ir.traits import (
    Traits,
    check_declared,
    forget_other_forms,
    forget_other_values,
    forget_plain_nodes,
    refused_base,
    same_results,
)
from occelo_graph.ir.types import Type
from occelo_graph.ir.user_ops import (
    call_shape_rule,
    declared_types,
    refuse_arguments,
    results_of,
    stored_results,
)
from occelo_graph.provenance import is_own
from occelo_graph.upward import batch_by_loop, pull_decomposition


class Zero:
    """The class of `ZERO`. As a cotangent, it means: the cost depends on the variable, but with the derivative 0."""

    def __repr__(self) -> str:
        return "ZERO"


ZERO = Zero()
ZERO.__doc__ = "The derivative 0 of a cost that depends on the variable, as a cotangent or tangent."

Cotangent = Variable | Zero | None
"""A cotangent or tangent: a variable, `ZERO` (connected, with the derivative 0) or None (not connected)."""
Cotangents = Sequence[Cotangent]
"""The result of a pullback, with a cotangent for each input."""
Tangents = Sequence[Cotangent]
"""The result of a pushforward, with a tangent for each output."""

Kernel = Callable[..., Sequence[Any]]
"""A function that computes a node: from the values of the inputs to a sequence of the values of the outputs."""

_C = TypeVar("_C", bound=type)
_INFERENCE_CACHE_LIMIT = 4096


def _convert(value: Any, /) -> Variable:
    """Convert an argument of an op to a variable: `set_default_converter` replaces this function."""
    raise TypeError(f"{value!r} is no variable")


@explained_by("rules")
def set_default_converter(converter: Callable[[Any], Variable]) -> None:
    """Set the function that converts arguments of ops to variables. The default is `as_tensor_variable`.

    ``converter`` accepts any value that is not a variable, and returns a variable or raises TypeError. An op that needs
    another conversion overrides `Op.as_variable`.
    """
    global _convert
    _convert = converter


def converted_argument(value: Any) -> Variable:
    """The variable for an argument of an op, by the function that `set_default_converter` set."""
    return _convert(value)


@overload
def op(cls: _C) -> _C: ...
@overload
def op(cls: None = None) -> Callable[[_C], _C]: ...


@dataclass_transform(frozen_default=True)
def op(cls: Any = None) -> Any:
    """A class decorator that makes ``cls``, a subclass of `Op`, a frozen dataclass. Ops are compared and hashed by their fields.

    ``@op`` and ``@op()`` mean the same. TypeError for anything but a subclass of `Op`.
    """
    if cls is None:
        return op
    if not isinstance(cls, type) or not issubclass(cls, Op):
        raise explained(
            TypeError(
                f"@op is for subclasses of Op, got {cls!r}; functions are wrapped by wrap_py"
            ),
            "arguments",
        )
    decorate: Any = frozen_dataclass(eq=False, repr=False)
    return decorate(cls)


_PLAIN = frozenset((bool, int, str, bytes, type(None)))
"""Classes of values that are hashable and compare exactly, for a quick test. Most parameters are of these classes."""


def frozen_value(value: Any) -> Any:
    """A hashable key of a parameter of an op. Two parameters are the same if their keys are equal.

    Keys distinguish values that Python's ``==`` does not: 1, True and 1.0 have different keys, and so have 0.0 and
    -0.0.
    """
    if type(value) in _PLAIN:
        return (type(value).__name__, value)
    items: Sequence[Any] = value
    fields: Mapping[Any, Any] = value
    if isinstance(value, (tuple, list)):  # faster than a union, which each call would make again
        return (type(items).__name__, *map(frozen_value, items))
    if isinstance(value, dict):
        return ("dict", *((k, frozen_value(v)) for k, v in fields.items()))
    if isinstance(value, slice):
        return ("slice", *(frozen_value(v) for v in slice_parts(value)))
    if isinstance(value, float):
        return ("float", value.hex())
    if isinstance(value, complex):
        return ("complex", value.real.hex(), value.imag.hex())
    if isinstance(value, (int, str, bytes)):
        return (type(value).__name__, value)
    return value


class Op(Traits):
    """The base class of ops. The docstring of the module lists the methods that a subclass defines. TypeError for parameters that a subclass does not declare."""

    # attributes that the older protocol declares
    __props__: ClassVar[tuple[str, ...]]
    itypes: Sequence[Type] | None = None
    otypes: Sequence[Type] | None = None

    computes_as: ClassVar[tuple[type[Any], ...]] = ()
    """The class itself, and the base classes that compute the same, since the class does not override their NumPy code.

    The tuple is computed when the class is made. The rules, facts, lowerings and traits of all these classes also hold
    for the class itself.
    """

    _makes_nodes: ClassVar[bool] = False
    """Whether a user defined ``make_node``."""

    _is_external: ClassVar[bool] = False
    """Whether the class is defined outside of Occelo's packages."""

    _compared_fields: ClassVar[tuple[str, ...]]
    """The names of the fields that are compared. They are computed at their first use."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        cls._is_external = not is_own(cls.__module__)
        if "make_node" in cls.__dict__:
            cls._makes_nodes = cls._is_external
        if cls._is_external:
            check_declared(cls)
        forget_other_forms(cls, Op)
        cls.computes_as = tuple(
            base for base in cls.__mro__ if same_results(cls, base, Op, cls._is_external)
        )
        forget_other_values(cls, Op, cls.computes_as)
        forget_plain_nodes(cls)
        props: Any = cls.__dict__.get("__props__", ())
        names: Sequence[Any] = props
        if not isinstance(props, tuple) or not all(isinstance(p, str) for p in names):
            raise TypeError(
                f"__props__ of {cls.__name__} must be a tuple of strings, got {props!r}"
            )
        for name in ("itypes", "otypes"):
            declared = cls.__dict__.get(name)
            if isinstance(declared, list | tuple):
                setattr(cls, name, declared_types(declared, f"The {name} of {cls.__name__}"))
        ignored = [name for name in ("c_code", "make_thunk") if name in cls.__dict__]
        if ignored:
            warnings.warn(
                f"{cls.__name__} defines {' and '.join(ignored)}, which are ignored: "
                "the op runs through its Python implementation",
                stacklevel=2,
            )

    if not TYPE_CHECKING:

        def __init__(self, *args: Any, **options: Any) -> None:
            refuse_arguments(type(self), Op, args, options)

        def __setattr__(self, name: str, value: Any) -> None:
            object.__setattr__(self, name, value)
            forget_cached(self)

    # identity

    def props(self) -> dict[str, Any] | None:
        """The static parameters of the op by name. None if the op is equal only to itself."""
        names = self.prop_names()
        return None if names is None else {name: getattr(self, name) for name in names}

    @classmethod
    def prop_names(cls) -> tuple[str, ...] | None:
        """The names of the static parameters of all ops of this class. None if they are equal only to themselves."""
        names = cls.__dict__.get("_compared_fields")
        if names is None:
            if dataclasses.is_dataclass(cls):
                names = tuple([f.name for f in dataclasses.fields(cls) if f.compare])
                # stored in this class and not inherited: a subclass may have more fields
                cls._compared_fields = names
            else:
                names = getattr(cls, "__props__", None)
        return names

    def _key(self) -> Any:
        state = self.__dict__
        key = state.get("_key_cache")
        if key is None:
            props = self.props()
            key = id(self) if props is None else tuple(frozen_value(v) for v in props.values())
            if not self._is_external or is_fixed(self):
                state["_key_cache"] = key
        return key

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if type(other) is not type(self):
            return False
        # a shortcut for keys that are cached, since rules compare ops often
        mine, its = self.__dict__.get("_key_cache"), other.__dict__.get("_key_cache")
        if mine is None or its is None:
            mine, its = self._key(), other._key()
        return bool(mine == its)

    def __hash__(self) -> int:
        state = self.__dict__
        hash_code: int | None = state.get("_hash_cache")
        if hash_code is None:
            hash_code = hash((type(self), self._key()))
            if "_key_cache" in state:
                state["_hash_cache"] = hash_code
        return hash_code

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if not k.endswith("_cache")}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def __str__(self) -> str:
        props = self.props()
        name = type(self).__name__
        if not props:
            return name
        return f"{name}{{{', '.join(f'{k}={v}' for k, v in props.items())}}}"

    def __repr__(self) -> str:
        return str(self)

    def named_extensions(self) -> Sequence[tuple[str, str]]:
        """The registries and names of what the op looks up by name, such as a fact, as packages register it (`extensions`)."""
        return ()

    def written(self, node: AnyApply, operands: Sequence[Term]) -> Term | None:
        """A node as an expression in the namespace of `occelo.tensor`, for `pprint`.

        ``operands`` are the terms of the inputs, followed by the names of functions that compute the op's inner graphs.
        None if there is no such expression: a call of the op's class is printed.
        """
        return None

    # application

    def as_variable(self, value: Any, position: int) -> Variable:
        """Convert ``value``, the argument at ``position``, to a variable."""
        return value if isinstance(value, Variable) else _convert(value)

    def infer(self, *types: Any, **_: Any) -> Any:
        """The type of the output, from the types of the inputs. A tuple of types if there are several outputs.

        TypeError or ValueError if the op cannot be applied to inputs of these types.
        """
        if self.otypes is None or self.itypes is None:
            raise MethodNotDefined(f"{type(self).__name__} defines neither infer nor make_node")
        if len(types) != len(self.itypes):
            raise ValueError(f"{self} takes {len(self.itypes)} inputs, got {len(types)}")
        wrong = [
            f"input {i}: expected {declared}, got {actual}"
            for i, (declared, actual) in enumerate(zip(self.itypes, types, strict=True))
            if not declared.is_super(actual)
        ]
        if wrong:
            raise TypeError(f"Wrong input types for {self}: " + "; ".join(wrong))
        return tuple(self.otypes)

    def infer_types(self, types: tuple[Type, ...]) -> tuple[Type, ...]:
        """The types of the outputs, as `infer` returns them, but always as a tuple. The results are cached."""
        cache: dict[tuple[Type, ...], tuple[Type, ...]] | None = self.__dict__.get("_infer_cache")
        if cache is None:
            cache = cache_of(self, "_infer_cache")
        otypes = cache.get(types)
        if otypes is None:
            inferred = self.infer(*types)
            several: tuple[Type, ...] = inferred
            otypes = several if isinstance(inferred, tuple) else (inferred,)
            if len(cache) >= _INFERENCE_CACHE_LIMIT:
                cache.clear()
            cache[types] = otypes
        return otypes

    def types_for(self, inputs: Sequence[Variable]) -> tuple[Type, ...]:
        """The types of the outputs for ``inputs``.

        They are inferred from the types of the inputs. For an op with the trait `types_follow_values` they are also
        inferred from values of inputs that are known statically.
        """
        types = tuple([v.type for v in inputs])
        if not self.types_follow_values:
            return self.infer_types(types)
        op_, rest = self.specialized(inputs)
        if op_ is self:
            return self.infer_types(types)
        return op_.infer_types(tuple([v.type for v in rest]))

    def specialized(self, inputs: Sequence[Variable]) -> tuple[Op, Sequence[Variable]]:
        """Move inputs with statically known values into fields of the op. Returns the new op and its remaining inputs.

        If no values are known, it returns the op itself and all inputs. Ops with the trait ``types_follow_values``
        define this method.
        """
        return self, inputs

    def known_integers(self, node: AnyApply, of: Callable[[Variable], Any]) -> Any:
        """The integers that a node computes, as far as they are known statically.

        The result has the form that `ir.known_values.known_integers` returns. ``of`` returns the known integers of an
        input.
        """
        return None

    @property
    def rule_keys(self) -> tuple[Any, ...]:
        """The keys under which rules for this op are registered: its class, and base classes that compute the same."""
        return self.computes_as

    @property
    def knows_integers(self) -> bool:
        """Whether the op defines `known_integers`."""
        return type(self).known_integers is not Op.known_integers

    def make_node(self, *inputs: Any) -> Apply:
        """Apply the op to inputs, and return the node. Inputs that are not variables are converted."""
        variables = [self.as_variable(value, i) for i, value in enumerate(inputs)]
        if type(self).infer is Op.infer and self.itypes is not None:
            # the older protocol converts arguments to the declared types if this is safe
            for i, itype in enumerate(self.itypes[: len(variables)]):
                converted = itype.convert_variable(variables[i])
                variables[i] = variables[i] if converted is None else converted
        try:
            types = self.types_for(variables)
        except (TypeError, ValueError) as error:
            if type(error) not in (TypeError, ValueError) or not variables:
                raise
            raise with_arguments(error, variables) from None
        return Apply.of_types(self, variables, types)

    def __call__(
        self, *inputs: Any, name: str | None = None, return_list: bool = False, **unknown: Any
    ) -> Any:
        """Apply the op to inputs, and return the output, or a list if there are several outputs.

        ``name`` is the name of the first output. With ``return_list`` the result is always a list. If the op declares
        `default_output`, only this output is returned.
        """
        if unknown:
            inputs = self.converted(inputs, unknown)
        node: Any = self.make_node(*inputs)
        if self._makes_nodes and is_node(node):
            # errors name the line that applies the op, instead of a line in the user's make_node
            node.mark = provenance.here()
        try:
            outputs: list[Variable] = node.outputs
        except AttributeError:
            text = f"make_node of {self} must return an Apply, and gave {node!r}"
            raise explained(TypeError(text), "arguments") from None
        if name is not None:
            outputs[0].name = name
        if return_list:
            return list(outputs)
        if len(outputs) == 1:
            return outputs[0]
        if self.default_output is not None:
            return outputs[self.default_output]
        return list(outputs)

    def converted(self, inputs: Sequence[Any], options: Mapping[str, Any]) -> tuple[Any, ...]:
        """The inputs of a call with further ``options``. TypeError, unless the class has an option for its calls."""
        text = f"{self} has no parameter named {' or '.join(options)}"
        text += hint_about("parameters", self, next(iter(options)))
        raise explained(TypeError(text), "arguments")

    # regions

    def regions(self, node: AnyApply) -> Sequence[Region]:
        """The parts of the graph that a node runs itself. Only lazy ops have regions."""
        return ()

    def operands(self, node: AnyApply) -> Sequence[int]:
        """The positions of the inputs that are computed before a node runs: all except the results of its regions."""
        inside = {i for region in self.regions(node) for i in region.results} if self.lazy else ()
        return [i for i in range(len(node.inputs)) if i not in inside]

    def loop(self, node: AnyApply) -> Loop:
        """The inner graph that a node runs repeatedly, and its carried values. For ops with the trait ``loops``."""
        raise MethodNotDefined(f"{type(self).__name__} has no loop")

    def chosen(self, node: AnyApply, values: Sequence[Any]) -> Sequence[Region]:
        """The regions of a node that run. ``values`` are the values of its operands."""
        return self.regions(node)

    def chosen_of(self, node: AnyApply, values: Sequence[Sequence[Any]]) -> Sequence[Any]:
        """Make a node that chooses as ``node`` does, but among other variables. Returns the outputs of the new node.

        ``values`` has a list of variables for each region; all lists have the same length. The new node has the
        operands of ``node``, and the variables in ``values`` as the results of its regions. At run time its outputs
        are the variables in the list of the region that runs. Gradients call this method. Only ops with the trait
        ``outputs_are_results`` define it.
        """
        raise MethodNotDefined(f"{type(self).__name__} has no chosen_of")

    # running

    def evaluate(self, *arrays: Any, **_: Any) -> Any:
        """Compute the outputs with NumPy, from the values of the inputs. For several outputs the result is a tuple."""
        raise MethodNotDefined(
            f"{type(self).__name__} has neither evaluate nor decompose for these inputs"
        )

    def perform(
        self, node: AnyApply, inputs: Sequence[Any], output_storage: list[list[Any]]
    ) -> None:
        """Compute the outputs, and store each in its cell of ``output_storage``. The older form of `evaluate`."""
        for cell, value in zip(output_storage, self.kernel(node)(*inputs), strict=True):
            cell[0] = value

    def kernel(self, node: AnyApply) -> Kernel:
        """The function that the interpreter and the Python linkers call to compute a node.

        It calls `perform` or `evaluate`, or the decomposition if the op defines neither. Results of users' ops are
        checked.
        """
        if type(self).perform is not Op.perform:
            count = len(node.outputs)

            def performing(*arrays: Any) -> Sequence[Any]:
                cells: list[list[Any]] = [[None] for _ in range(count)]
                self.perform(node, list(arrays), cells)
                return stored_results(cells, node.outputs, self)

            return performing
        if type(self).evaluate is Op.evaluate and self.has_decompose:
            from occelo_graph.ir.decomposing import decomposed_kernel

            decomposed = decomposed_kernel(node)
            if decomposed is not None:
                return decomposed
        evaluate = self.evaluate
        if type(self)._is_external:
            kinds, name = [v.type for v in node.outputs], str(self)

            def evaluating_checked(*arrays: Any) -> Sequence[Any]:
                return results_of(evaluate(*arrays), kinds, name)

            return evaluating_checked

        def evaluating(*arrays: Any) -> Sequence[Any]:
            result: Sequence[Any] = evaluate(*arrays)
            return result if isinstance(result, tuple) else (result,)

        return evaluating

    def decompose(self, *inputs: Any, **_: Any) -> Sequence[Any] | None:
        """The outputs as a graph of simpler ops, for backends that have no lowering of this op.

        The arguments are variables with the types of the inputs. The results must have the types of the outputs. None
        if there is no such graph for inputs of these types.
        """
        raise MethodNotDefined(f"{type(self).__name__} has no decompose")

    @property
    def has_decompose(self) -> bool:
        """Whether the op has a `decompose`. A class that overrides the NumPy code of its base does not inherit it."""
        source = next(c for c in type(self).__mro__ if "decompose" in c.__dict__)
        return source is not Op and source in self.computes_as

    # derivatives

    def pullback(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Cotangents:
        """The cotangents of the inputs of a node, from the cotangents of its outputs.

        ``cotangents`` has a variable for each output, or None for an output on which the cost does not depend. (If
        there is only one output, its cotangent is never None.) The result has a variable, `ZERO` or None for each
        input. An override may declare narrower types of arguments.

        By default the decomposition of the op is differentiated. MethodNotDefined if it has no decomposition.
        """
        if type(self).L_op is not Op.L_op:
            return self.L_op(inputs, outputs, cotangents)
        if type(self).grad is not Op.grad:
            return self.grad(inputs, cotangents)
        if self.has_decompose:
            pulled = pull_decomposition(outputs[0].owner, inputs, cotangents)
            if pulled is not None:
                return pulled
        why = self._not_inherited("pullback", "L_op", "grad")
        raise MethodNotDefined(f"{self} has no pullback: it cannot be differentiated{why}")

    def pull(
        self,
        inputs: Sequence[Any],
        outputs: Sequence[Any],
        cotangents: Sequence[Any],
        wanted: Sequence[bool],
    ) -> Cotangents:
        """The cotangents of the inputs, as in `pullback`. An input that is not ``wanted`` may get any cotangent.

        Reverse mode calls this method. An op overrides it to save work.
        """
        return self.pullback(inputs, outputs, cotangents)

    def L_op(
        self, inputs: Sequence[Any], outputs: Sequence[Any], cotangents: Sequence[Any]
    ) -> Cotangents:
        """Older name of `pullback`."""
        return self.pullback(inputs, outputs, cotangents)

    def grad(self, inputs: Sequence[Any], cotangents: Sequence[Any]) -> Cotangents:
        """Older form of `pullback`, without the argument ``outputs``."""
        raise MethodNotDefined(f"{self} has no grad")

    def pushforward(
        self, inputs: Sequence[Any], outputs: Sequence[Any], tangents: Sequence[Any]
    ) -> Tangents:
        """The tangents of the outputs of a node, from the tangents of its inputs.

        A tangent in ``tangents`` is None if the input does not depend on any variable of the differentiation. The
        result has a variable, `ZERO` or None for each output.
        """
        if type(self).R_op is not Op.R_op:
            return self.R_op(inputs, tangents)
        why = self._not_inherited("pushforward", "R_op")
        raise MethodNotDefined(f"{self} has no pushforward{why}")

    def differentiable_form(self, node: AnyApply) -> Variable | None:
        """An expression that is equal to the output of a node and is differentiated in its place. None if there is none.

        For ops whose inputs may show that a simpler expression has derivatives with fewer rounding errors. It reads what the
        inputs are computed from, and no input itself.
        """
        return None

    @property
    def has_differentiable_form(self) -> bool:
        """Whether the op defines `differentiable_form`."""
        return type(self).differentiable_form is not Op.differentiable_form

    def _not_inherited(self, *names: str) -> str:
        """The end of an error message: why the class does not inherit a method of its base class.

        ``names`` are the names of the method and of its older forms. The text is empty if no base class defines them.
        """
        refused = refused_base(type(self), Op, names)
        if refused is None:
            return ""
        base, name = refused
        return (
            f". {type(self).__name__} has other NumPy code than {base.__name__}, so it does not inherit {name}; "
            f"if that holds for it as well, write {name} = {base.__name__}.{name} in the class"
        )

    def R_op(self, inputs: Sequence[Any], tangents: Sequence[Any]) -> Tangents:
        """Older form of `pushforward`."""
        raise MethodNotDefined(f"{self} has no R_op")

    @property
    def has_pushforward(self) -> bool:
        """Whether the op defines `pushforward`, or its older form `R_op`."""
        return type(self).pushforward is not Op.pushforward or type(self).R_op is not Op.R_op

    @property
    def external_derivative(self) -> bool:
        """Whether a user may have defined the derivatives. Then the shapes of the cotangents are checked at run time."""
        return type(self)._is_external

    @property
    def external_code(self) -> bool:
        """Whether a user may have defined the NumPy code. Then results may be views that the op does not declare."""
        return type(self)._is_external

    def connection_pattern(self, node: AnyApply) -> list[list[bool]]:
        """A list of lists of truth values: entry ``[i][k]`` says whether output ``k`` depends on input ``i``.

        For gradients, an input on which an output does not depend is disconnected. By default all are connected.
        """
        return [[True] * len(node.outputs) for _ in node.inputs]

    @property
    def has_connection_pattern(self) -> bool:
        """Whether the op defines `connection_pattern`. If not, all outputs depend on all inputs."""
        return type(self).connection_pattern is not Op.connection_pattern

    # shapes and batches

    def infer_shape(self, node: AnyApply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        """The shapes of the outputs, as a tuple of integers and scalar variables for each output.

        ``input_shapes`` has such a tuple for each input.
        """
        raise MethodNotDefined(f"{type(self).__name__} has no infer_shape")

    @property
    def has_infer_shape(self) -> bool:
        """Whether the op defines `infer_shape`."""
        return type(self).infer_shape is not Op.infer_shape

    def shapes(self, node: AnyApply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        """Call `infer_shape`, and check its result. In the older protocol, `infer_shape` also has a graph as argument.

        ValueError if the result does not have, for each output, None or a shape with a length for each dimension.
        """
        shapes: Any = (
            call_shape_rule(self.infer_shape, node, input_shapes)
            if self._is_external
            else self.infer_shape(node, input_shapes)
        )
        if len(shapes) == len(node.outputs):
            for shape, output in zip(shapes, node.outputs, strict=True):
                ndim = output.type.ndim
                if shape is not None and ndim is not None and len(shape) != ndim:
                    break
            else:
                return shapes
        raise ValueError(
            f"infer_shape of {self} must give a shape for each output, of as many lengths as it has dimensions, "
            f"and gave {shapes!r}"
        )

    def batch(
        self, node: AnyApply, inputs: Sequence[Any], batch_ndims: Sequence[int]
    ) -> Sequence[Any]:
        """The outputs of the op for inputs with batch dimensions in front: the batching rule.

        ``inputs[i]`` has ``batch_ndims[i]`` more leading dimensions than ``node.inputs[i]``. The batch dimensions of
        the inputs broadcast against each other from the right. An output has ``max(batch_ndims)`` batch dimensions, or
        no batch dimension if it is the same for the whole batch.

        By default the decomposition of the op is vectorized. An op without a decomposition is applied to one element
        after the other (`Blockwise`). NotImplementedError if the op has effects, or inputs or outputs that are not
        tensors.
        """
        return batch_by_loop(node, inputs, batch_ndims)

    def do_constant_folding(self, fgraph: Any, node: AnyApply) -> bool:
        """Whether rewriting may compute the node if all its inputs are constants."""
        return self.pure

    def inplace_on_inputs(self, input_indices: Sequence[int]) -> Op:
        """The variant of the op that works in place: it overwrites the inputs at the positions ``input_indices``."""
        raise MethodNotDefined(
            f"{type(self).__name__} has no in-place variant: it does not define inplace_on_inputs"
        )
