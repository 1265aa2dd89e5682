"""Traits: declared properties of ops, which rules and linkers use instead of tests of the op's class.

The default of a trait is correct for every op: nothing is known, so no rule applies, and linkers call the op's
own NumPy code. Where no such default exists, reading the trait raises, as `ScalarOp.holomorphic` does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, ClassVar, TypeVar, cast

from occelo_graph.ir.nodes import AnyApply
from occelo_graph.narrowing import is_list_or_tuple, is_mapping

__all__ = ["EVERY", "FIRST", "SECOND", "Traits", "same_results", "trait"]

_ValueT = TypeVar("_ValueT")

EVERY = slice(None)
"""All inputs."""
FIRST = slice(0, 1)
"""The first input."""
SECOND = slice(1, 2)
"""The second input."""


def trait(method: Callable[[Any], _ValueT]) -> _ValueT:
    """Make a method without arguments a trait that depends on the op's parameters.

    The result is a property, which type checkers take for a plain value. So a subclass may declare the trait by a
    value, or by a method with this decorator.
    """
    return cast("_ValueT", property(method))


class Traits:
    """The traits of ops and their defaults."""

    pure: bool = True
    """Equal inputs give equal outputs, and there are no side effects."""
    commutative: bool = False
    """The order of the inputs does not matter."""
    elementwise: ClassVar[bool] = False
    arithmetic: bool = False
    """The op forms sums or products. Rules rewrite all nodes of a sum or product at once, not one by one."""
    lazy: ClassVar[bool] = False
    """The op has regions, and may skip inputs that are results of them; see `IfElse`."""
    outputs_are_results: ClassVar[bool] = False
    """The outputs are the results of one region. The values of the operands alone choose it; see `Op.chosen_of`."""
    loops: ClassVar[bool] = False
    """The op runs an inner graph repeatedly; see `Op.loop`."""
    no_derivative: str = ""
    """Why inputs on which the outputs depend have no derivative; "" if they have one, or if it is 0."""
    identity_at_runtime: ClassVar[bool] = False
    """The op returns its input and matters to gradients only; compiled graphs drop it."""
    observes: ClassVar[bool] = False
    """The op has an effect that depends on the values of its inputs, such as printing them.

    Outputs are views of inputs, and ``pure`` is False.
    """
    view_map: Mapping[int, Sequence[int]] = {}
    """Maps the index of an output to the indices of the inputs that the output may alias."""
    destroy_map: Mapping[int, Sequence[int]] = {}
    """Maps the index of an output to the indices of the inputs that are overwritten to compute the output."""
    default_output: ClassVar[int | None] = None
    plain_nodes: ClassVar[bool] = True
    """`infer` alone determines the outputs of a node, so the node may be rebuilt when the types of its inputs are narrowed.

    False for a class with a ``make_node`` of its own, unless it declares the trait.
    """
    types_follow_values: ClassVar[bool] = False
    """Known values of inputs, such as lengths, refine the outputs' types; see `Op.specialized`."""

    moves: slice | None = None
    """The inputs, as a slice, whose elements the op moves: each element of an output is one of their elements, or zero.

    So if zero and all elements of these inputs have a property, the outputs have it, too. Only the other inputs decide
    which element goes where. None: the op computes new elements.
    """
    by_parts: slice | None = None
    """The inputs that may be complex, as a slice, if the op treats real and imaginary parts alike and separately.

    The other inputs are positions, lengths or conditions. The default is `moves`. If both are None, the op may treat
    complex numbers in any way, so compiled code runs it for complex inputs only if a lowering is registered.
    """
    takes_ragged: ClassVar[bool] = False
    """`Op.batch` takes inputs of which each element of the batch has its own number of rows (`occelo_graph.ragged`)."""
    of_shapes: ClassVar[bool] = False
    """The outputs depend on the shapes of the inputs alone, not on their elements."""
    reads_once: ClassVar[bool] = False
    """Each element of an input is read at most once, in order. So compiled code need not store a computed input.

    False: elements may be read repeatedly, so computed inputs are stored. Elementwise ops need not declare this trait.
    """

    gufunc_signature: str | None = None
    """The dimensions of inputs and outputs, as in `numpy.vectorize`: ``(m,n),(n)->(m)``.

    Equal names mean equal lengths.

    Declare it for an op whose inputs have exactly these dimensions. `Blockwise` reads it, and so does the loop that
    applies an op without a batching rule to a batch. If it is None, lengths are inferred by `Op.infer_shape`, or read
    from the results for the first element.
    """

    def static_inputs(self, node: AnyApply) -> Sequence[int]:
        """Positions of the inputs whose values determine the outputs' shapes; none by default.

        Linkers with static shapes compile again for each of these values. A lowering that needs another value
        raises when it runs.
        """
        return ()

    def linear_in(self, node: AnyApply) -> Sequence[slice]:
        """Groups of inputs, as slices: the op is linear in each group as a whole if all other inputs are constant.

        A matrix product has two groups of one input each; a concatenation has one group, of all inputs. The pushforward
        applies the op to the tangents of each group. By default the inputs of `moves` are the only group. There is none
        without `moves`, or if the op matters to gradients only.
        """
        return () if self.moves is None or self.identity_at_runtime else (self.moves,)

    def may_fail(self, node: AnyApply) -> bool:
        """Whether the node may raise for some values or lengths of inputs whose shapes fit each other; True by default.

        A node that may fail is not moved out of a loop that may have no iteration. Failures in the branches of a lazy
        node do not count.
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
        """The inputs of the op that may be complex: `by_parts`, or `moves` if `by_parts` is not declared."""
        return self.moves if self.by_parts is None else self.by_parts


OF_VALUES = (
    "moves",
    "by_parts",
    "of_shapes",
    "takes_ragged",
    "reads_once",
    "arithmetic",
    "static_inputs",
    "linear_in",
    "may_fail",
    "gufunc_signature",
    "types_follow_values",
)
"""Traits that depend on the results of an op; a subclass with other results does not inherit them."""
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
"""Methods that depend on the NumPy code; an external class with other NumPy code does not inherit them."""
_COMPUTING = ("evaluate", "kernel", "perform")


def same_results(cls: type[Any], base: type[Any], root: type[Any], external: bool) -> bool:
    """Whether a class of ops inherits the NumPy code of ``base``, one of its bases, so that it gives the same results.

    ``root`` is `Op`. The traits of a base without NumPy code hold for all its subclasses. An ``external`` class, one
    from outside this package, gives the same results only if it overrides neither the NumPy code nor a method that the
    NumPy code may call. The NumPy code may call every method that a class of this package defines and `Op` lacks,
    unless ``base`` declares it abstract.
    """
    if base is cls or not issubclass(base, root):
        return True

    def defines(method: str) -> bool:
        return getattr(base, method) is not getattr(root, method)

    if defines("evaluate") or defines("perform"):
        read: Sequence[str] = _COMPUTING
    elif defines("kernel"):
        # the kernel calls the NumPy code of the subclass
        read = ["kernel"] if external else []
    else:
        read = [*_COMPUTING, "decompose"] if defines("decompose") else []
    if any(getattr(cls, m) is not getattr(base, m) for m in read):
        return False
    return not external or all(
        getattr(cls, name) is method
        for each in base.__mro__
        if each.__module__.startswith("occelo_graph.")
        for name in each.__dict__
        if not hasattr(root, name)
        if callable(method := getattr(base, name)) or isinstance(method, property)
        if not getattr(method, "__isabstractmethod__", False)
    )


def forget_plain_nodes(cls: type[Traits]) -> None:
    """Reset `Traits.plain_nodes` for a class that has its own ``make_node`` and does not declare the trait."""
    if "make_node" in cls.__dict__ and "plain_nodes" not in cls.__dict__:
        cls.plain_nodes = False


def forget_other_values(cls: type[Traits], root: type[Traits], computes_as: Sequence[type]) -> None:
    """Reset the traits that a class of ops inherits from a base with other results, that is, none of ``computes_as``.

    For a class from outside this package, derivatives and other methods in `OF_CODE` are reset, too. ``root`` is `Op`.
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
    "takes_ragged",
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
    """TypeError if a trait of a class, or a method that rules and linkers call, has a value of the wrong kind."""
    own = vars(cls)
    for names, holds, wanted in (
        (_TRUTH, _is_truth, "True or False"),
        (_SLICES, _is_slice, "None or a slice of the inputs, such as FIRST"),
        (_MAPS, _is_map, "a dictionary from outputs to lists of inputs, such as {0: [0]}"),
        (_METHODS, callable, "a method"),
        (("gufunc_signature",), _is_text, "None or a text such as '(n),(m,n)->(m)'"),
    ):
        for name in names:
            # a trait that depends on the op's parameters is a property
            if name in own and not hasattr(own[name], "__get__") and not holds(own[name]):
                raise TypeError(f"{name} of {cls.__name__} must be {wanted}, got {own[name]!r}")
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


_FORMS = (
    ("perform", "evaluate"),
    ("pull", "pullback", "L_op", "grad"),
    ("pushforward", "R_op"),
)
"""The names of the forms of each method that has several. By default each form calls the next one that the class has."""


def forget_other_forms(cls: type[Any], root: type[Any]) -> None:
    """Reset inherited forms of a method that would be called before the form that the class defines.

    For a class that defines ``evaluate``, for instance, an inherited ``perform`` is reset. ``root`` is `Op`.
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
    """Whether an inherited ``kernel`` of this package would run instead of the class's own NumPy code.

    That is so if the class with the kernel also defines NumPy code. Otherwise its kernel calls the NumPy code of the
    subclass.
    """
    kernel = _source(cls, "kernel")
    if kernel is root or _is_external(kernel):
        return False
    order = cls.__mro__.index
    own = min(order(_source(cls, name)) for name in _FORMS[0])
    return own < order(kernel) and any(name in kernel.__dict__ for name in _FORMS[0])


def _is_external(cls: type) -> bool:
    return not cls.__module__.startswith("occelo_graph.")


def _source(cls: type, name: str) -> type:
    return next(c for c in cls.__mro__ if name in c.__dict__)


def refused_base(cls: type[Any], root: type[Any], names: Sequence[str]) -> tuple[type, str] | None:
    """A base with other results and the name of its method, one of ``names``, that the class does not inherit.

    None if there is no such base.
    """
    for name in names:
        if getattr(cls, name) is getattr(root, name):
            for base in cls.__mro__:
                if name in base.__dict__ and base.__dict__[name] is not root.__dict__[name]:
                    return base, name
    return None
