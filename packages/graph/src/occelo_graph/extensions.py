"""Registry of extensions (code that other packages register), and their source texts for keys of the cache.

The source text of a function or class changes whenever its code changes, or any object to which the code refers. Keys
contain no source texts of Occelo's own code, only the names, sizes and times of its files.

Registries record here what other packages add: facts, their inference, reductions, lowerings, and scalar functions in
backends. `occelo_rewrite.fingerprint` takes the source texts of rules. `occelo_compile.function_cache` takes those of
ops, scalar ops and types. The keys of the cache of functions include all these texts.

Code that runs again, such as a cell of a notebook, may register the same name again. Registries that refuse other
duplicates recognize such code by `place_of_definition` or `place_of_caller`. These are the registries of scalar
functions, reductions, facts, linkers, modes and rewrites.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import sys
import types
from collections.abc import Iterable, Iterator
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from occelo_graph.canonical.encoding import class_name, coders, encode
from occelo_graph.narrowing import is_dict, is_list_or_tuple

__all__ = [
    "UnknownSource",
    "defined_before",
    "extensions_text",
    "is_external",
    "place_of_caller",
    "place_of_definition",
    "register_extension",
    "remember_extension",
    "source_text",
]

_PACKAGES = frozenset(("occelo_graph", "occelo_rewrite", "occelo_link", "occelo_compile", "occelo"))
_VERSIONED = frozenset(("numpy", "scipy", "jax", "jaxlib", "torch", "numba", "llvmlite"))
"""Libraries whose code is represented by the version."""
_FIELDS_WITHOUT_EFFECT = frozenset(
    "__dict__ __weakref__ __doc__ __module__ __qualname__ __annotations__ __annotate_func__ __annotations_cache__ "
    "__firstlineno__ __static_attributes__ __dataclass_fields__ __dataclass_params__ __match_args__ __abstractmethods__ "
    "__parameters__ __orig_bases__ __hash__ _abc_impl __slots__".split()
)
_MOST = 5000
"""The largest number of functions and values in one text."""


class UnknownSource(Exception):
    """Registered code of another package has no source text, or refers to an object without one."""


_WITH_MODULE = (types.FunctionType, type, types.BuiltinFunctionType)
"""Classes of objects whose ``__module__`` is the module in which they are defined."""


def _package(part: object) -> str:
    return _package_of_module(
        part.__name__ if isinstance(part, types.ModuleType) else _module_of(part)
    )


@functools.cache
def _package_of_module(name: str) -> str:
    return str(name).partition(".")[0]


def _module_of(part: object) -> str:
    found: Any = getattr(part if isinstance(part, _WITH_MODULE) else type(part), "__module__", None)
    return found or "builtins"


def is_external(part: Any) -> bool:
    """Whether ``part`` is not Occelo's own: a function or class of another package, or a value of such a class."""
    return _package(part) not in _PACKAGES


def place_of_definition() -> tuple[str, ...] | None:
    """Where the caller of this function was called: module, file and function; None for Occelo's code.

    A later definition at the same place replaces the earlier one. All of ``__main__`` is one place, since each cell of a
    notebook is a file of its own.
    """
    frame = inspect.currentframe()
    for _ in range(2):
        frame = None if frame is None else frame.f_back
    return None if frame is None else _place(frame)


def place_of_caller() -> tuple[str, ...] | None:
    """Module, file and function of the innermost frame of the call stack that is not Occelo's.

    Used like the result of `place_of_definition`.
    """
    frame = inspect.currentframe()
    while frame is not None:
        found = _place(frame)
        if found is not None:
            return found
        frame = frame.f_back
    return None


def _place(frame: types.FrameType) -> tuple[str, ...] | None:
    module = str(frame.f_globals.get("__name__"))
    if module.partition(".")[0] in _PACKAGES:
        return None
    if module == "__main__":
        return (module,)
    return module, frame.f_code.co_filename, frame.f_code.co_qualname


def defined_before(cls: type, known: Iterable[type]) -> list[type]:
    """Earlier definitions of ``cls`` in ``known``: classes of the same module and name, which ``cls`` has replaced."""
    found: Any = sys.modules.get(cls.__module__)
    for part in cls.__qualname__.split("."):
        found = getattr(found, part, None)
    name = (cls.__module__, cls.__qualname__)
    if found is not cls:
        return []  # classes that a function makes share one name and are all in use
    return [c for c in known if c is not cls and (c.__module__, c.__qualname__) == name]


def source_text(part: Any, what: str) -> str:
    """The source text of a function, class or object of another package; for Occelo's own just its name.

    The text of a function consists of its bytecode, defaults and closures, and the texts of all objects that its code
    names. A module is represented by its file, a library like NumPy by its version, and a value by its content. An
    object with an attribute ``version`` is represented by that alone. Raises `UnknownSource`, which names ``what``, if
    ``part`` or an object to which it refers has no text.
    """
    return "\n".join(_Reader(what).lines(part))


class _Reader:
    """Writes source texts. Each object is written once and gets a number, which is written at its later occurrences."""

    def __init__(self, what: str) -> None:
        self.what = what
        self.seen: dict[int, tuple[int, object]] = {}

    def lines(self, part: object) -> Iterator[str]:
        """The text of any object."""
        plain = _plain(part)
        if plain is not None:
            yield plain
            return
        if id(part) in self.seen:
            yield f"part {self.seen[id(part)][0]}"
            return
        if len(self.seen) >= _MOST:
            raise UnknownSource(f"The source of {self.what} refers to too much to be read")
        # the object is kept alive, so that no other object gets its identity
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
                continue  # an empty cell
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
        for name, value in sorted(vars(cls).items()):
            if name not in _FIELDS_WITHOUT_EFFECT and not name.endswith("_cache"):
                yield f"attribute {name}"
                yield from self.lines(value)
        for registry, parts in sorted(_of_local_classes.get(cls, {}).items()):
            yield f"{registry} of the class"
            yield from self.lines(parts)

    def _object(self, part: Any) -> Iterator[str]:
        given: Any = (
            part  # untyped, or isinstance would narrow it to a container of unknown elements
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
            yield f"set {sorted(chr(10).join(_Reader(self.what).lines(each)) for each in given)}"
        elif isinstance(part, staticmethod | classmethod):
            yield type(given).__name__
            yield from self.lines(given.__func__)
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
            array = np.asarray(given)
            if array.dtype.hasobject:
                raise self._unknown(given)
            yield f"array {array.dtype.str} {array.shape} {array.tobytes()!r}"
        else:
            yield from self._instance(part)

    def _instance(self, part: object) -> Iterator[str]:
        """The text of an object: its class, and its encoding or attributes."""
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
    """The attribute ``version``; None if there is none, or if reading it raises."""
    try:
        return getattr(part, "version", None)
    except Exception:
        return None


def _is_plain_inside(part: object) -> bool:
    """Whether an object is determined by its class and attributes, all of which are plain values."""
    slots = any(getattr(c, "__slots__", ()) for c in type(part).__mro__)
    held = getattr(part, "__dict__", None)
    return held is not None and not slots and all(_plain(v) is not None for v in held.values())


def _plain(part: object) -> str | None:
    """The text of a value without references to other objects; None for other objects."""
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
    """The text for code of Occelo, of the standard library, or of a library like NumPy; None for other code.

    The text has the name of the code and the version of the library.
    """
    package = _package(part)
    name = f"{_module_of(part)}.{getattr(part, '__qualname__', getattr(part, '__name__', ''))}"
    if isinstance(part, np.ufunc):
        package, name = "numpy", f"numpy or scipy ufunc {part.__name__}"
    if package in _PACKAGES or package in sys.stdlib_module_names or package == "builtins":
        return name
    if package in _VERSIONED:
        return f"{name} {getattr(importlib.import_module(package), '__version__', '')}"
    return None


def _names(code: types.CodeType) -> list[str]:
    """The names that a function, and functions defined in it, use."""
    found = dict.fromkeys(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(_names(constant)))
    return list(found)


_extensions: dict[tuple[str, str], tuple[Any, ...]] = {}
_of_local_classes: WeakKeyDictionary[type, dict[str, tuple[Any, ...]]] = WeakKeyDictionary()


def register_extension(registry: str, name: str | type, *parts: Any) -> None:
    """Record that ``parts`` (functions, classes, plain values) were registered for a class, or under a name, in a registry.

    Parts of other packages enter the keys of the cache; Occelo's own are ignored.

    Classes that are defined inside of a function have the same name for each call of that function. So the parts that
    are registered for such a class become part of the source text of the class. This text enters the key of each
    function whose graph contains the class.
    """
    if isinstance(name, type):
        if "<locals>" in name.__qualname__:
            _of_local_classes.setdefault(name, {})[registry] = parts
            return
        name = class_name(name)
    if any(is_external(part) for part in parts if _plain(part) is None):
        remember_extension(registry, name, *parts)
    else:
        _extensions.pop((registry, name), None)


def remember_extension(registry: str, name: str, *parts: Any) -> None:
    """`register_extension` for parts that are known to belong to another package."""
    _extensions[registry, name] = parts


def extensions_text() -> str:
    """The source texts of all extensions; empty if there are none. `UnknownSource` as in `source_text`."""
    rows = dict(_extensions)
    rows.update(
        (("coder", name), row) for name, row in coders().items() if any(map(is_external, row[1:]))
    )
    return "\n".join(
        f"{registry} {name}\n{source_text(rows[registry, name], f'the {registry} of {name}')}"
        for registry, name in sorted(rows)
    )
