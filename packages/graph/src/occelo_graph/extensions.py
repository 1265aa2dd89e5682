"""Source texts of code of other packages. The cache keys of compiled functions contain them, so that a function that
was compiled with older code is not taken from the cache.

The source text of a function or class changes whenever its code, or an object to which the code refers, changes. These
have source texts:

- extensions: facts, inference of facts, reductions, lowerings and scalar functions that other packages register. Their
  registries call `register_extension` or `remember_extension`, which add them to a table in this module.
- rules: `occelo_rewrite.fingerprint` calls `source_text`.
- ops, scalar ops and types: `occelo_compile.function_cache` calls `source_text`.

The source text of Occelo's own code is only its name. But the keys also contain the names, sizes and times of the files
of this code.

The module also helps registries to tell a repeated registration from a conflict. A cell of a notebook that runs twice
registers the same name twice, which is allowed. The registries of scalar functions, reductions, facts, linkers, modes
and rewrites recognize this case, since both registrations have the same `place_of_definition` or `place_of_caller`.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Container, Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from occelo_graph.canonical.encoding import coders, encode
from occelo_graph.canonical.names import class_name
from occelo_graph.errors import explained_by
from occelo_graph.families import Family, family_of_module
from occelo_graph.narrowing import is_dict, is_list_or_tuple
from occelo_graph.provenance import is_own

_VERSIONED = {*"numpy scipy jax jaxlib torch numba llvmlite pytensor pymc pymc_extras".split()}
"""Libraries whose version replaces their code in source texts."""
_FIELDS_WITHOUT_EFFECT = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __annotations__ __annotate_func__ __annotations_cache__ "
    "__firstlineno__ __static_attributes__ __dataclass_fields__ __dataclass_params__ __match_args__ __abstractmethods__ "
    "__parameters__ __orig_bases__ __hash__ _abc_impl __slots__".split()
)
_MOST = 5000
"""The largest number of objects in one source text."""


class UnknownSource(Exception):
    """Code of another package has no source text, or refers to an object without a source text."""


_WITH_MODULE = (types.FunctionType, type, types.BuiltinFunctionType)
"""Classes of objects that have their own ``__module__``. For other objects, the ``__module__`` of the class counts."""


def _package(part: object) -> str:
    return _package_of_module(
        part.__name__ if isinstance(part, types.ModuleType) else _module_of(part)
    )


_is_own = functools.cache(is_own)


@functools.cache
def _package_of_module(name: str) -> str:
    return str(name).partition(".")[0]


def _module_of(part: object) -> str:
    name: Any = getattr(part if isinstance(part, _WITH_MODULE) else type(part), "__module__", None)
    return name or "builtins"


def is_external(part: Any) -> bool:
    """Whether ``part`` is a function or class of another package, or an object of such a class."""
    if isinstance(part, types.FunctionType):  # nearly always, for each node that is compiled
        return not _is_own(part.__module__ or "builtins")
    return not _is_own(_package(part))


def place_of_definition() -> tuple[str, ...] | None:
    """The place of the code that calls a registering function, such as `elementwise`: its module, file and function.

    The registering function calls `place_of_definition`. The result is the place of the caller of the registering
    function, or None if the caller is Occelo's own code. A later definition at the same place replaces the earlier one.
    All of ``__main__`` is one place, since each cell of a notebook has its own file name.
    """
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    if frame is not None and frame.f_globals.get("__name__") == explained_by.__module__:
        frame = frame.f_back  # what explains the errors of the registering function
    return None if frame is None else _place(frame)


def place_of_caller() -> tuple[str, ...] | None:
    """The place of the user's code that is running: the innermost frame of the call stack that is not Occelo's code.

    The place has the form that `place_of_definition` returns, and registries compare it in the same way.
    """
    frame = inspect.currentframe()
    while frame is not None:
        place = _place(frame)
        if place is not None:
            return place
        frame = frame.f_back
    return None


def _place(frame: types.FrameType) -> tuple[str, ...] | None:
    module = str(frame.f_globals.get("__name__"))
    if _is_own(module):
        return None
    if module == "__main__":
        return (module,)
    return module, frame.f_code.co_filename, frame.f_code.co_qualname


def defined_before(cls: type, classes: Iterable[type]) -> list[type]:
    """The classes in ``classes`` that ``cls`` has replaced: earlier classes with its module and name.

    The registry of lowerings uses this when the definition of an op runs again, for instance in a notebook.
    """
    current: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        current = getattr(current, part, None)
    name = (cls.__module__, cls.__qualname__)
    if current is not cls:
        return []  # made in a function: such classes share one name, and none replaces another
    return [c for c in classes if c is not cls and (c.__module__, c.__qualname__) == name]


def source_text(part: Any, what: str) -> str:
    """The source text of a function, class or object of another package. For Occelo's own code it is only a name.

    The text of a function consists of its bytecode, defaults and closures, and the texts of all objects that its code
    names. The text of a module is the content of its file; the text of a value is its content. For a library like
    NumPy the text has the version, not the code. If an object has an attribute ``version``, only this attribute counts.

    `UnknownSource` if ``part`` has no text, or refers to an object without a text. ``what`` names ``part`` in the
    message.
    """
    return "\n".join(_Reader(what).lines(part))


class _Reader:
    """Writes one source text. An object is written in full once; if it occurs again, only its number is written."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.seen: dict[int, tuple[int, object]] = {}

    def lines(self, part: object) -> Iterator[str]:
        """The lines of the text of any object."""
        plain = _plain(part)
        if plain is not None:
            yield plain
            return
        if id(part) in self.seen:
            yield f"part {self.seen[id(part)][0]}"
            return
        if len(self.seen) >= _MOST:
            raise UnknownSource(f"The source of {self.what} refers to too much to be read")
        # keeps the object alive, so that no later object gets the same ``id``
        self.seen[id(part)] = (len(self.seen), part)
        version = None if isinstance(part, types.ModuleType) else _version(part)
        if isinstance(version, str | int | tuple):
            yield f"version {version!r}"
        elif isinstance(part, types.ModuleType):
            yield self._module(part)
        elif isinstance(part, types.FunctionType):
            yield from self._function(part)
        elif isinstance(part, type):
            yield from self._class(part)
        else:
            yield from self._object(part)

    def _module(self, module: types.ModuleType) -> str:
        text = _library(module)
        if text is not None:
            return f"module {text}"
        file = getattr(module, "__file__", None)
        try:
            with open(file or "", "rb") as source:
                return f"module {module.__name__} {source.read()!r}"
        except OSError:
            raise UnknownSource(
                f"The source of {self.what} uses the module {module.__name__}, whose file cannot be read"
            ) from None

    def _function(self, function: types.FunctionType) -> Iterator[str]:
        text = _library(function)
        if text is None:
            yield from self._code(function.__code__)
            yield from self.lines((function.__defaults__, function.__kwdefaults__))
            for name in _names(function.__code__):
                if name in function.__globals__:
                    yield f"global {name}"
                    yield from self.lines(function.__globals__[name])
        else:
            yield f"function {text}"
        for cell in function.__closure__ or ():
            try:
                content = cell.cell_contents
            except ValueError:
                continue  # the closure variable has no value yet
            if text is None or (callable(content) and is_external(content)):
                yield "closure"
                yield from self.lines(content)

    def _code(self, code: types.CodeType) -> Iterator[str]:
        yield f"code {code.co_code.hex()} {code.co_names} {code.co_varnames} {code.co_freevars} {code.co_cellvars}"
        yield f"{code.co_argcount} {code.co_posonlyargcount} {code.co_kwonlyargcount} {code.co_flags}"
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                yield from self._code(constant)
            else:
                yield from self.lines(constant)

    def _class(self, cls: type) -> Iterator[str]:
        text = _library(cls)
        if text is not None:
            yield f"class {text}"
            return
        yield f"class {cls.__qualname__}"
        for base in cls.__bases__:
            yield from self.lines(base)
        _ = cls.__init__  # an op's is made when it is first looked up
        for name, value in sorted(vars(cls).items()):
            if name not in _FIELDS_WITHOUT_EFFECT and not name.endswith("_cache"):
                yield f"attribute {name}"
                yield from self.lines(value)
        for registry, parts in sorted(_of_local_classes.get(cls, {}).items()):
            yield f"{registry} of the class"
            yield from self.lines(parts)

    def _object(self, part: Any) -> Iterator[str]:
        untyped: Any = (
            part  # of type Any: isinstance would narrow `part` to a container of unknown elements
        )
        if is_list_or_tuple(part):
            yield f"{type(part).__name__} of {len(part)}"
            for each in part:
                yield from self.lines(each)
        elif is_dict(part):
            yield f"dict of {len(part)}"
            for pair in part.items():
                yield from self.lines(pair)
        elif isinstance(part, set | frozenset):
            yield f"set {sorted(chr(10).join(_Reader(self.what).lines(each)) for each in untyped)}"
        elif isinstance(part, staticmethod | classmethod):
            yield type(untyped).__name__
            yield from self.lines(untyped.__func__)
        elif isinstance(part, types.MemberDescriptorType | types.GetSetDescriptorType):
            yield f"slot {part.__name__}"
        elif isinstance(part, functools.cached_property):
            yield from self.lines(part.func)
        elif isinstance(part, property):
            yield from self.lines((part.fget, part.fset, part.fdel))
        elif isinstance(part, types.MethodType):
            yield from self.lines((part.__func__, part.__self__))
        elif isinstance(part, functools.partial):
            yield from self.lines((part.func, part.args, part.keywords))
        elif isinstance(part, np.ufunc | types.BuiltinFunctionType):
            yield f"{type(part).__name__} {_library(part) or part.__name__}"
        elif isinstance(part, np.ndarray | np.generic):
            array = np.asarray(untyped)
            if array.dtype.hasobject:
                raise self._unknown(untyped)
            yield f"array {array.dtype.str} {array.shape} {array.tobytes()!r}"
        else:
            yield from self._instance(part)

    def _instance(self, part: object) -> Iterator[str]:
        """The text of an object: the text of its class, then its encoding (`encode`) or its attributes."""
        yield from self.lines(type(part))
        arrays: list[Any] = []
        try:
            yield f"{encode(part, arrays)}"
            yield from self.lines(arrays)
            return
        except TypeError:
            pass
        if not is_external(part) and _is_plain_inside(part):
            yield from self.lines(vars(part))
            return
        if not (is_external(part) and hasattr(part, "__dict__")):
            raise self._unknown(part)
        yield from self.lines({k: v for k, v in vars(part).items() if not k.endswith("_cache")})

    def _unknown(self, part: object) -> UnknownSource:
        kind = type(part)
        return UnknownSource(
            f"The source of {self.what} cannot be read: it refers to an object of {kind.__module__}.{kind.__qualname__}; "
            "an attribute `version` of what was registered would stand for it"
        )


def _version(part: object) -> Any:
    """The attribute ``version`` of an object; None if it is missing or cannot be read."""
    try:
        return getattr(part, "version", None)
    except Exception:
        return None


def _is_plain_inside(part: object) -> bool:
    """Whether an object has no slots and all its attributes are plain values, so that the attributes determine it."""
    slots = any(getattr(c, "__slots__", ()) for c in type(part).__mro__)
    held = getattr(part, "__dict__", None)
    return held is not None and not slots and all(_plain(v) is not None for v in held.values())


def _plain(part: object) -> str | None:
    """The text of a plain value, which refers to no other object, such as a number or a dtype. Else None."""
    if part is None or part is ... or part is NotImplemented:
        return repr(part)
    if type(part) in (bool, int, float, complex, str, bytes, range):
        return f"{type(part).__name__} {part!r}"
    if isinstance(part, types.UnionType):
        return f"union {part!r}"
    if isinstance(part, slice):
        return f"slice {part!r}"
    return f"dtype {part.str}" if isinstance(part, np.dtype) else None


def _library(part: object) -> str | None:
    """The text for code of Occelo, of the standard library, or of a library like NumPy. None for all other code.

    The text is the name of the code, followed by the version for a library like NumPy.
    """
    package = _package(part)
    name = f"{_module_of(part)}.{getattr(part, '__qualname__', getattr(part, '__name__', ''))}"
    if isinstance(part, np.ufunc):
        package, name = "numpy", f"numpy or scipy ufunc {part.__name__}"
    if _is_own(package) or package in sys.stdlib_module_names or package == "builtins":
        return name
    if package in _VERSIONED:
        return f"{name} {getattr(importlib.import_module(package), '__version__', '')}"
    return None


def _names(code: types.CodeType) -> list[str]:
    """The global names and attributes that a function's code uses. The code of functions inside of it counts, too."""
    names = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names.update(dict.fromkeys(_names(constant)))
    return list(names)


_extensions: dict[tuple[str, str], tuple[Any, ...]] = {}
_of_families: dict[tuple[str, str], tuple[str, tuple[Any, ...]]] = {}
"""The extensions that only graphs with a family's ops depend on, or those whose ops hold the name (`Op.named_extensions`).

Each row begins with the name of the family. Keys contain digests of the family's files instead, so that they need no part of
the family to be imported.
"""
_of_local_classes: WeakKeyDictionary[type, dict[str, tuple[Any, ...]]] = WeakKeyDictionary()


def register_extension(
    registry: str, name: str | type, *parts: Any, module: str | None = None
) -> None:
    """Record that ``parts`` (functions, classes, plain values) were registered under a name or a class in ``registry``.

    If any of the parts comes from another package, the source texts of the parts enter all cache keys.

    A class that is defined inside of a function is an exception, since each call of the function makes another class of
    the same name. For such a class, the texts of the parts become part of the source text of the class. This text
    enters only the keys of functions whose graphs contain the class.

    What a family registers for its own classes, or for scalar functions that were defined in a ``module`` of its own,
    is another exception. It changes no graph without them, and keys of graphs with the family's ops contain the family's
    sources.
    """
    if isinstance(name, type):
        module = name.__module__
        if "<locals>" in name.__qualname__:
            _of_local_classes.setdefault(name, {})[registry] = parts
            return
        name = class_name(name)
    external = [part for part in parts if _plain(part) is None and is_external(part)]
    family = _family_of(module, external)
    for table in (_extensions, _of_families):
        table.pop((registry, name), None)
    if external and family is None:
        _extensions[registry, name] = parts
    elif external and family is not None:
        _of_families[registry, name] = family.name, parts


def _family_of(module: str | None, parts: Iterable[object]) -> Family | None:
    """The family that a module belongs to, if all parts come from the family's package."""
    family = family_of_module(module or "")
    whole = family is not None and all(_package(part) == family.package for part in parts)
    return family if whole else None


def remember_extension(
    registry: str, name: str, *parts: Any, place: tuple[str, ...] | None = None
) -> None:
    """Like `register_extension`, without the test whether a part comes from another package.

    If the ``place`` of the registration is in a family, only keys of graphs whose ops name the extension contain it.
    """
    family = family_of_module(place[0]) if place else None
    if family is None:
        _extensions[registry, name] = parts
    else:
        _of_families[registry, name] = family.name, parts


def extensions_text(
    named: Iterable[tuple[str, str]] = (), families: Container[str] = frozenset()
) -> str:
    """The source texts of all extensions, and of the coders of other packages. Empty if there are none.

    Of the extensions of families, those that are ``named``, by their registries and names, and those of ``families``. A
    coder is a pair of functions that encode and decode the objects of a class (`canonical.encoding`).

    `UnknownSource` if an extension has no source text.
    """
    rows, named = dict(_extensions), set(named)
    # another package's inference about any op may lead from one fact to others
    infers = any(registry.startswith("inference") for registry, _ in rows)
    for key, (family, row) in _of_families.items():
        if family in families or key in named or (infers and key[0] == "fact"):
            rows[key] = row
    rows.update(
        (("coder", name), row)
        for name, row in coders().items()
        if any(map(is_external, row[1:])) and _family_of(row[0].__module__, row[1:]) is None
    )
    return "\n".join(
        f"{registry} {name}\n{source_text(rows[registry, name], f'the {registry} of {name}')}"
        for registry, name in sorted(rows)
    )
