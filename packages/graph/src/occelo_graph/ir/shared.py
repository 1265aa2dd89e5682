"""Shared variables: variables with a value that is kept between calls and that several functions can use.

Users make them with `shared`. The value lies in a container. `tensors.variable` registers the constructor of shared
tensors, and the family of random numbers that of shared generators. `occelo_compile.collect` finds the shared variables
of a function and their updates.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING, Any, overload

from occelo_graph.errors import describe, explained, explained_by, lines
from occelo_graph.families import declared
from occelo_graph.ir.container import Container, external_array_types, local
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.types import Type, generic
from occelo_graph.narrowing import is_array, is_list_or_tuple

if TYPE_CHECKING:
    import numpy as np

    from occelo_graph.tensors.variable import TensorSharedVariable

    Numbers = complex | np.generic | np.ndarray[Any, Any]

_collectors: ContextVar[tuple[list[SharedVariable], ...]] = ContextVar("_collectors", default=())
_constructors: list[tuple[Callable[[Any], bool], Callable[..., SharedVariable]]] = []


class SharedVariable(Variable):
    """A root of graphs with a value, which is stored in ``container``.

    Without ``container``, a new container with ``value`` is made. ``strict`` and ``allow_downcast`` decide which values
    it accepts, as in `Type.filter`. TypeError if ``type`` does not accept the value.
    """

    __slots__ = ("_default_update", "container")

    def __init__(
        self,
        type: Type,
        value: Any,
        strict: bool = False,
        allow_downcast: bool | None = None,
        container: Container | None = None,
        name: str | None = None,
    ) -> None:
        super().__init__(type, None, None, name)
        self._default_update: Variable | None = None
        if container is None:
            container = Container(self, [None], strict=strict, allow_downcast=allow_downcast)
            container.storage[0] = type.accept(value, strict=strict, allow_downcast=allow_downcast)
        self.container = container
        for collector in _collectors.get():
            collector.append(self)

    def get_value(self, borrow: bool = False, return_internal_type: bool = False) -> Any:
        """A copy of the value. With ``borrow`` it may be the stored array itself.

        An array of another library is converted to a NumPy array, unless ``return_internal_type`` is true.
        """
        value = self.container.storage[0]
        if not return_internal_type and type(value) in external_array_types:
            return local(value)
        return value if borrow else copy.deepcopy(value)

    def set_value(self, new_value: Any, borrow: bool = False) -> None:
        """Replace the value by a copy of ``new_value``. With ``borrow`` it is not copied.

        The copy of an array is in C order, in which compiled functions read it as it is. ``new_value`` is converted as `Type.filter` of the variable's type does it; TypeError if it cannot. After None the
        variable has no value.
        """
        try:
            self.container.value = new_value if borrow else _copied(new_value)
        except TypeError as error:
            text = lines([f"Bad value for the shared variable {describe(self)}"], str(error))
            raise explained(TypeError(text), "tensors") from None

    @property
    def default_update(self) -> Variable | None:
        """An expression for the value of the variable after a call of a compiled function.

        A function uses it if it gets no other update of the variable. None means no update.
        """
        return self._default_update

    @default_update.setter
    def default_update(self, expression: Any) -> None:
        self._default_update = None if expression is None else self.type.filter_variable(expression)

    def clone(self, name: str | None = None) -> Any:
        copy = type(self)(
            type=self.type,
            value=None,
            container=self.container,
            name=self._name if name is None else name,
        )
        copy.tag.__dict__.update(vars(self.tag))
        return copy

    def __str__(self) -> str:
        return self._name if self._name is not None else f"<{self.type}>"


def _copied(value: Any) -> Any:
    # an array in another order would be copied again at each call, for all readers but products
    plain = is_array(value) and not value.dtype.hasobject
    return value.copy() if plain else copy.deepcopy(value)


def shared_constructor(
    accepts: Callable[[Any], bool], constructor: Callable[..., SharedVariable]
) -> None:
    """Register a constructor of shared variables. `shared` calls it for a value if ``accepts(value)`` is true.

    Constructors that were registered later are tried first. TypeError unless both are functions.
    """
    if not (callable(accepts) and callable(constructor)):
        text = f"shared_constructor takes two functions, got {accepts!r} and {constructor!r}"
        raise explained(TypeError(text), "arguments")
    _constructors.insert(0, (accepts, constructor))


def _holds_variable(value: Any) -> bool:
    return is_list_or_tuple(value) and any(isinstance(v, Variable) for v in value)


@overload
def shared(
    value: Numbers | Sequence[Numbers] | Sequence[Sequence[Numbers]],
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    *,
    borrow: bool = False,
    **options: Any,
) -> TensorSharedVariable: ...
@overload
def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    *,
    borrow: bool = False,
    **options: Any,
) -> SharedVariable: ...
@explained_by("tensors")
def shared(
    value: Any,
    name: str | None = None,
    strict: bool = False,
    allow_downcast: bool | None = None,
    *,
    borrow: bool = False,
    **options: Any,
) -> Any:
    """Make a shared variable with the initial value ``value`` and a ``name``.

    If ``value`` is an array, a number, or a list or tuple of such (nested ones, too), the variable is a tensor. The
    lengths of this tensor are dynamic, unless a static ``shape`` is among the ``options``. If ``value`` is a NumPy generator, the variable is a generator of random
    numbers. Any other value is kept as a Python object. ``value`` is copied, unless ``borrow`` is true. ``strict`` and
    ``allow_downcast`` decide which later values are accepted, as in `Type.filter`.

    TypeError if ``value`` is a symbolic variable, or a list or tuple with one. ValueError for lists of numbers that
    have unequal lengths.
    """
    if isinstance(value, Variable) or _holds_variable(value):
        raise TypeError(
            f"A shared variable needs a value, and {value} is symbolic; "
            "give an array, or use the variable itself"
        )
    constructor = _constructor_of(value)
    if constructor is None and declared():  # the import of a family may have registered one
        constructor = _constructor_of(value)
    if constructor is not None:
        return constructor(
            value=value,
            name=name,
            strict=strict,
            allow_downcast=allow_downcast,
            borrow=borrow,
            **options,
        )
    if options:
        raise TypeError(f"shared() got unexpected arguments for {type(value)}: {sorted(options)}")
    return SharedVariable(
        generic, value if borrow else _copied(value), strict, allow_downcast, None, name
    )


def _constructor_of(value: Any) -> Callable[..., SharedVariable] | None:
    return next((make for accepts, make in _constructors if accepts(value)), None)


@contextmanager
def collect_new_shareds() -> Generator[list[SharedVariable], None, None]:
    """A context manager that returns a list. Shared variables that are made in the ``with`` block are added to it."""
    shareds: list[SharedVariable] = []
    token = _collectors.set((*_collectors.get(), shareds))
    try:
        yield shareds
    finally:
        _collectors.reset(token)
