"""Write docs/names-of-pytensor.md: the public names of PyTensor by module, and why Occelo lacks those that it lacks.

    python docs/names_of_pytensor.py collect   where PyTensor is installed: list its names in names_of_pytensor.txt
    python docs/names_of_pytensor.py           where Occelo is installed: write the page
    python docs/names_of_pytensor.py check     the same, and fail if the page was not up to date

The public names of a module are those in its ``__all__``, else those that it defines and that do not begin with "_";
of a package also those that it imports from other modules of PyTensor.
"""

from __future__ import annotations

import ast
import importlib
import importlib.util
import logging
import pkgutil
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any, TypeVar

DOCS = Path(__file__).parent
NAMES = DOCS / "names_of_pytensor.txt"
PAGE = DOCS / "names-of-pytensor.md"
REASONS = DOCS.parent / "src" / "occelo" / "hints" / "reasons.py"
PLACES_OF_LIBRARIES = {"graph.rewriting.kanren": "kanren"}
"""The library that a whole module needs: without it, the names that have no reason are taken to be there."""
OF_LIBRARIES = {"JAX": "jax", "NUMBA": "numba", "PYTORCH": "torch"}
"""Modes that exist where a library is installed."""


def _reasons() -> ModuleType:
    """The module of reasons, which needs no other module of Occelo."""
    spec = importlib.util.spec_from_file_location("reasons", REASONS)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def reason_for_module(place: str, modules: dict[str, str]) -> str | None:
    """Why Occelo lacks the module at ``place`` below ``pytensor``; None if it should have it."""
    return next((modules[m] for m in modules if f"{place}.".startswith(f"{m}.")), None)


def collect() -> str:
    """A line for each module of PyTensor that can be imported: its place and its public names.

    The list in docs/ is made where the libraries of all modules are installed.
    """
    warnings.simplefilter("ignore")
    root = importlib.import_module("pytensor")
    modules = _reasons().MODULES
    lines = [f"# PyTensor {root.__version__}", *_line("", root)]
    for found in pkgutil.walk_packages(root.__path__, "pytensor.", onerror=lambda _: None):
        place = found.name.removeprefix("pytensor.")
        if any(part.startswith("_") for part in place.split(".")):
            continue
        if reason_for_module(place, modules) is not None:
            lines.append(f"{place}:")
            continue
        try:
            module = importlib.import_module(found.name)
        except ImportError as error:
            print(f"{found.name} is left out: {error}", file=sys.stderr)
            continue
        lines += _line(place, module)
    return "\n".join(lines) + "\n"


def _line(place: str, module: ModuleType) -> Iterator[str]:
    listed: Any = getattr(module, "__all__", None)
    names = set(_bound(module)) if listed is None else set(listed)
    public = sorted(
        name
        for name in names
        if not name.startswith("_")
        and not isinstance(getattr(module, name, None), ModuleType | TypeVar | logging.Logger)
    )
    yield f"{place}: {' '.join(public)}".rstrip()


def _bound(module: ModuleType) -> Iterator[str]:
    """The names that the top level of a module's source binds, and those that a package imports from PyTensor."""
    assert module.__file__ is not None
    package = hasattr(module, "__path__")
    for statement in ast.parse(Path(module.__file__).read_text(encoding="utf-8")).body:
        if isinstance(statement, ast.FunctionDef | ast.ClassDef):
            yield statement.name
        elif isinstance(statement, ast.Assign):
            for target in statement.targets:
                yield from (n.id for n in ast.walk(target) if isinstance(n, ast.Name))
        elif isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
            yield statement.target.id
        elif package and isinstance(statement, ast.ImportFrom):
            if statement.level or (statement.module or "").startswith("pytensor"):
                names = [a.asname or a.name for a in statement.names]
                yield from _below(module) if names == ["*"] else names


def _below(package: ModuleType) -> Iterator[str]:
    """The names of a package for what its own modules define."""
    for name, value in vars(package).items():
        if str(getattr(value, "__module__", "")).startswith(package.__name__):
            yield name


def read() -> dict[str, list[str]]:
    """The public names by place, as `collect` wrote them."""
    lines = NAMES.read_text(encoding="utf-8").splitlines()[1:]
    return {place: names.split() for place, names in (line.split(":") for line in lines)}


def missing(place: str, why: dict[str, str | None]) -> list[str]:
    """Those of the names ``why``, which maps them to reasons, that Occelo lacks at ``place``. ImportError if it lacks the place."""
    library = PLACES_OF_LIBRARIES.get(place)
    if library is not None and importlib.util.find_spec(library) is None:
        return [name for name, reason in why.items() if reason is not None]
    module = importlib.import_module(f"occelo.{place}".rstrip("."))
    return [
        name
        for name in why
        if not hasattr(module, name)
        and (name not in OF_LIBRARIES or importlib.util.find_spec(OF_LIBRARIES[name]) is not None)
    ]


def page() -> str:
    """The text of the page. RuntimeError if a name or a module is missing without a reason."""
    reasons = _reasons()
    table: list[str] = []
    absent: list[str] = []
    faults: list[str] = []
    counts = [0, 0]
    for place, names in read().items():
        whole = reason_for_module(place, reasons.MODULES)
        if whole is not None:
            absent.append(f"| `{place}` | {whole} |")
            continue
        why = {n: reasons.REASONS.get(f"{place}.{n}", reasons.REASONS.get(n)) for n in names}
        try:
            lacking = missing(place, why)
        except ImportError as error:
            faults.append(f"{place}: {error}")
            continue
        faults += [f"{place}.{n} has no reason" for n in lacking if why[n] is None]
        counts = [counts[0] + len(names), counts[1] + len(lacking)]
        by_reason: dict[str | None, list[str]] = {}
        for name in lacking:
            by_reason.setdefault(why[name], []).append(f"`{name}`")
        text = "; ".join(f"{' '.join(found)}: {reason}" for reason, found in by_reason.items())
        table.append(f"| `{place or 'occelo'}` | {len(names)} | {text} |")
    if faults:
        raise RuntimeError("\n".join(faults))
    version = NAMES.read_text(encoding="utf-8").splitlines()[0].removeprefix("# ")
    return "\n".join(
        [
            "# PyTensor's public names",
            "",
            "Written by `python docs/names_of_pytensor.py`. [from-pytensor.md](from-pytensor.md) is the introduction.",
            "",
            f"{version} has {counts[0]} public names in the modules that Occelo has at the same places, of which "
            f"{counts[0] - counts[1]} are there. For the others the table says what to use, or why they are not.",
            "",
            "| module | names | not in Occelo |",
            "|---|---|---|",
            *table,
            "",
            "## Modules that Occelo does not have",
            "",
            "| module | why |",
            "|---|---|",
            *absent,
            "",
        ]
    )


def main(command: str) -> None:
    """Run the command."""
    if command == "collect":
        NAMES.write_text(collect(), encoding="utf-8")
        return
    text = page()
    if command == "check" and text != PAGE.read_text(encoding="utf-8"):
        raise SystemExit(f"{PAGE} is not up to date: run python docs/names_of_pytensor.py")
    PAGE.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
