"""The registry of linkers by name.

Modes and debugging tools (`occelo_compile`) and conformance tests get their linkers from `make_linker`. Other packages
add linkers with `register_linker`, or as entry points of the group ``occelo.backends``.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.extensions import place_of_caller
from occelo_link import options
from occelo_link.linker import Linker

LinkerMaker = Callable[..., Linker]


def _late_linker(module: str, name: str, **settings: Any) -> Linker:
    """Make a linker whose module is imported only now: few programs need more than one, and some need a library."""
    linker: Linker = getattr(importlib.import_module(f"occelo_link.{module}"), name)(**settings)
    return linker


_linkers: dict[str, LinkerMaker] = {
    "py": partial(_late_linker, "vm", "PerformLinker"),
    "vm": partial(_late_linker, "vm", "VMLinker"),
    "native": partial(_late_linker, "native.linker", "NativeLinker"),
    # related libraries call their compiled virtual machine cvm
    "cvm": partial(_late_linker, "native.linker", "NativeLinker"),
    "cvm_nogc": partial(_late_linker, "native.linker", "NativeLinker", allow_gc=False),
    "c": partial(_late_linker, "c.linker", "CLinker"),
    "c|py": partial(_late_linker, "c.linker", "OpWiseCLinker"),
    "c|py_nogc": partial(_late_linker, "c.linker", "OpWiseCLinker", allow_gc=False),
    "numba": partial(_late_linker, "numba.linker", "NumbaLinker"),
    "jax": partial(_late_linker, "jax.linker", "JAXLinker"),
    "pytorch": partial(_late_linker, "torch.linker", "PytorchLinker"),
    "vm_nogc": partial(_late_linker, "vm", "VMLinker", allow_gc=False),
}
_AUTO = "native"

_places: dict[str, tuple[str, ...] | None] = {}
"""For each name that was passed to `register_linker`, the place in the code that did so: module, file and function."""


@explained_by("modes")
def register_linker(name: str, maker: LinkerMaker | Linker) -> None:
    """Register ``maker``, a linker or a function that makes one, under ``name``. Modes find it by this name.

    Raises ValueError if the name is taken, in lower or upper case, unless it was registered at the same place in the
    user's code (module, file and function), for instance by a notebook cell that runs again. "auto" is taken.
    """
    place = place_of_caller()
    taken = next((other for other in (*_linkers, "auto") if other.lower() == name.lower()), None)
    again = taken == name and place is not None and _places.get(name) == place
    if taken is not None and not again:
        raise ValueError(f"There is a linker named {taken!r} already")
    _places[name] = place
    _linkers[name] = maker.clone if isinstance(maker, Linker) else maker


def _add_entry_points() -> None:
    """Register the linkers that other packages provide as entry points."""
    from importlib.metadata import entry_points  # slow to import, and needed only for unknown names

    for point in entry_points(group="occelo.backends"):
        if point.name not in _linkers:
            _linkers[point.name] = point.load()


def available_linkers() -> list[str]:
    """Return the names of all registered linkers.

    Linkers that other packages provide as entry points are missing until `find_linker` gets an unknown name.
    """
    return sorted(_linkers)


def find_linker(name: str) -> str | None:
    """Return the name of a linker as it is registered, for a name in lower or upper case. None if there is none.

    If the name is unknown, the entry points of other packages are registered first.
    """
    folded = name.lower()
    if folded not in (other.lower() for other in _linkers):
        _add_entry_points()
    return next((other for other in _linkers if other.lower() == folded), None)


@explained_by("modes")
def make_linker(name: str | None = None, **settings: Any) -> Linker:
    """Make a linker by its name, in lower or upper case.

    The name "auto" means the fastest linker, and None means the linker that the option ``linker`` names. ``settings``
    are arguments of the linker's class. Raises ValueError if there is no linker of that name.
    """
    choice: Any = options.LINKER.get() if name is None else name
    if not isinstance(choice, str):
        raise TypeError(f"A linker is made by its name, got {choice!r}")
    folded = choice.lower()
    if folded == "auto":
        folded = _AUTO
    registered = find_linker(folded)
    if registered is None:
        names = ", ".join(available_linkers())
        raise ValueError(f"There is no linker {choice!r}; there are {names}")
    linker = _linkers[registered](**settings)
    if linker.allow_gc and not options.ALLOW_GC.get():
        linker.allow_gc = False
    return linker
