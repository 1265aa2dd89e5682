"""`config`: the options of all packages, such as ``config.floatX``.

Each package declares its options with `Config.declare`. The value of an option comes from the first of these sources
that has a value:

- a function argument that stands for an option, such as ``mode`` of `occelo.function`
- `change_flags` in the current context
- an assignment (``config.floatX = "float32"``)
- the environment variable ``OCCELO_FLAGS``
- the file ``~/.occelorc``, or the files listed in ``OCCELORC``
- the default

The name of an option that does not exist raises an error that suggests the closest existing name.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Mapping
from contextlib import ContextDecorator
from contextvars import ContextVar
from types import MappingProxyType
from typing import Any, Generic, TypeVar, cast

from occelo_graph.errors import OcceloError
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.notebook import Table, Tabulated

T = TypeVar("T")


class ConfigError(OcceloError, ValueError, explained=True):
    """An option was set to a value that it does not accept."""


class UnknownOptionError(OcceloError, AttributeError, explained=True):
    """No package declares an option of that name."""


def one_of(*choices: str) -> Callable[[Any], str]:
    """A parser for `Config.declare` that accepts one of the strings in ``choices``, in upper or lower case."""
    by_folded = {choice.lower(): choice for choice in choices}

    def parse(value: Any) -> str:
        choice = by_folded.get(str(value).lower())
        if choice is None:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return choice

    parse.__doc__ = " | ".join(choices)
    return parse


def boolean(value: Any) -> bool:
    """A parser for `Config.declare` that accepts a bool, or a text such as "True", "no" or "1"."""
    if isinstance(value, bool):
        return value
    texts = {"true": True, "1": True, "yes": True, "false": False, "0": False, "no": False}
    parsed = texts.get(str(value).strip().lower())
    if parsed is None:
        raise ValueError("expected True or False")
    return parsed


def text(value: Any) -> str:
    """A parser for `Config.declare` that accepts any text."""
    if not isinstance(value, str):
        raise ValueError("expected a string")
    return value


@frozen_dataclass(eq=False)
class Option(Generic[T]):
    """An option: its name, documentation, parser and default, and the package that declares it."""

    name: str
    doc: str
    parse: Callable[[Any], T]
    default: T
    package: str

    def check(self, value: Any, origin: str) -> T:
        """Parse a value. `ConfigError` for a wrong value. ``origin`` is the source of the value, for the message."""
        try:
            return self.parse(value)
        except (ValueError, TypeError) as error:
            raise ConfigError(
                f"The option {self.name} cannot be {value!r} (from {origin}): {error}"
            ) from None

    def get(self) -> T:
        """The value of the option in the current context."""
        return cast(T, config.get(self.name))


def _read_environment(environ: Mapping[str, str]) -> dict[str, str]:
    values: dict[str, str] = {}
    for part in environ.get("OCCELO_FLAGS", "").split(","):
        if not part.strip():
            continue
        name, equals, value = part.partition("=")
        if not equals:
            raise ConfigError(f"OCCELO_FLAGS must read name=value,name=value; got {part!r}")
        values[name.strip()] = value.strip()
    return values


def _read_files(environ: Mapping[str, str]) -> dict[str, str]:
    default = os.path.join(os.path.expanduser("~"), ".occelorc")
    paths = environ.get("OCCELORC", default).split(os.pathsep)
    if not any(os.path.exists(path) for path in paths if path):
        return {}
    import configparser  # here, since only users with such a file need it

    class Parser(configparser.ConfigParser):
        def optionxform(self, optionstr: str) -> str:
            return optionstr  # unchanged: the base class returns it in lower case

    parser = Parser(interpolation=None)
    parser.read(paths, encoding="utf-8")
    values: dict[str, str] = {}
    for section in parser.sections():
        prefix = "" if section == "global" else f"{section}__"
        values.update({prefix + key: value for key, value in parser.items(section)})
    return values


OF_PYTENSOR = {
    name: hint
    for hint, names in {
        "Occelo has no test values; use occelo.tensor.Assert, or DebugMode": """
            compute_test_value compute_test_value_opt print_test_value""",
        "its C code has other options; see `occelo config`": """
            cmodule__age_thresh_use cmodule__compilation_warning cmodule__debug cmodule__preload_cache
            cmodule__remove_gxx_opt cmodule__warn_no_version compile__wait 
            gcc_version_str generated_src_dir lib__amdlibm nocleanup blas__check_openmp""",
        "Occelo promotes dtypes as NumPy does": "cast_policy int_division tensor__cmp_sloppy",
        "large loops may run in several threads; see native__threads in `occelo config`": """
            openmp openmp_elemwise_minsize""",
        "see the options of the backend in `occelo config`": "numba__cache numba__fastmath device",
        "Occelo notes the user's line of each variable itself": """
            traceback__limit traceback__compile_limit check_stack_trace""",
        "loops take and release their own memory": "scan__allow_gc scan__allow_output_prealloc",
        "use occelo.function(profile=True), and ProfileStats": """
            profiling__debugprint profiling__min_memory_size profiling__min_peak_memory profiling__output_line_width""",
        "inputs are always checked, unless a function has trust_input": "check_input DebugMode__check_preallocated_output_ndim",
        "rewriting has other options; see `occelo config`": """
            cycle_detection
            tensor__insert_inplace_optimizer_validate_nb on_shape_error""",
    }.items()
    for name in names.split()
}
"""Maps options that only PyTensor has to what to do instead. Setting one of them is a warning, and changes nothing."""

_outer: ContextVar[tuple[Mapping[str, Any], ...]] = ContextVar("_outer", default=())
"""The flags to restore at the end of each open ``with`` block of this context. The innermost block is the last."""


class ChangedFlags(ContextDecorator):
    """The result of `Config.change_flags`: a context manager and decorator that changes options."""

    def __init__(self, context: ContextVar[Mapping[str, Any]], values: Mapping[str, Any]) -> None:
        self._context = context
        self._values = values

    def __enter__(self) -> None:
        current = self._context.get()
        _outer.set((*_outer.get(), current))
        self._context.set({**current, **self._values})

    def __exit__(self, *_: object) -> None:
        *rest, last = _outer.get()
        _outer.set(tuple(rest))
        self._context.set(last)


class Config(Tabulated):
    """The options as attributes. `declare` adds an option; `change_flags` changes options temporarily."""

    def __init__(self, environ: Mapping[str, str] | None = None) -> None:
        env = os.environ if environ is None else environ
        state = self.__dict__
        state["_options"] = {}
        state["_assigned"] = {}
        state["_listeners"] = []
        state["_context"] = ContextVar[Mapping[str, Any]](
            "occelo_flags", default=MappingProxyType({})
        )
        state["_file"] = _read_files(env)
        state["_environment"] = _read_environment(env)
        state["_base"] = {}

    def declare(
        self, name: str, default: T, doc: str, parse: Callable[[Any], T], package: str
    ) -> Option[T]:
        """Add an option, and check its value in ``OCCELO_FLAGS`` and in the configuration file, if it has one there.

        ``doc`` describes the option to users. ``parse`` converts a value, or raises ValueError or TypeError.
        """
        option = Option(name, doc, parse, default, package)
        value: Any = option.check(default, "its default")
        for origin, values in (("the file", self._file), ("OCCELO_FLAGS", self._environment)):
            if name in values:
                value = option.check(values[name], origin)
        self._options[name] = option
        self._base[name] = value
        return option

    def check_sources(self) -> None:
        """`UnknownOptionError` if ``OCCELO_FLAGS`` or the configuration file has an option that is not declared."""
        for origin, values in (("OCCELO_FLAGS", self._environment), ("the file", self._file)):
            for name in values:
                if name not in self._options:
                    raise UnknownOptionError(self._unknown(name) + f" (from {origin})")

    def _unknown(self, name: str) -> str:
        import difflib  # here, since only this message needs it

        if name in OF_PYTENSOR:
            return f"There is no option {name!r}; {OF_PYTENSOR[name]}"
        near = difflib.get_close_matches(name, list(self._options), 1, 0.5)
        hint = f"; did you mean {near[0]}?" if near else ""
        return f"There is no option {name!r}{hint}"

    def get(self, name: str) -> Any:
        """The value of an option in the current context. `UnknownOptionError` if no package declares it."""
        context: Mapping[str, Any] = self._context.get()
        if name in context:
            return context[name]
        if name in self._assigned:
            return self._assigned[name]
        try:
            return self._base[name]
        except KeyError:
            raise UnknownOptionError(self._unknown(name)) from None

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return self.get(name)

    def _is_foreign(self, name: str) -> bool:
        """Whether only PyTensor has the option; then a warning says what to do instead of setting it."""
        foreign = name in OF_PYTENSOR and name not in self._options
        if foreign:
            warnings.warn(
                f"The option {name} of PyTensor is ignored: {OF_PYTENSOR[name]}", stacklevel=3
            )
        return foreign

    def __setattr__(self, name: str, value: Any) -> None:
        if self._is_foreign(name):
            return
        self._assigned[name] = self._option(name).check(value, "an assignment")

    def __delattr__(self, name: str) -> None:
        self._option(name)
        self._assigned.pop(name, None)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *self._options]

    def _option(self, name: str) -> Option[Any]:
        option: Option[Any] | None = self._options.get(name)
        if option is None:
            raise UnknownOptionError(self._unknown(name))
        return option

    def change_flags(self, flags: Mapping[str, Any] | None = None, **more: Any) -> ChangedFlags:
        """Change options inside of a ``with`` block or a decorated function, for the current context (`contextvars`).

        The result may be used repeatedly, nested, and in several threads.
        """
        changes = {n: v for n, v in {**(flags or {}), **more}.items() if not self._is_foreign(n)}
        checked = {n: self._option(n).check(v, "change_flags") for n, v in changes.items()}
        return ChangedFlags(self._context, checked)

    def origin(self, name: str) -> str:
        """The source of the current value of an option, such as "OCCELO_FLAGS" or "default"."""
        self._option(name)
        for origin, values in (
            ("context", self._context.get()),
            ("assignment", self._assigned),
            ("OCCELO_FLAGS", self._environment),
            ("file", self._file),
        ):
            if name in values:
                return origin
        return "default"

    def options(self) -> list[Option[Any]]:
        """All declared options, sorted by name."""
        return [self._options[name] for name in sorted(self._options)]

    def as_dict(self) -> dict[str, Any]:
        """The values of all options in the current context, by name."""
        return {option.name: self.get(option.name) for option in self.options()}

    def __str__(self) -> str:
        return "\n".join(
            f"{o.name} = {self.get(o.name)!r}  [{self.origin(o.name)}]\n    {o.doc}"
            for o in self.options()
        )

    def __repr__(self) -> str:
        return f"<Config of {len(self._options)} options, which print shows>"

    def notebook_tables(self) -> list[Table]:
        rows = [
            (o.name, repr(self.get(o.name)), self.origin(o.name), o.doc) for o in self.options()
        ]
        return [(("option", "value", "set by", "meaning"), rows)]


config = Config()
vars(config)[
    "__doc__"
] = """The options as attributes, such as ``config.floatX``; ``print(config)`` lists all with their values.

``config.change_flags(floatX="float32")`` changes options in a ``with`` block, or as a decorator of a function."""


def _float_dtype(value: Any) -> str:
    """float64 | float32 | float16"""
    dtype = one_of("float64", "float32", "float16")(value)
    if dtype == "float16":
        warnings.warn(
            "floatX is float16: numbers have 3 digits and are infinite beyond 65504. Linear algebra and random numbers "
            "do not take float16",
            UserWarning,
            stacklevel=2,
        )
    return dtype


FLOAT_X = config.declare(
    "floatX",
    "float64",
    "dtype of constructors that name none, such as vector()",
    _float_dtype,
    "occelo_graph",
)
EXCEPTION_VERBOSITY = config.declare(
    "exception_verbosity",
    "low",
    "how much of the graph an error at run time shows",
    one_of("low", "medium", "high"),
    "occelo_graph",
)
