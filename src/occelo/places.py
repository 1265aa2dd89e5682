"""What the modules have in common that are named as PyTensor's, such as `occelo.gradient` and `occelo.tensor.math`.

They only collect names from other packages, so that a script for PyTensor finds them where it looks. `REASONS` says of names
that only PyTensor has what to use instead. Some places have the name of a function: `stands_at` keeps it a function.
"""

from __future__ import annotations

import importlib
import importlib.machinery
import sys
from collections.abc import Callable
from typing import Any

from occelo.function_with_names import FunctionWithNames, with_names
from occelo.hints.reasons import REASONS, why_no_module
from occelo_graph.missing_names import name_error

_LINALG = "occelo.tensor.linalg"
SAME_NAMES = {
    **dict.fromkeys(
        (
            f"{_LINALG}.{name}"
            for name in (
                "constructors decomposition decomposition.cholesky decomposition.eigen decomposition.lu decomposition.qr "
                "decomposition.schur decomposition.svd inverse products solvers solvers.core solvers.general "
                "solvers.linear_control solvers.lstsq solvers.psd solvers.triangular solvers.tridiagonal summary"
            ).split()
        ),
        _LINALG,
    ),
    "occelo.basic": "occelo",
    "occelo.compile.aliasing": "occelo.compile",
    "occelo.compile.debug.dump": "occelo",
    **{
        f"occelo.compile.{name}": f"occelo.compile.debug.{name}"
        for name in "debugmode monitormode nanguardmode profiling".split()
    },
    **dict.fromkeys(
        (f"occelo.compile.function{part}" for part in ("", ".pfunc", ".types")), "occelo.compile"
    ),
    "occelo.compile.rebuild": "occelo.compile",
    "occelo.conditional": "occelo_graph.ops.control",
    "occelo.conditional.op": "occelo_graph.ops.control",
    "occelo.configparser": "occelo.configdefaults",
    **dict.fromkeys(
        (
            f"occelo.sparse.{name}"
            for name in "basic linalg math sharedvar type utils variable".split()
        ),
        "occelo.sparse",
    ),
    "occelo.nn.initializers": "occelo_networks.initializers",
    "occelo.tensor.random.variable": "occelo_random.ops.generators",
    "occelo.tensor.nlinalg": _LINALG,
    "occelo.tensor.interpolate": "occelo.tensor",
    "occelo.tensor.optimize": "occelo.optimize",
    "occelo.tensor.rewriting": "occelo_rewrite",
    "occelo.tensor.rewriting.basic": "occelo_rewrite",
    "occelo.tensor.signal.conv": "occelo.tensor.signal",
    "occelo.tensor.signal.windows": "occelo_signal.windows",
    "occelo.tensor.var": "occelo.tensor.variable",
    "occelo.dims": "occelo_dims",
    **{
        f"occelo.xtensor.{name}": f"occelo_dims.{name}"
        for name in "basic indexing linalg math random reduction shape signal type vectorization".split()
    },
    **{
        f"occelo.xtensor.random.{name}": "occelo_dims.random"
        for name in ("basic", "type", "variable")
    },
}
"""Places of PyTensor without a file here. Each is made at its first import, with the names of another module."""

FUNCTIONS_AT = {
    "occelo.tensor.einsum": ("einsum",),
    "occelo.tensor.pad": ("flip", "pad"),
    "occelo.tensor.reshape": ("join_dims", "pack", "split_dims", "unpack"),
}
"""Places of PyTensor whose names are those of functions of `occelo.tensor`: the function, and the names there."""


ALIASES = {"matrix_inverse": "inv"}
"""Maps names of PyTensor's functions to those of Occelo for the same, where PyTensor has them."""


def made_modes(name: str) -> Any:
    """The mode or query that PyTensor has under ``name`` in its module of modes; None if there is none."""
    from occelo_compile import available_modes, get_mode
    from occelo_rewrite.queries import OPTIMIZERS

    if name in _MODES:
        return get_mode(_MODES[name])
    if name.startswith("OPT_"):
        return OPTIMIZERS.get(_QUERIES.get(name, name[4:].lower()))
    if name == "predefined_modes":
        names = [each for each in available_modes() if _library_is_there(each)]
        return _ModesByName(dict.fromkeys(names))
    return OPTIMIZERS if name == "predefined_optimizers" else None


class _ModesByName(dict[str, Any]):
    """Modes by their names. Each is made when it is read, since the libraries of some are slow to import."""

    def __getitem__(self, name: str) -> Any:
        from occelo_compile import get_mode

        if super().__getitem__(name) is None:
            self[name] = get_mode(name)
        return super().__getitem__(name)

    def get(self, name: str, default: Any = None) -> Any:
        return self[name] if name in self else default

    def values(self) -> Any:
        return [self[name] for name in self]

    def items(self) -> Any:
        return [(name, self[name]) for name in self]


def _library_is_there(linker: str) -> bool:
    import importlib.util  # slow to import

    name = {"jax": "jax", "numba": "numba", "pytorch": "torch"}.get(linker)
    return name is None or importlib.util.find_spec(name) is not None


_MODES = {
    "C": "c",
    "CVM": "c|py",
    "FAST_COMPILE": "FAST_COMPILE",
    "FAST_RUN": "FAST_RUN",
    "JAX": "jax",
    "NUMBA": "numba",
    "PYTORCH": "pytorch",
    "VM": "vm",
}
_QUERIES = {"OPT_NONE": "None", "OPT_MINIMUM": "minimum_compile"}


class _Places:
    """Makes the modules in `SAME_NAMES` and `FUNCTIONS_AT`, and says of those in `MODULES` why they do not exist.

    A finder and loader of modules. It does not inherit from the classes for them in `importlib.abc`, whose import is slow.
    """

    def find_spec(self, fullname: str, path: Any, target: Any = None) -> Any:
        if fullname in SAME_NAMES or fullname in FUNCTIONS_AT:
            loader: Any = self
            return importlib.machinery.ModuleSpec(
                fullname, loader, is_package=fullname in SAME_NAMES
            )
        if fullname.startswith("occelo."):
            reason = _why_no_module(fullname)
            if reason:
                raise ModuleNotFoundError(f"No module named {fullname!r}; {reason}", name=fullname)
        return None

    def create_module(self, spec: Any) -> None:
        """None: Python makes the module itself."""

    def exec_module(self, module: Any) -> None:
        name: str = module.__name__
        if name in FUNCTIONS_AT:
            tensor, last = importlib.import_module("occelo.tensor"), name.rpartition(".")[2]
            for each in FUNCTIONS_AT[name]:
                if each != last:
                    setattr(module, each, getattr(tensor, each))
            module.__file__ = __file__
            arrays = importlib.import_module("occelo_arrays.functions")
            stands_at(name, vars(tensor).get(last) or getattr(arrays, last))
        else:
            module.__doc__ = f"The names of `{SAME_NAMES[name]}`, at PyTensor's place."
            module.__getattr__ = names_of(name, SAME_NAMES[name])
            parent, _, last = name.rpartition(".")
            function = vars(importlib.import_module(parent)).get(last)
            if isinstance(
                function, FunctionWithNames
            ):  # which stays what it is, such as the variance
                names: dict[str, Any] = module.__dict__
                source = vars(importlib.import_module(SAME_NAMES[name]))
                names.update({k: v for k, v in source.items() if not k.startswith("_")})
                module.__file__ = __file__
                stands_at(name, function)


def _why_no_module(fullname: str) -> str:
    """What to use instead of a module that Occelo lacks; empty if it is not known."""
    if reason := why_no_module(fullname.removeprefix("occelo.")):
        return reason
    parent, _, last = fullname.rpartition(".")
    hint: str = importlib.import_module("occelo.hints.words").hint(
        last, parent
    )  # which imports families
    return hint


FINDER = _Places()
"""What the facade's finder of modules asks about names for which no file is there."""


def hints_about(module: str, made: Callable[[str], Any] | None = None) -> Callable[[str], Any]:
    """The ``__getattr__`` for ``module``: its errors say what is in `REASONS`. ``made`` makes values of further names."""

    def find(name: str) -> Any:
        if f"{module}.{name}" in SAME_NAMES:
            return importlib.import_module(f"{module}.{name}")
        text = f"module {module!r} has no attribute {name!r}"
        if made is not None and not name.startswith("_"):
            try:
                value = made(name)
            except ModuleNotFoundError as error:
                raise name_error(module, name, f"{text}; {error}") from None
            if value is not None:
                return value
        raise name_error(module, name, _with_reason(name, text))

    return find


def names_of(module: str, source: str) -> Callable[[str], Any]:
    """The ``__getattr__`` for ``module``, which has all names of the module ``source``, and the hints of both."""
    namespace = importlib.import_module(source)

    def find(name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(f"module {module!r} has no attribute {name!r}", name=name)
        if name in ALIASES and ALIASES[name] in dir(namespace):
            return getattr(namespace, ALIASES[name])
        try:
            return getattr(namespace, name)
        except AttributeError as error:
            raise name_error(module, name, _with_reason(name, str(error))) from None

    return find


def _with_reason(name: str, text: str) -> str:
    return f"{text}; {REASONS[name]}" if name in REASONS and ";" not in text else text


def stands_at(module: str, function: Callable[..., Any]) -> None:
    """Let every import of ``module`` give ``function``, which has its name, and the names of the module as attributes.

    Python sets ``occelo.scan`` to what ``sys.modules`` holds for it after ``import occelo.scan``.
    """
    modules: dict[str, Any] = sys.modules
    names: dict[str, Any] = sys.modules[module].__dict__
    standing = with_names(function, module)
    own = names | {module.rpartition(".")[2]: standing}
    vars(standing).update({k: v for k, v in own.items() if not k.startswith("_")})
    # which tools read from each module, and Python before it imports a module below it
    for each in ("__file__", "__path__", "__spec__"):
        if each in names:
            vars(standing)[each] = names[each]
    modules[module] = standing
