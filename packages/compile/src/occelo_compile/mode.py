"""Modes, and the registry of their names. A mode is a linker and a query that chooses rewrites.

Users pass a mode or its name to `function`. The modes for debugging are subclasses of `Mode` (`debugging`).
"""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, TypeAlias

from occelo_graph.config import config
from occelo_graph.errors import explained_by
from occelo_graph.extensions import place_of_caller
from occelo_graph.notebook import Table, Tabulated
from occelo_graph.provenance import warn_user
from occelo_link import Linker, available_linkers, make_linker
from occelo_link.registry import find_linker
from occelo_rewrite import RewriteDatabaseQuery, optimizer_query
from occelo_rewrite import options as rewrite_options

if TYPE_CHECKING:
    from occelo_compile.maker import FunctionMaker
    from occelo_rewrite import GraphRewriter, RewriteDatabase

Optimizer: TypeAlias = "str | RewriteDatabaseQuery | GraphRewriter | None"


class Mode(Tabulated):
    """A mode, which says how a function is compiled.

    ``linker`` is a `Linker` or the name of a linker. ``optimizer`` is a query, the name of a query, or a rewriter.
    ``db`` is the database of rewrites. ``settings`` are arguments of the linker if ``linker`` is a name, as in
    ``Mode("jax", mesh=mesh)``. Modes are immutable: `including`, `excluding`, `requiring` and `register` return new
    modes. ValueError for a linker or optimizer that does not exist.
    """

    def __init__(
        self,
        linker: str | Linker | None = None,
        optimizer: Optimizer = "default",
        db: RewriteDatabase | None = None,
        name: str = "",
        **settings: Any,
    ) -> None:
        if isinstance(linker, Linker) and settings:
            raise TypeError(f"Settings of a linker go with its name, got {sorted(settings)}")
        self._linker = linker if isinstance(linker, Linker) else make_linker(linker, **settings)
        if optimizer == "default":
            optimizer = rewrite_options.OPTIMIZER.get()
        self.provided_optimizer: Optimizer = optimizer
        self._query = _query_of(optimizer)
        self.own_optdb = None if db is None or db is _standard_optdb() else db
        """The database of rewrites, if it is not the standard one."""
        self.name = name
        self.call_time = 0.0
        self.fn_time = 0.0

    @property
    def linker(self) -> Linker:
        """The mode's linker. It has no graph: each function uses a clone of it, which accepts the graph."""
        return self._linker

    @property
    def optdb(self) -> RewriteDatabase:
        """The database of rewrites."""
        return _standard_optdb() if self.own_optdb is None else self.own_optdb

    @property
    def own_query(self) -> RewriteDatabaseQuery | GraphRewriter:
        """The query or rewriter that the mode was made with, without the tags that the linker and the options add."""
        return self._query

    @property
    def query(self) -> RewriteDatabaseQuery | GraphRewriter:
        """The query or rewriter that functions use.

        It is `own_query`, after the linker and the options have added and excluded tags.
        """
        if not isinstance(self._query, RewriteDatabaseQuery):
            return self._query
        linker = self._linker
        query = replace(
            self._query,
            include=self._query.include
            | linker.required_rewrites.include
            | _tags(rewrite_options.INCLUDING.get()),
            exclude=self._query.exclude
            | linker.incompatible_rewrites.include
            | linker.incompatible_rewrites.exclude
            | _tags(rewrite_options.EXCLUDING.get()),
            require=self._query.require | _tags(rewrite_options.REQUIRING.get()),
            position_cutoff=min(self._query.position_cutoff, rewrite_options.POSITION_CUTOFF.get()),
        )
        return query

    @property
    def optimizer(self) -> GraphRewriter:
        """The rewriter that the query chooses."""
        query = self.query
        if not isinstance(query, RewriteDatabaseQuery):
            return query
        from occelo_rewrite import rewriter_for  # which functions from the cache need not

        return rewriter_for(query) if self.own_optdb is None else self.own_optdb.query(query)

    def with_parts(self, linker: Linker, query: RewriteDatabaseQuery | GraphRewriter) -> Mode:
        """Return a copy of this mode, of the same class, with another linker and another query."""
        mode = copy.copy(self)
        mode._linker = linker
        mode._query = query
        return mode

    def _changed(
        self,
        change: Callable[[RewriteDatabaseQuery], RewriteDatabaseQuery],
        tags: Sequence[str] = (),
    ) -> Mode:
        if not isinstance(self._query, RewriteDatabaseQuery):
            raise TypeError("A mode with a rewriter of your own has no query to change")
        self.optdb.warn_of_misspelt(tags, stacklevel=3)
        return self.with_parts(self._linker.clone(), change(self._query))

    def including(self, *tags: str) -> Mode:
        """Return a mode that also has all rewrites with one of these tags."""
        return self._changed(lambda q: q.including(*tags), tags)

    def excluding(self, *tags: str) -> Mode:
        """Return a mode without all rewrites that have one of these tags."""
        return self._changed(lambda q: q.excluding(*tags), tags)

    def requiring(self, *tags: str) -> Mode:
        """Return a mode with only those rewrites that have all of these tags."""
        return self._changed(lambda q: q.requiring(*tags), tags)

    def register(self, *rewrites: tuple[Any, float]) -> Mode:
        """Return a mode with further rewriters, each at a given position in the pipeline."""
        return self._changed(lambda q: q.register(*rewrites))

    def clone(self, link_kwargs: dict[str, Any] | None = None, optimizer: Optimizer = "") -> Mode:
        """Return a copy of the mode. Its linker is cloned with ``link_kwargs``, and ``optimizer`` replaces the query if
        given.
        """
        chosen = self._query if optimizer == "" else _query_of(optimizer)
        return self.with_parts(self._linker.clone(**(link_kwargs or {})), chosen)

    def function_maker(self, *args: Any, **options: Any) -> FunctionMaker:
        """Make the `FunctionMaker` of a function in this mode. Subclasses may override this method."""
        from occelo_compile.maker import FunctionMaker  # which imports this module

        return FunctionMaker(*args, **options)

    def __str__(self) -> str:
        return self.name or f"Mode(linker={self._linker}, optimizer={self.provided_optimizer})"

    __repr__ = __str__

    def notebook_tables(self) -> list[Table]:
        row = (self, self._linker, self.provided_optimizer)
        return [(("mode", "linker", "rewrites"), [row])]

    def notebook_picture(self) -> str:
        """The way of a graph: the stages that rewrite it, and the linker."""
        from occelo_printing.drawing import Boxes, picture  # needed in notebooks alone

        rewriter = self.optimizer
        stages = getattr(rewriter, "rewriters", [rewriter])
        boxes = [("input", "graph", "as it was written")]
        for each in stages:
            rules = len(getattr(each, "rules", ()))
            boxes.append(("op", str(each), f"rules: {rules}" if rules else "one rewriter"))
        boxes.append(("output", "function", f"linker {self._linker}"))
        return picture(Boxes(dict(enumerate(boxes)), [(i, i + 1) for i in range(len(boxes) - 1)]))


def _standard_optdb() -> RewriteDatabase:
    from occelo_rewrite import optdb  # which functions from the cache need not

    return optdb


def _query_of(optimizer: Optimizer) -> RewriteDatabaseQuery | GraphRewriter:
    if isinstance(optimizer, str) or optimizer is None:
        return optimizer_query(optimizer)
    return optimizer


def _tags(text: str) -> frozenset[str]:
    return frozenset(t for t in text.split(":") if t)


def _debugging(module: str, name: str) -> Mode:
    # imported here, since most programs never use these modes
    mode: Mode = getattr(importlib.import_module(f"occelo_compile.debugging.{module}"), name)()
    return mode


_modes: dict[str, Callable[[], Mode]] = {
    "FAST_RUN": lambda: Mode("auto", "fast_run", name="FAST_RUN"),
    "FAST_COMPILE": lambda: Mode("vm", "fast_compile", name="FAST_COMPILE"),
    "Mode": lambda: Mode(name=""),
    "DebugMode": lambda: _debugging("debug_mode", "DebugMode"),
    "NanGuardMode": lambda: _debugging("nan_guard", "NanGuardMode"),
    "MonitorMode": lambda: _debugging("monitor", "MonitorMode"),
}
_RENAMED = {
    "debug_mode": "DebugMode",
    "fast_run_nogc": "FAST_RUN",
    "profile_mode": "FAST_RUN",
    "profilemode": "FAST_RUN",
    "stabilize": "FAST_RUN",
}


_places: dict[str, tuple[str, ...] | None] = {}
"""For each name that was passed to `register_mode`, the place in the code that did so."""


@explained_by("modes")
def register_mode(name: str, mode: Mode | Callable[[], Mode]) -> None:
    """Register a mode, or a function that makes one, under a name.

    Raises ValueError if the name is taken. Code at the same place may register its name again, for instance when a
    notebook cell runs again.
    """
    place = place_of_caller()
    again = place is not None and _places.get(name) == place
    if not again and name.lower() in (k.lower() for k in (*_modes, *available_linkers())):
        raise ValueError(f"There is a mode named {name!r} already")
    _places[name] = place
    _modes[name] = (lambda: mode) if isinstance(mode, Mode) else mode


def available_modes() -> list[str]:
    """Return the names of all modes and of all linkers that are registered."""
    return sorted({*_modes, *available_linkers()})


def _mode_or_name(given: Any) -> str | Mode:
    """Parse a mode, a `Mode` or the name of one. TypeError for anything else.

    The mode may be registered later, for instance if ``OCCELO_FLAGS`` names it. So `get_mode` looks up the name.
    """
    if not isinstance(given, str | Mode):
        raise TypeError(f"A mode is a Mode or the name of one, got {given!r}")
    return given


_DEFAULT: str | Mode = "Mode"
MODE = config.declare(
    "mode",
    _DEFAULT,
    "the mode of functions that name none, or its name; Mode is made from linker and optimizer",
    _mode_or_name,
    "occelo_compile",
)


@explained_by("modes")
def get_mode(orig_string: str | Mode | None) -> Mode:
    """Return the mode with the name ``orig_string``, in lower or upper case. A `Mode` is returned as it is.

    None means the value of the option ``mode``, a `Mode` or a name. The name of a linker is also the name of a mode:
    this linker with all rewrites. Raises ValueError if there is no mode of that name.
    """
    chosen = MODE.get() if orig_string is None else _mode_or_name(orig_string)
    if isinstance(chosen, Mode):
        return chosen
    folded = chosen.lower()
    if folded in _RENAMED:
        warn_user(f"The mode {chosen} is now called {_RENAMED[folded]}", DeprecationWarning)
        folded = _RENAMED[folded].lower()
    for name, maker in _modes.items():
        if name.lower() == folded:
            return maker()
    linker = find_linker(folded)
    if linker is not None:
        return Mode(linker, "fast_run", name=linker)
    source = f" (from config.mode, {config.origin('mode')})" if orig_string is None else ""
    raise ValueError(
        f"There is no mode {chosen!r}{source}; there are {', '.join(available_modes())}"
    )


def get_default_mode() -> Mode:
    """Return the mode that the option ``mode`` states."""
    return get_mode(None)
