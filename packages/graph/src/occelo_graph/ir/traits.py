"""Traits: properties that ops declare, such as ``commutative``. Rules and linkers read them instead of the op's class.

The defaults are correct for every op without side effects whose outputs are new arrays. They mean that nothing more is
known about the op, so rules that read a trait do not apply.

`Op` calls the functions of this module when a class of ops is made. They check the traits of the class. They also
decide which traits and methods the class inherits: if it computes other results than its base class, it must not
inherit all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from occelo_graph.ir.nodes import AnyApply
from occelo_graph.narrowing import is_list_or_tuple, is_mapping
from occelo_graph.provenance import is_own

_ValueT = TypeVar("_ValueT")

EVERY = slice(None)
"""All inputs."""
FIRST = slice(0, 1)
"""The first input."""
SECOND = slice(1, 2)
"""The second input."""


def trait(method: Callable[[Any], _ValueT]) -> _ValueT:
    """A decorator of a method that computes a trait from the op's parameters.

    The method becomes a property. Type checkers treat the property as a plain value, so a class can declare a trait
    either by a value or by a method with this decorator.
    """
    return cast("_ValueT", property(method))


class Traits:
    """The traits of ops with their defaults. It is a base class of `Op`."""

    pure: bool = True
    """The outputs depend only on the inputs, and there are no side effects."""
    commutative: bool = False
    """The order of the inputs does not matter."""
    elementwise: ClassVar[bool] = False
    arithmetic: bool = False
    """The op is a sum, product or the like. Rules rewrite all nodes of a nested sum or product at once."""
    lazy: ClassVar[bool] = False
    """The op has regions and decides which of them run, such as the branches of `IfElse`."""
    outputs_are_results: ClassVar[bool] = False
    """The outputs are the results of one region, and the other inputs (`Op.operands`) choose this region. See `Op.chosen_of`."""
    loops: ClassVar[bool] = False
    """The op runs an inner graph repeatedly. See `Op.loop`."""
    no_derivative: str = ""
    """The reason why the op has no derivative, for error messages. "" for an op with a derivative, which may be 0."""
    identity_at_runtime: ClassVar[bool] = False
    """The op returns its input, and only gradients treat the op in a special way. Compiled graphs do not contain it."""
    observes: ClassVar[bool] = False
    """The op returns its inputs, and its effect reads them: for example, it prints them. ``pure`` must be False."""
    view_map: Mapping[int, Sequence[int]] = {}
    """Maps the index of an output to the indices of the inputs that the output may alias."""
    destroy_map: Mapping[int, Sequence[int]] = {}
    """Maps the index of an output to the indices of the inputs that are overwritten when the output is computed."""
    default_output: ClassVar[int | None] = None
    plain_nodes: ClassVar[bool] = True
    """Nodes are made by `infer` only. So a node can be made again when the types of its inputs become narrower.

    False for a class that defines ``make_node``, unless the class also declares this trait.
    """
    types_follow_values: ClassVar[bool] = False
    """The types of the outputs depend on values of inputs that are known statically, such as lengths.

    See `Op.specialized`.
    """

    moves: slice | None = None
    """A slice of the inputs: those whose elements the op moves. Each element of an output is one of these, or zero.

    The other inputs decide which element is moved where. If zero and all moved elements have a property, such as being
    an integer, then all elements of the outputs have the property. None means that the op computes new elements.
    """
    by_parts: slice | None = None
    """A slice of the inputs: those that may be complex, if the op applies to real and imaginary parts separately.

    The other inputs are positions, lengths or conditions. If `by_parts` is None, the inputs in `moves` may be complex.
    If `moves` is None, too, compiled code needs a lowering of the op for complex inputs.
    """
    of_shapes: ClassVar[bool] = False
    """The outputs depend only on the shapes of the inputs, not on their elements."""
    reads_once: ClassVar[bool] = False
    """The op reads each element of an input at most once, in order. So compiled code need not store a computed input.

    False means that elements may be read repeatedly, so that computed inputs are stored. Elementwise ops do not need
    this trait.
    """

    gufunc_signature: str | None = None
    """The dimensions of inputs and outputs, such as ``(m,n),(n)->(m)``, as in `numpy.vectorize`.

    Equal names mean equal lengths. An op can declare a signature if its inputs always have these numbers of dimensions.
    `Blockwise`, which applies an op to a batch, infers the lengths of results by `Op.infer_shape`. If that fails, it
    uses the signature, or else the results for the first element of the batch.
    """

    def of_dtype(self, dtype: str) -> Any:
        """The op that moves elements of another dtype in the same way. An op with `moves` that names a dtype overrides this."""
        return self

    def static_inputs(self, node: AnyApply) -> Sequence[int]:
        """The positions of the inputs whose values determine the shapes of the outputs. By default there are none.

        The linkers for JAX and PyTorch compile a graph again for each new value of such an input. A lowering that needs
        the value of any other input raises an error.
        """
        return ()

    def linear_in(self, node: AnyApply) -> Sequence[slice]:
        """Groups of inputs, as slices. The op is linear in the inputs of one group while all other inputs are fixed.

        A matrix product has two groups with one input each. A concatenation has one group with all inputs. The
        pushforward applies the op to the tangents of each group. By default the inputs in `moves` are the only group.
        An op without `moves`, or with the trait `identity_at_runtime`, has no group by default.
        """
        return () if self.moves is None or self.identity_at_runtime else (self.moves,)

    def may_fail(self, node: AnyApply) -> bool:
        """Whether the node may raise an error for some inputs with matching shapes. True by default.

        A node that may fail is not moved out of a loop that may have no iteration. For a lazy node, errors in its
        branches do not count.
        """
        return True

    @property
    def views(self) -> Mapping[int, Sequence[int]]:
        """Another name of `view_map`."""
        return self.view_map

    @property
    def destroys(self) -> Mapping[int, Sequence[int]]:
        """Another name of `destroy_map`."""
        return self.destroy_map

    def numbers(self) -> slice | None:
        """The inputs that may be complex, as a slice: `by_parts`, or `moves` if `by_parts` is not declared."""
        return self.moves if self.by_parts is None else self.by_parts


OF_VALUES = (
    "moves",
    "by_parts",
    "of_shapes",
    "reads_once",
    "arithmetic",
    "static_inputs",
    "linear_in",
    "may_fail",
    "gufunc_signature",
    "types_follow_values",
)
"""Traits that a class does not inherit from a base class that computes other results."""
OF_CODE = (
    "pullback",
    "pull",
    "L_op",
    "grad",
    "pushforward",
    "R_op",
    "connection_pattern",
    "batch",
    "known_integers",
    "specialized",
    "inplace_on_inputs",
)
"""Methods that a user's class does not inherit from a base class whose NumPy code it overrides."""
_COMPUTING = ("evaluate", "kernel", "perform")


def same_results(cls: type[Any], base: type[Any], root: type[Any], external: bool) -> bool:
    """Whether a class of ops computes the same results as ``base``, one of its base classes. ``root`` is `Op`.

    The results are the same if the class does not override the NumPy code of ``base`` (`evaluate`, `perform` or
    `kernel`). If ``base`` has only a `decompose`, the class must not override that either. If ``base`` defines none of
    these methods, the results count as the same.

    If the class is ``external``, that is, defined by a user, it must also not override any method that the NumPy code
    may call. These are all methods that ``base`` has from classes of this package, except the methods of `Op` and
    abstract methods.
    """
    if base is cls or not issubclass(base, root):
        return True

    def defines(method: str) -> bool:
        return getattr(base, method) is not getattr(root, method)

    if defines("evaluate") or defines("perform"):
        read: Sequence[str] = _COMPUTING
    elif defines("kernel"):
        # the kernel of a base class in this package calls the NumPy code of the subclass
        read = ["kernel"] if external else []
    else:
        read = [*_COMPUTING, "decompose"] if defines("decompose") else []
    if any(getattr(cls, m) is not getattr(base, m) for m in read):
        return False
    return not external or all(
        getattr(cls, name) is method
        for each in base.__mro__
        if is_own(each.__module__)
        for name in each.__dict__
        if not hasattr(root, name)
        if callable(method := getattr(base, name)) or isinstance(method, property)
        if not getattr(method, "__isabstractmethod__", False)
    )


def forget_plain_nodes(cls: type[Traits]) -> None:
    """Set `Traits.plain_nodes` to False for a class that defines ``make_node`` and does not declare the trait."""
    if "make_node" in cls.__dict__ and "plain_nodes" not in cls.__dict__:
        cls.plain_nodes = False


def forget_other_values(cls: type[Traits], root: type[Traits], computes_as: Sequence[type]) -> None:
    """Reset the traits that a class of ops inherits from a base class that computes other results.

    ``computes_as`` lists the base classes that compute the same. For a user's class, the methods in `OF_CODE`, such as
    derivatives, are reset, too. ``root`` is `Op`, which has the defaults.
    """
    for name in (*OF_VALUES, *OF_CODE) if _is_external(cls) else OF_VALUES:
        source = _source(cls, name)
        if source is not root and source not in computes_as:
            setattr(cls, name, getattr(root, name))


_TRUTH = (
    "pure",
    "commutative",
    "elementwise",
    "arithmetic",
    "lazy",
    "outputs_are_results",
    "loops",
    "identity_at_runtime",
    "observes",
    "plain_nodes",
    "types_follow_values",
    "of_shapes",
    "reads_once",
)
_SLICES = ("moves", "by_parts")
_MAPS = ("view_map", "destroy_map")
_METHODS = (
    "static_inputs",
    "linear_in",
    "may_fail",
    "infer_shape",
    "batch",
    "decompose",
    "connection_pattern",
)


def check_declared(cls: type[Any]) -> None:
    """TypeError if a class of ops declares a trait by a value of the wrong kind, such as ``commutative = 1``.

    TypeError also if a method such as `infer_shape` is declared as a value that is not callable, or if an op that
    ``observes`` is declared as pure.
    """
    own = vars(cls)
    for names, holds, kind in (
        (_TRUTH, _is_truth, "True or False"),
        (_SLICES, _is_slice, "None or a slice of the inputs, such as FIRST"),
        (_MAPS, _is_map, "a dictionary from outputs to lists of inputs, such as {0: [0]}"),
        (_METHODS, callable, "a method"),
        (("gufunc_signature",), _is_text, "None or a text such as '(n),(m,n)->(m)'"),
    ):
        for name in names:
            # a property is not checked: it computes the trait from the op's parameters
            if name in own and not hasattr(own[name], "__get__") and not holds(own[name]):
                raise TypeError(f"{name} of {cls.__name__} must be {kind}, got {own[name]!r}")
    if own.get("observes") is True and cls.pure is True:
        raise TypeError(f"pure of {cls.__name__} must be False, since it observes, got True")


def _is_truth(value: object) -> bool:
    return isinstance(value, bool)


def _is_slice(value: object) -> bool:
    return value is None or isinstance(value, slice)


def _is_text(value: object) -> bool:
    return value is None or isinstance(value, str)


def _is_map(value: object) -> bool:
    def is_position(each: object) -> bool:
        return isinstance(each, int) and not isinstance(each, bool) and each >= 0

    return is_mapping(value) and all(
        is_position(k) and is_list_or_tuple(v) and all(map(is_position, v))
        for k, v in value.items()
    )


_FORMS = (("perform", "evaluate"), ("pull", "pullback", "L_op", "grad"), ("pushforward", "R_op"))
"""The methods that have several forms, with the names of the forms. By default each form calls the next one."""


def forget_other_forms(cls: type[Any], root: type[Any]) -> None:
    """Reset inherited forms of a method that would be called instead of the form that the class defines.

    For example, ``perform`` is called before ``evaluate``. So for a class that defines ``evaluate``, an inherited
    ``perform`` is reset. ``root`` is `Op`.
    """
    order = cls.__mro__.index
    for forms in _FORMS:
        places = [order(_source(cls, name)) for name in forms]
        newest = min(places)
        for name in forms[: places.index(newest)]:
            if getattr(cls, name) is not getattr(root, name):
                setattr(cls, name, getattr(root, name))
    if _is_external(cls) and _is_unused(cls, root):
        cls.kernel = root.kernel


def _is_unused(cls: type[Any], root: type[Any]) -> bool:
    """Whether the NumPy code of a class would never run, since the class inherits a ``kernel`` that calls other code.

    This is so if the base class that defines the kernel also defines ``evaluate`` or ``perform``. If not, the kernel
    calls ``evaluate`` or ``perform`` of the subclass.
    """
    kernel = _source(cls, "kernel")
    if kernel is root or _is_external(kernel):
        return False
    order = cls.__mro__.index
    own = min(order(_source(cls, name)) for name in _FORMS[0])
    return own < order(kernel) and any(name in kernel.__dict__ for name in _FORMS[0])


def _is_external(cls: type) -> bool:
    return not is_own(cls.__module__)


def _source(cls: type, name: str) -> type:
    return next(c for c in cls.__mro__ if name in c.__dict__)


def refused_base(cls: type[Any], root: type[Any], names: Sequence[str]) -> tuple[type, str] | None:
    """Find a method, with one of ``names``, that ``cls`` does not inherit because ``cls`` computes other results.

    Returns the base class that defines the method, and its name, for error messages. None if there is no such method.
    ``root`` is `Op`.
    """
    for name in names:
        if getattr(cls, name) is getattr(root, name):
            for base in cls.__mro__:
                if name in base.__dict__ and base.__dict__[name] is not root.__dict__[name]:
                    return base, name
    return None
