"""Families of ops: what a package of ops says of itself, and when the layers above take their parts of it.

A family is a package such as `occelo_linalg`: its ops, and beside them the rules, facts and lowerings for these ops. Its
module ``family`` makes a `Family`, which names these parts and imports none of them. So the family's package is declared
as soon as anything of it is imported, and graphs can hold its ops once it is registered:

- The package of the family's ops calls `Family.register` when it is imported. Without this import, none of its ops is
  in a graph.
- Each layer passes a function to `follow` for the part that it reads. `occelo_rewrite.pipeline` follows "rules",
  `occelo_rewrite.assumptions` "facts", and `occelo_link` "lowerings" and "traced".
- Each look-up of rewrites, facts or lowerings first calls `catch_up`, which calls these functions for the families that
  were registered meanwhile.

The functions never run while a family is being imported. Otherwise two threads could each wait for a module that the
other one is importing, and an import would fail. For example, one thread could unpickle a graph with loops while
another one builds its first loop.

Nothing here searches for packages when a function is compiled. `installed` does, by the entry points
``occelo.families``, for what is not imported yet: scalar functions and classes of a saved graph, and listings.
"""

from __future__ import annotations

import functools
import importlib
import operator
import os
import re
import sys
import threading
from collections.abc import Callable, Iterable
from types import ModuleType
from typing import Literal

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.provenance import is_own, warn_user

Part = Literal[
    "rules", "facts", "lowerings", "traced", "scalars", "checks", "numpy", "examples", "cases"
]
"""The parts of a family beside its ops.

| part | a module with | read by |
|---|---|---|
| rules | ``RULES`` and ``STAGES`` (`occelo_rewrite.family_rules`) | `occelo_rewrite.pipeline` |
| facts | inference of facts, which the import registers | `occelo_rewrite.assumptions` |
| lowerings | lowerings to loops, which the import registers | `occelo_link.loops` |
| traced | lowerings to arrays of JAX and PyTorch, which the import registers | `occelo_link.traced` |
| scalars | scalar functions, which the import registers | `occelo_graph.ops.elemwise.scalar` |
| checks | ``warnings_of``, a function of the outputs and inputs of a graph that is to be compiled | `occelo_compile.collect` |
| numpy | functions that stand for functions of NumPy, which the import registers | `occelo_graph.tensors` |
| examples | ``EXAMPLES``, example calls of the ops | tests, and the table of backends |
| cases | ``CASES``, examples for the rules | tests |
"""

_ENTRY_POINTS = "occelo.families"

registering = threading.RLock()
"""A thread holds this lock while it imports and registers rewrites and lowerings.

No module of Occelo acquires the lock when it is imported.
"""


@frozen_dataclass
class Family:
    """A family of ops: its name, the package that holds it, the families below it, and the modules of its parts.

    ``name`` is the word by which saved graphs and cache keys name the family. ``requires`` has the names of the families
    whose ops its own modules use. ``ops`` are the modules and packages that define ops, types and their parameters. Each part is the path of a module in the package, such as "rules", or None.
    """

    name: str
    package: str
    requires: tuple[str, ...] = ()
    ops: tuple[str, ...] = ("ops",)
    rules: str | None = None
    facts: str | None = None
    lowerings: str | None = None
    traced: str | None = None
    scalars: str | None = None
    checks: str | None = None
    numpy: str | None = None
    examples: str | None = None
    cases: str | None = None

    def __post_init__(self) -> None:
        other = _declared.get(self.name)
        if other is not None and other != self:
            raise ValueError(
                f"Two families have the name {self.name!r}: of {other.package} and of {self.package}"
            )
        _declared[self.name] = self

    @property
    def folder(self) -> str:
        """The folder of the package that holds the family."""
        module = sys.modules.get(self.package)
        if module is None or module.__file__ is None:
            raise ImportError(
                f"The family {self.name!r} is of a package {self.package}, which is not imported"
            )
        return os.path.dirname(module.__file__)

    def register(self) -> None:
        """Record that ops of the family are imported, so that each layer takes its part at the next look-up."""
        with _changing:
            if self.name not in _registered:
                _registered[self.name] = self
                _pending.add([functools.partial(each, self) for each in _followers])

    def load(self, part: Part) -> ModuleType | None:
        """Import the module of a part, and return it. None if the family has no such part.

        ImportError if a layer that is imported has a version that the installed package of the family does not allow.
        """
        path: str | None = getattr(self, part)
        if path is None:
            return None
        _check_ranges(self.package, self.folder)
        return importlib.import_module(f"{self.package}.{path}")


_REQUIRED = r"(?m)^Requires-Dist: (occelo(?:-\w+)?)(?:\[.*?\])? ?\(?([^;)\n]+)"
_RANGE = r"(>=|<=|==|!=|<|>)\s*(\d+(?:\.\d+)*)"
_COMPARED: dict[str, Callable[[tuple[int, ...], tuple[int, ...]], bool]] = {
    ">=": operator.ge, "<=": operator.le, "==": operator.eq, "!=": operator.ne, "<": operator.lt, ">": operator.gt,
}  # fmt: skip


@functools.cache
def _check_ranges(package: str, folder: str) -> None:
    """Compare the versions of Occelo's imported packages with the ranges that a family's package was installed with.

    The ranges of the layers stand in an extra, and an installer compares only those of extras that it is asked for. A
    checkout has no list of ranges beside its sources, and is not checked.
    """
    installed_in = os.path.dirname(folder)
    for name in os.listdir(installed_in):
        if not (name.startswith(f"{package}-") and name.endswith(".dist-info")):
            continue
        with open(os.path.join(installed_in, name, "METADATA"), encoding="utf-8") as file:
            required = re.findall(_REQUIRED, file.read())
        for layer, ranges in required:
            version = getattr(sys.modules.get(layer.replace("-", "_")), "__version__", None)
            if version is not None and not _is_in(version, ranges):
                raise ImportError(
                    f"{package} is made for {layer}{ranges.strip()}, and {layer} {version} is installed: "
                    f"install versions that fit, as 'pip install {package.replace('_', '-')}[compile]' does"
                )


def _is_in(version: str, ranges: str) -> bool:
    """Whether a version is in ranges such as ">=0.1,<0.2". Only the numbers of releases are compared."""
    return all(
        _COMPARED[relation](_release(version), _release(limit))
        for relation, limit in re.findall(_RANGE, ranges)
    )


def _release(version: str) -> tuple[int, ...]:
    """The numbers of a version without zeros at the end: 0.2.0 is 0.2."""
    numbers = re.match(r"[\d.]*", version)
    assert numbers is not None
    return tuple(map(int, re.sub(r"(\.0*)*$", "", numbers[0]).split(".")))


_declared: dict[str, Family] = {}
_announced: list[str] = []
_registered: dict[str, Family] = {}
_followers: list[Callable[[Family], object]] = []


class _Pending:
    """A queue of functions. The method `call` calls each function once, in order.

    If another thread is calling the functions, `call` waits until that thread has called all of them.
    """

    def __init__(self) -> None:
        self.is_behind = False
        self._functions: list[Callable[[], object]] = []
        self._is_calling = False

    def add(self, functions: list[Callable[[], object]]) -> None:
        self._functions += functions
        self.is_behind = self.is_behind or bool(functions)

    def call(self) -> None:
        with registering:
            if self._is_calling:
                return  # a function of the queue has looked something up, and so called `catch_up`
            self._is_calling = True
            try:
                while True:
                    with _changing:
                        if not self._functions:
                            self.is_behind = False
                            return
                    self._functions[0]()
                    del self._functions[0]
            finally:
                self._is_calling = False


_pending = _Pending()
_changing = threading.Lock()
"""A thread holds this lock while it changes the lists of functions, but not while it imports anything."""


def follow(load: Callable[[Family], object]) -> None:
    """Call ``load`` for each family at the first `catch_up` after the family is registered. Layers take their parts so."""
    with _changing:
        _followers.append(load)
        _pending.add([functools.partial(load, each) for each in _registered.values()])


def is_registered(family: str) -> bool:
    """Whether ops of a family are imported, or are being imported."""
    return family in _registered


def catch_up() -> None:
    """Call the functions of `follow` for families that were registered since the last call."""
    if _pending.is_behind:
        _pending.call()


def registered() -> list[Family]:
    """The families whose ops are imported, in the order in which they were."""
    return list(_registered.values())


def announce(*packages: str) -> None:
    """Let `declared` also have the families of these packages, whose import takes longer than to note their names."""
    _announced.extend(packages)


def declared() -> list[Family]:
    """The families whose packages are imported or announced."""
    for package in _announced:
        importlib.import_module(f"{package}.family")
    return list(_declared.values())


def with_required(families: Iterable[Family]) -> list[Family]:
    """The families, and those that they require, directly or through others; sorted by name."""
    by_name: dict[str, Family] = {}
    pending = list(families)
    while pending:
        each = pending.pop()
        if each.name not in by_name:
            by_name[each.name] = each
            pending += [_required(name, each) for name in each.requires]
    return [by_name[name] for name in sorted(by_name)]


def _required(name: str, family: Family) -> Family:
    """The family that another one requires. A family of Occelo may use it in parts that are not imported yet."""
    if name not in _declared and is_own(family.package):
        package = f"occelo_{name}"
        importlib.import_module(f"{package}.family")
    if name not in _declared:
        raise ImportError(
            f"The family {family.name!r} requires {name!r}, and no imported package has a family of this name: "
            f"{family.package} imports the packages of the families that it requires"
        )
    return _declared[name]


def import_ops(family: Family) -> None:
    """Import all modules of a family that define ops, types and their parameters."""
    import pkgutil  # slow to import

    for part in family.ops:
        module = importlib.import_module(f"{family.package}.{part}")
        for each in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{module.__name__}."):
            importlib.import_module(each.name)


@functools.cache
def _import_installed() -> None:
    from importlib.metadata import entry_points  # slow to import

    for point in entry_points(group=_ENTRY_POINTS):
        try:
            point.load()
        except Exception as error:  # whatever another package raises
            if is_own(point.module):
                raise
            broken[point.name] = error
            warn_user(f"The family {point.name!r} ({point.value}) cannot be imported: {error}")


broken: dict[str, Exception] = {}
"""What the imports of entry points raised that failed, by their names, which are those of the families."""


def installed() -> list[Family]:
    """All families, also those whose packages are installed but not imported: this imports their modules ``family``.

    It reads the entry points of all installed distributions, which takes some 30 ms at the first call.
    """
    _import_installed()
    return declared()


def family_of_module(module: str) -> Family | None:
    """The family in whose package a module lies; `GRAPH` for the graph package, None for packages of no family."""
    package = module.partition(".")[0]
    return next((each for each in _declared.values() if each.package == package), None)


GRAPH = Family(
    "graph",
    "occelo_graph",
    ops=("ops", "tensors", "ir", "blockwise", "inner_graph", "gradient.barriers", "fgraph.frozen"),
)
"""The graph package itself, for names of its classes in saved graphs. No layer takes parts of it."""
