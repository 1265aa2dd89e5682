"""`frozen_dataclass` and `mutable_dataclass`: make dataclasses quickly, so that Occelo's packages take little time to import.

They replace ``dataclass(frozen=True)`` and ``dataclass`` in modules that every program imports; the decorator of ops
(`ir.op.op`) uses the first, too. `dataclasses.dataclass` compiles the text of up to six methods for each class. This took
most of the time to import `occelo_graph`. Here all classes share these methods, except ``__init__``, which is made at its
first use.
"""

from __future__ import annotations

import dataclasses
import functools
import types
from collections.abc import Callable
from typing import Any, TypeVar, dataclass_transform, overload

_C = TypeVar("_C", bound=type)


class _Omitted:
    """The default of an ``__init__`` parameter with a ``default_factory``: it means that the argument is missing."""


@overload
def frozen_dataclass(cls: _C) -> _C: ...
@overload
def frozen_dataclass(*, eq: bool = True, repr: bool = True) -> Callable[[_C], _C]: ...


@dataclass_transform(frozen_default=True, field_specifiers=(dataclasses.field,))
def frozen_dataclass(cls: Any = None, *, eq: bool = True, repr: bool = True) -> Any:
    """A class decorator like ``dataclass(frozen=True, eq=eq, repr=repr)``.

    There are two differences. Subclasses that are dataclasses must use this decorator, too, since `dataclasses` does
    not know that the class is frozen. No field may be an ``InitVar`` (TypeError).
    """
    if cls is None:
        return functools.partial(frozen_dataclass, eq=eq, repr=repr)
    decorate: Any = dataclasses.dataclass(init=False, eq=False, repr=False)
    decorated: Any = decorate(cls)
    methods: dict[str, Any] = {"__setattr__": _refuse_to_set, "__delattr__": _refuse_to_delete}
    if eq:
        methods |= {"__eq__": _equal, "__hash__": _hash}
    return _with_methods(decorated, methods, repr, "_object.__setattr__(self, {0!r}, {1})")


@overload
def mutable_dataclass(cls: _C) -> _C: ...
@overload
def mutable_dataclass(*, eq: bool = True, repr: bool = True) -> Callable[[_C], _C]: ...


@dataclass_transform(field_specifiers=(dataclasses.field,))
def mutable_dataclass(cls: Any = None, *, eq: bool = True, repr: bool = True) -> Any:
    """A class decorator like ``dataclass(eq=eq, repr=repr)``. No field may be an ``InitVar`` (TypeError)."""
    if cls is None:
        return functools.partial(mutable_dataclass, eq=eq, repr=repr)
    decorate: Any = dataclasses.dataclass(init=False, eq=False, repr=False)
    methods: dict[str, Any] = {"__eq__": _equal, "__hash__": None} if eq else {}
    return _with_methods(decorate(cls), methods, repr, "self.{0} = {1}")


def _with_methods(cls: Any, methods: dict[str, Any], repr: bool, setting: str) -> Any:
    """Add what a class does not define itself. ``setting`` is the statement by which its ``__init__`` sets a field."""
    if "__init__" not in cls.__dict__:
        _check_fields(cls)
        methods["__init__"] = _LateInitializer(cls, setting)
    if repr:
        methods["__repr__"] = repr_of_fields
    for name, method in methods.items():
        # Python sets ``__hash__`` to None in a class that defines only ``__eq__``
        if name not in cls.__dict__ or (name == "__hash__" and cls.__hash__ is None):
            setattr(cls, name, method)
    return cls


def _check_fields(cls: Any) -> None:
    """TypeError if no ``__init__`` can be made for the fields of a class."""
    if any("InitVar" in str(each.type) for each in cls.__dataclass_fields__.values()):
        raise TypeError(f"{cls.__qualname__} has an InitVar, which frozen_dataclass does not take")
    has_default = False
    for each in dataclasses.fields(cls):
        if each.init and not each.kw_only:
            missing = each.default is each.default_factory is dataclasses.MISSING
            if missing and has_default:
                raise TypeError(f"non-default argument {each.name!r} follows default argument")
            has_default = not missing


class _LateInitializer:
    """The ``__init__`` of a class until it is looked up: most programs make instances of few classes."""

    def __init__(self, cls: Any, setting: str) -> None:
        self._cls, self._setting = cls, setting

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        init = _initializer(self._cls, self._setting)
        if self._cls.__dict__.get("__init__") is self:
            self._cls.__init__ = init
        return init if instance is None else types.MethodType(init, instance)


def _initializer(cls: Any, setting: str) -> types.FunctionType:
    """Make the ``__init__`` of a class, which sets the fields and calls ``__post_init__`` if there is one."""
    parameters: list[str] = ["self"]
    keywords: list[str] = []
    defaults: list[Any] = []
    keyword_defaults: dict[str, Any] = {}
    names: dict[str, Any] = {"_object": object, "_Omitted": _Omitted}
    body: list[str] = []
    named: dict[str, str] = {}
    for number, each in enumerate(dataclasses.fields(cls)):
        name, default = each.name, each.default
        field = value = f"field{number}"
        if each.default_factory is not dataclasses.MISSING:
            names[f"_new_{field}"] = each.default_factory
            default, new = _Omitted, f"_new_{field}()"
            value = f"{new} if {field} is _Omitted else {field}" if each.init else new
        elif not each.init:
            continue  # no argument: a class attribute has the value, or ``__post_init__`` sets it
        named[field] = name
        body.append(setting.format(field, value))
        if each.init and each.kw_only:
            keywords.append(field)
            if default is not dataclasses.MISSING:
                keyword_defaults[name] = default
        elif each.init:
            parameters.append(field)
            if default is not dataclasses.MISSING:
                defaults.append(default)
    if hasattr(cls, "__post_init__"):
        body.append("self.__post_init__()")
    if keywords:
        parameters += ["*", *keywords]
    code = _code(", ".join(parameters), "; ".join(body or ["pass"]))
    code = code.replace(
        co_names=tuple([named.get(n, n) for n in code.co_names]),
        co_varnames=tuple([named.get(v, v) for v in code.co_varnames]),
        co_consts=tuple([named.get(c, c) if type(c) is str else c for c in code.co_consts]),
    )
    init = types.FunctionType(code, names, "__init__", tuple(defaults))
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__module__ = cls.__module__
    init.__kwdefaults__ = keyword_defaults
    init.__annotations__ = {f.name: f.type for f in dataclasses.fields(cls) if f.init} | {
        "return": None
    }
    return init


@functools.cache
def _code(parameters: str, body: str) -> types.CodeType:
    """The code of an ``__init__`` with these parameters and this body.

    Both texts contain ``field0``, ``field1`` and so on in place of the names of fields. So classes that differ only in
    these names share the compiled code.
    """
    namespace: dict[str, Any] = {}
    exec(f"def __init__({parameters}): {body}", namespace)
    code: types.CodeType = namespace["__init__"].__code__
    return code


def _is_frozen(self: Any, name: str) -> bool:
    """Whether an attribute of an object must not change.

    In a dataclass, all attributes are frozen. In a subclass that is not itself a dataclass, only the fields that it
    inherits are frozen.
    """
    return "__dataclass_fields__" in type(self).__dict__ or name in self.__dataclass_fields__


def _refuse_to_set(self: Any, name: str, value: Any) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
    object.__setattr__(self, name, value)


def _refuse_to_delete(self: Any, name: str) -> None:
    if _is_frozen(self, name):
        raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
    object.__delattr__(self, name)


def _compared(self: Any) -> tuple[Any, ...]:
    return tuple([getattr(self, f.name) for f in dataclasses.fields(self) if f.compare])


def _equal(self: Any, other: object) -> Any:
    return _compared(self) == _compared(other) if type(other) is type(self) else NotImplemented


def _hash(self: Any) -> int:
    return hash(_compared(self))


def repr_of_fields(self: Any) -> str:
    """The ``__repr__`` of a dataclass, such as ``Point(x=1, y=2)``. All classes of `frozen_dataclass` share it."""
    inside = [f"{f.name}={getattr(self, f.name)!r}" for f in dataclasses.fields(self) if f.repr]
    return f"{type(self).__qualname__}({', '.join(inside)})"
