"""The packages of this repository, and the tables of ``pyproject.toml`` that name each of them.

What a package is stands in its own ``packages/NAME/pyproject.toml``; the ``dependencies`` of the facade say which ones users
get. Everything else that needs a list of packages (nox, tests, the other commands of this folder) reads it here. Tools that
take only a table find it between the lines ``# packages:`` and ``# end of packages`` of a ``pyproject.toml``:
``python docs/workspace.py`` writes these tables, and a test compares them.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TABLE = re.compile(r"(?<=^# packages: )([^\n]+)\n(.*?)(?=^# end of packages$)", re.M | re.S)


@dataclass(frozen=True)
class Package:
    """A package below ``packages``: its name, the packages that it requires or names in an extra, and what it holds."""

    name: str
    requires: frozenset[str]
    optional: frozenset[str]
    is_family: bool

    @property
    def module(self) -> str:
        """The name that is imported."""
        return f"occelo_{self.name}"

    @property
    def folder(self) -> Path:
        """The folder of the project."""
        return ROOT / "packages" / self.name

    @property
    def source(self) -> Path:
        """The folder that holds the module."""
        return self.folder / "src"


def _project(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "pyproject.toml").read_text())["project"]


def _own(requirements: Iterable[str]) -> Iterator[str]:
    """The packages of this repository among requirements; "" is the facade."""
    for each in requirements:
        named = re.match(r"occelo(?:-(\w+))?(?=[\[<>= ;]|$)", each)
        if named is not None:
            yield named[1] or ""


def _read(folder: Path) -> Package:
    project = _project(folder)
    extras = project.get("optional-dependencies", {}).values()
    return Package(
        folder.name,
        frozenset(_own(project["dependencies"])),
        frozenset(_own(each for extra in extras for each in extra)),
        "occelo.families" in project.get("entry-points", {}),
    )


BY_NAME = {path.parent.name: _read(path.parent) for path in ROOT.glob("packages/*/pyproject.toml")}


def needed(name: str) -> set[str]:
    """A package and those that come with it."""
    return {name}.union(*(needed(each) for each in BY_NAME[name].requires))


def by_level(names: set[str]) -> list[list[str]]:
    """Packages by the longest chain of requirements from one to others of these, each level sorted."""
    if not names:
        return []
    lowest = sorted(name for name in names if not BY_NAME[name].requires & names)
    return [lowest, *by_level(names - {*lowest})]


def _in_order(names: set[str]) -> list[str]:
    """Each after those that it requires."""
    return [name for level in by_level(names) for name in level]


_OF_USERS = set(_own(_project(ROOT)["dependencies"]))
CORE = _in_order(needed("compile"))
"""The packages that compile functions, from the lowest layer up. None of them knows a family."""
FAMILIES = _in_order(_OF_USERS - set(CORE))
"""The packages beside the core that users get with the facade."""
PACKAGES = [*CORE, *FAMILIES]
"""What users install. Tests need what `SUPPORT` names besides."""
CLIENTS = sorted(name for name, each in BY_NAME.items() if "" in each.requires)
"""Packages that require the facade. They are no members of the workspace: what they need may exclude what it pins."""
SUPPORT = sorted(BY_NAME.keys() - {*PACKAGES, *CLIENTS})
"""Packages that come with no user's wheel."""
MEMBERS = [*PACKAGES, *SUPPORT]
"""The members of the workspace beside the facade."""


def modules(names: Iterable[str]) -> list[str]:
    """The names that are imported."""
    return [BY_NAME[name].module for name in names]


def _list(values: Iterable[str], start: str, a_line: int = 4) -> str:
    """A list of TOML with so many values on a line."""
    quoted = [f'"{each}"' for each in values]
    lines = [", ".join(quoted[i : i + a_line]) for i in range(0, len(quoted), a_line)]
    return f"{start}[\n" + "".join(f"    {line},\n" for line in lines) + "]\n"


def _layers() -> Iterator[str]:
    """The layers of the imports of all packages, from the highest: packages of one line import nothing from each other."""
    yield from modules(SUPPORT)
    yield "occelo"
    for names in (FAMILIES, CORE):
        yield from (" | ".join(modules(level)) for level in reversed(by_level({*names})))


def _contract(name: str, kind: str, exhaustive: bool = False, **lists: Iterable[str]) -> str:
    table = f'[[tool.importlinter.contracts]]\nname = "{name}"\ntype = "{kind}"\n'
    table += "exhaustive = true\n" if exhaustive else ""
    return table + "".join(
        _list(values, f"{key} = ", 1 if key == "layers" else 4) for key, values in lists.items()
    )


PARTS = (
    "(examples)",
    "(rules) : (facts) : (lowerings) : (traced)",
    "(functions) : (numpy_functions) : (fft) : (windows) : (missing_names) : (scalars) : (shared_generators) : family : ops",
    "(streams)",
)
"""The parts of a family that has ops, each of which imports those below it; in parentheses, what not every family has."""


def _contracts() -> str:
    needs_graph = [
        f"{module}.{part}"
        for module, each in ((BY_NAME[name].module, BY_NAME[name]) for name in FAMILIES)
        for part in ("ops", "functions")
        if "rewrite" in each.optional and list((each.source / module).glob(f"{part}*"))
    ]
    whole = [n for n in FAMILIES if "compile" not in needed(n) and not BY_NAME[n].optional]
    without_functions = [n for n in FAMILIES if "compile" not in needed(n)]
    with_ops = [n for n in FAMILIES if (BY_NAME[n].source / BY_NAME[n].module / "ops").is_dir()]
    return "\n".join(
        [
            _contract(
                "packages import downward only, and the core no family",
                "layers_of_packages",
                layers=_layers(),
            ),
            _contract(
                "ops of families need the graph package alone",
                "forbidden",
                source_modules=[*needs_graph, *modules(whole)],
                forbidden_modules=modules(("rewrite", "link", "compile")),
            ),
            _contract(
                "rules, facts and lowerings need no functions of users",
                "forbidden",
                source_modules=modules(without_functions),
                forbidden_modules=modules(("compile",)),
            ),
            _contract("packages import through doors", "doors", unbound=modules(SUPPORT)),
            _contract(
                "a family is a folder of its parts",
                "layers",
                exhaustive=True,
                containers=modules(with_ops),
                layers=PARTS,
            ),
        ]
    )


def _sources() -> list[str]:
    return ["src", *(f"packages/{name}/src" for name in MEMBERS)]


TABLES: dict[str, Callable[[], str]] = {
    "where they are": lambda: "".join(
        f"occelo-{name} = {{ workspace = true }}\n" for name in MEMBERS
    ),
    "what is checked": lambda: _list([*_sources(), "tests/typing/client.py"], "include = "),
    "where imports are found": lambda: _list(_sources(), "extraPaths = "),
    "what is imported": lambda: _list([*modules(MEMBERS), "occelo"], "root_packages = "),
    "who imports whom": _contracts,
    "what is measured": lambda: _list(["occelo", *modules(MEMBERS)], "source_pkgs = "),
    "where sources were": lambda: "".join(
        f'{each.name} = ["packages/{each.name}/src/{each.module}", "*/site-packages/{each.module}"]\n'
        for each in map(BY_NAME.__getitem__, MEMBERS)
    ),
    "families": lambda: _list((f"occelo-{n}>=0.1,<0.2" for n in FAMILIES), "families = "),
}
"""The text of each table that names packages, by the words after ``# packages:`` in a ``pyproject.toml``."""


def with_tables(text: str) -> str:
    """The text of a ``pyproject.toml`` with these tables as they have to be."""
    return TABLE.sub(lambda table: f"{table[1]}\n{TABLES[table[1]]()}", text)


def files() -> list[Path]:
    """The files with such tables."""
    return [ROOT / "pyproject.toml", *(BY_NAME[name].folder / "pyproject.toml" for name in SUPPORT)]


if __name__ == "__main__":
    for path in files():
        path.write_text(with_tables(path.read_text()))
