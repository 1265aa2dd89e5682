"""Databases of rewrites, and queries that choose rewrites from them by tag.

`pipeline` creates `optdb`, the database of the stages, and a database for each stage that consists of rules. The modes of
`occelo_compile` query `optdb` with the tags that their linkers require and exclude. `rewriting` and `viewer` query it
for users.
"""

from __future__ import annotations

import math
import threading
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import field, replace
from typing import Any, ClassVar
from weakref import WeakSet

from occelo_graph.extensions import place_of_caller
from occelo_graph.families import catch_up, registering
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.narrowing import is_list
from occelo_rewrite.engine import RuleIndex
from occelo_rewrite.patterns.node_rule import NodeRewriter, RuleSet
from occelo_rewrite.queries import RewriteDatabaseQuery, Rewriter
from occelo_rewrite.rewriter import (
    EquilibriumGraphRewriter,
    GraphRewriter,
    SequentialGraphRewriter,
    WalkingGraphRewriter,
    check_rewriters,
)


@frozen_dataclass
class DatabaseEntry:
    """A rewriter in a database, with its name, tags and position.

    ``place`` identifies the code that registered the rewriter; None for rewriters of Occelo itself.
    """

    name: str
    rewriter: Rewriter
    tags: frozenset[str]
    position: float
    place: tuple[str, ...] | None = field(default=None, compare=False)


def _origin(rewriter: object) -> tuple[str, ...]:
    """Names that identify a rewriter. They stay the same if a notebook cell that defines the rewriter runs again."""
    function = getattr(rewriter, "law", getattr(rewriter, "function", None))
    made_of: object = type(rewriter) if function is None else function
    name = getattr(made_of, "__qualname__", type(made_of).__qualname__)
    return str(getattr(made_of, "__module__", "")), name, str(rewriter)


def _is_again(earlier: DatabaseEntry, rewriter: Rewriter, place: tuple[str, ...] | None) -> bool:
    """Whether ``rewriter`` is a new version of ``earlier``: the same code at the same place defined it again."""
    return (
        place is not None
        and earlier.place == place
        and _origin(earlier.rewriter) == _origin(rewriter)
    )


_changed: WeakSet[RewriteDatabase] = WeakSet()
"""The databases that were changed after their initial rewrites were registered."""


class RewriteDatabase:
    """Rewrites by name and tags. `query` combines the rewrites that a query chooses into one rewriter. TypeError for unknown arguments.

    ``standard`` is a function that registers the initial rewrites, when the database is first used. ``generation``
    counts later changes. `is_standard` is true if the database has exactly its initial rewrites.
    """

    _holds: ClassVar[tuple[type, ...]] = (NodeRewriter, GraphRewriter)

    def __init__(self, name: str = "", standard: Callable[[Any], None] | None = None) -> None:
        self.name = name
        self._held: dict[str, DatabaseEntry] = {}
        self._inner: list[RewriteDatabase] | None = None
        """The databases in this one; None after a change."""
        self._standard = standard
        self._initial: dict[str, DatabaseEntry] = {}
        self._filler: int | None = None
        """The identifier of the thread that is registering initial rewrites; None if no thread is."""
        self._has_foreign = False
        """Whether a rewrite was ever registered that is not an initial one."""
        self._moved: dict[str, DatabaseEntry] = {}
        self._last: float | None = None
        self.generation = 0

    @property
    def _entries(self) -> dict[str, DatabaseEntry]:
        catch_up()
        if self._standard is not None or (self._filler is not None and not self._filling):
            self._fill()
        return self._held

    @property
    def _filling(self) -> bool:
        """Whether this thread is registering initial rewrites."""
        return self._filler is not None and self._filler == threading.get_ident()

    def _fill(self) -> None:
        """Register the initial rewrites, once. Other threads wait here until they are registered."""
        with registering:
            if self._standard is None:
                return
            fill, self._standard = self._standard, None
            try:
                self._filled(fill)
            except BaseException:
                self._standard = fill
                raise
            self.generation = 0
            self._initial = dict(self._held)

    def extend_standard(self, fill: Callable[[Any], None]) -> None:
        """Let ``fill`` register more initial rewrites, for an op family that is imported only at its first use.

        ``fill`` is called when the database is first used, or at once if it has been used already.
        """
        with registering:
            if self._standard is not None:
                earlier = self._standard

                def fill_both(db: Any) -> None:
                    earlier(db)
                    fill(db)

                self._standard = fill_both
                return
            before = set(self._held)
            self._filled(fill)
            self._initial |= {name: e for name, e in self._held.items() if name not in before}

    def _filled(self, fill: Callable[[Any], None]) -> None:
        """Call ``fill``. If it fails, nothing of what it registered is left, and it may be called again."""
        before = dict(self._held)
        filler, self._filler = self._filler, threading.get_ident()
        try:
            fill(self)
        except BaseException:
            self._held.clear()
            self._held.update(before)
            self._last = self._inner = None
            raise
        finally:
            self._filler = filler

    @property
    def _databases(self) -> list[RewriteDatabase]:
        if self._inner is None:
            rewriters = [e.rewriter for e in self._held.values()]
            self._inner = [each for each in rewriters if isinstance(each, RewriteDatabase)]
        return self._inner

    def _count_change(self) -> None:
        self.generation += 1
        if not self._filling:
            _changed.add(self)

    @property
    def is_standard(self) -> bool:
        """Whether this database and all databases in it have exactly their initial rewrites.

        If no database was changed, the answer is found without importing the initial rewrites.
        """
        if self._standard is not None and not _changed:
            return True
        # a database in this one may have been changed before this one was first used
        entries = self._entries
        return (self.generation == 0 or entries == self._initial) and all(
            each.is_standard for each in self._databases
        )

    @property
    def total_generation(self) -> int:
        """The number of changes of this database and of all databases in it, with the rules of all families whose ops are imported."""
        catch_up()
        return self.generation + sum(each.total_generation for each in self._databases)

    def register(
        self,
        name: str,
        rewriter: Rewriter,
        *tags: str,
        use_db_name_as_tag: bool = True,
        overwrite_existing: bool = False,
        position: float | None = None,
    ) -> None:
        """Add a rewriter under a name. The default position is after all other rewrites.

        The tags of the entry are ``tags``, ``name``, the tags that the rewriter itself has if it is a rule, and the
        name of the database, unless ``use_db_name_as_tag`` is False. TypeError if the database does not accept this
        kind of rewriter, or if a name or tag is not a string. ValueError if the name is a tag of another entry, or if
        the name is taken and ``overwrite_existing`` is False.

        If a notebook cell runs again and registers its rewriter again, the new rewriter replaces the old one at the
        same position.
        """
        check_rewriters([rewriter], *self._holds, RewriteDatabase, where=self.name or "A database")
        for tag in (name, *tags):
            _check_tag(tag)
        if self._filling:
            self._add_initial(name, rewriter, tags, use_db_name_as_tag, position)
            return
        entries = self._entries
        earlier = entries.get(name)
        caller = place_of_caller()
        if earlier is not None and not overwrite_existing:
            if not _is_again(earlier, rewriter, caller):
                where = "" if earlier.place is None else f", registered by {earlier.place[0]}"
                raise ValueError(
                    f"{self.name or 'The database'} already has a rewrite named {name!r}{where}"
                )
            position = earlier.position if position is None else position
        moved = self._moved.pop(name, None)
        if moved is not None and position is None and _is_again(moved, rewriter, caller):
            position = moved.position
        if any(name in e.tags and e.name != name for e in entries.values()):
            raise ValueError(
                f"{name!r} is a tag in {self.name or 'the database'}, so it cannot be a name"
            )
        self._has_foreign = True
        self._add(name, rewriter, tags, use_db_name_as_tag, position, caller)

    def _add_initial(
        self,
        name: str,
        rewriter: Rewriter,
        tags: Sequence[str],
        use_db_name_as_tag: bool = True,
        position: float | None = None,
    ) -> None:
        """Add an initial rewrite.

        Unlike `register`, this method does not compare the name with the tags of all other rewrites. That saves time at
        each start.
        """
        name = self._free_name(name)
        if name in self._held:
            homes = [_origin(each)[0] for each in (self._held[name].rewriter, rewriter)]
            raise ValueError(
                f"{self.name} has two rewrites named {name!r}, of {homes[0]} and of {homes[1]}: rename one of them"
            )
        self._add(name, rewriter, tags, use_db_name_as_tag, position, None)

    def _add(
        self,
        name: str,
        rewriter: Rewriter,
        tags: Sequence[str],
        use_db_name_as_tag: bool,
        position: float | None,
        place: tuple[str, ...] | None,
    ) -> None:
        """Store an entry under a name. It replaces an earlier entry of the same name."""
        if isinstance(rewriter, RewriteDatabase) and not rewriter.name:
            rewriter.name = name
        own = {name, *tags}
        if isinstance(rewriter, NodeRewriter):
            own.update(rewriter.tags)
        if use_db_name_as_tag and self.name:
            own.add(self.name)
        at = self._next_position() if position is None else float(position)
        self._count_change()
        entries = self._held
        is_new = name not in entries
        entries[name] = DatabaseEntry(name, rewriter, frozenset(own), at, place)
        self._inner = None
        if not is_new:
            self._last = None
        elif self._last is not None or len(entries) == 1:
            self._last = at if self._last is None else max(self._last, at)

    def _free_name(self, name: str) -> str:
        """The name for an initial rewrite: ``name``, or a longer one if a user's rewrite has that name or tag.

        This can only happen for op families that are imported after the user's registration.
        """
        if not self._has_foreign:
            return name
        users = [e for e in self._held.values() if e.place is not None]
        while any(name == e.name or name in e.tags for e in users):
            name += " of Occelo"
        return name

    def drop_earlier(self, name: str, rewriter: Rewriter) -> None:
        """Remove the rewriter ``name`` if an earlier run of the same notebook cell registered it in this database.

        `pipeline` calls this after the new run of the cell has registered ``rewriter`` in another database. If a later
        run of the cell registers the rewriter in this database again, the rewriter gets its former position.
        """
        earlier = self._entries.get(name)
        if earlier is None or earlier.rewriter is rewriter:
            return
        if _is_again(earlier, rewriter, place_of_caller()):
            self._moved[name] = earlier
            self.remove(name)

    def _next_position(self) -> float:
        if self._last is None:
            self._last = max((e.position for e in self._held.values()), default=0.0)
        return self._last + 1

    def remove(self, name: str) -> None:
        """Remove the rewriter of that name; KeyError if there is none."""
        del self._entries[name]
        self._last = self._inner = None
        self._count_change()

    def names(self) -> list[str]:
        """The names of all rewrites, in order of position."""
        return [e.name for e in self._sorted(self._entries.values())]

    def entries(self) -> list[DatabaseEntry]:
        """All entries, in order of position."""
        return self._sorted(self._entries.values())

    def position(self, name: str) -> float:
        """The position of the rewrite of that name."""
        return self._entries[name].position

    def __contains__(self, name: str) -> bool:
        return name in self._entries

    def __getitem__(self, name: str) -> Rewriter:
        return self._entries[name].rewriter

    def add_tags(self, name: str, *tags: str) -> None:
        """Add tags to the rewrite of that name."""
        entry = self._entries[name]
        self._count_change()
        self._entries[name] = replace(entry, tags=entry.tags | set(tags))

    def tags(self) -> set[str]:
        """The tags of all rewrites in this database and in the databases in it."""
        tags: set[str] = set()
        for entry in self._entries.values():
            tags |= entry.tags
            if isinstance(entry.rewriter, RewriteDatabase):
                tags |= entry.rewriter.tags()
        return tags

    def warn_of_misspelt(self, tags: Iterable[str], stacklevel: int = 1) -> None:
        """Warn of each of ``tags`` that no rewrite has and that is nearly a tag of some: it chooses nothing.

        ``stacklevel`` is that of `warnings.warn` for the caller. There may be other tags that no rewrite has, such as
        those of similar libraries.
        """
        from difflib import get_close_matches  # which most programs need not

        all_tags = self.tags()
        for tag in tags:
            near = [] if tag in all_tags else get_close_matches(tag, all_tags, 1, 0.8)
            if near:
                warnings.warn(
                    f"No rewrite has the tag {tag!r}, so that it chooses none; did you mean {near[0]!r}?",
                    stacklevel=stacklevel + 1,
                )

    @staticmethod
    def _sorted(entries: Iterable[DatabaseEntry]) -> list[DatabaseEntry]:
        return sorted(entries, key=lambda e: (e.position, e.name))

    def chosen(self, query: RewriteDatabaseQuery) -> list[tuple[str, Rewriter]]:
        """The rewriters that a query chooses, with their names, in order of position.

        A database in this database is queried itself, and the result takes its place (`part_of_query`).
        """
        entries = [
            e
            for e in self._entries.values()
            if e.position <= query.position_cutoff and query.chooses(e.tags)
        ]
        result: list[tuple[float, str, Rewriter]] = []
        same = replace(query, extra_rewrites=(), position_cutoff=math.inf, name="")
        for entry in entries:
            rewriter = entry.rewriter
            if isinstance(rewriter, RewriteDatabase):
                rewriter = rewriter.part_of_query(query.subquery.get(entry.name, same))
                if rewriter is None:
                    continue
            result.append((entry.position, entry.name, rewriter))
        for extra, position in query.extra_rewrites:
            if position <= query.position_cutoff:
                result.append((position, str(extra), extra))
        return [(name, rewriter) for _, name, rewriter in sorted(result, key=lambda r: r[:2])]

    def query(self, *tags: Any, **options: Any) -> Any:
        """One rewriter that applies all rewrites that the query chooses.

        The query is a `RewriteDatabaseQuery`, or strings: "+tag" includes, "&tag" requires and "-tag" excludes.
        """
        return self.build(self.chosen(self.as_query(*tags, **options)))

    def part_of_query(self, query: RewriteDatabaseQuery) -> Any:
        """The result of `query`, for a database that contains this one; None if no rewriter is chosen.

        Several rewriters may share the result.
        """
        if type(self).query is not RewriteDatabase.query:
            return self.query(query)  # a database may make rewriters that it does not hold
        chosen = self.chosen(query)
        return self.build(chosen) if chosen else None

    @staticmethod
    def as_query(*tags: Any, **options: Any) -> RewriteDatabaseQuery:
        """The arguments of `query` as a `RewriteDatabaseQuery`; ValueError for a tag without +, & or - in front."""
        if len(tags) == 1 and isinstance(tags[0], RewriteDatabaseQuery):
            return tags[0]
        signs: dict[str, set[str]] = {"+": set(), "&": set(), "-": set()}
        for tag in tags:
            if not isinstance(tag, str) or tag[:1] not in signs:
                raise ValueError(f"A tag in a query starts with +, & or -, got {tag!r}")
            signs[tag[0]].add(tag[1:])
        return RewriteDatabaseQuery(signs["+"], signs["&"], signs["-"], **options)

    def build(self, chosen: Sequence[tuple[str, Rewriter]]) -> Any:
        """Combine the chosen rewriters into one rewriter, which changes nothing if there are none."""
        raise NotImplementedError(f"{type(self).__name__} has no build")


def _check_tag(tag: object) -> None:
    if not isinstance(tag, str):
        raise TypeError(f"A name or a tag of a rewrite is a string, not {tag!r}")


def _flat(chosen: Iterable[tuple[str, Rewriter]]) -> list[Rewriter]:
    """The rewriters without their names. A group, which is a list of rules, is replaced by its rules."""
    return [
        each for _, rewriter in chosen for each in (rewriter if is_list(rewriter) else [rewriter])
    ]


class SequenceDB(RewriteDatabase):
    """A database of rewriters that run one after the other, in order of position. TypeError for unknown arguments."""

    def build(self, chosen: Sequence[tuple[str, Rewriter]]) -> GraphRewriter:
        stages: list[GraphRewriter] = []
        for name, rewriter in chosen:
            stage: Any = rewriter
            if isinstance(rewriter, NodeRewriter) or is_list(rewriter):
                stage = WalkingGraphRewriter(rewriter, name=name)
            if not getattr(stage, "name", ""):
                stage.name = name
            stages.append(stage)
        return SequentialGraphRewriter(*stages, name=self.name)


class EquilibriumDB(RewriteDatabase):
    """A database of rewriters that run until nothing changes.

    Final and cleanup rewriters are explained in `EquilibriumGraphRewriter`. ``tidy`` is the database of an earlier
    stage: its rules are also tried at nodes that enter or change in this stage. TypeError for unknown arguments.
    """

    def __init__(
        self,
        name: str = "",
        standard: Callable[[Any], None] | None = None,
        tidy: EquilibriumDB | None = None,
    ) -> None:
        super().__init__(name, standard)
        self._tidy = tidy
        self._last_index: tuple[int, RewriteDatabaseQuery, RuleIndex] | None = None
        self._last_part: tuple[tuple[int, int], RewriteDatabaseQuery, Any] | None = None
        self._final: set[str] = set()
        self._cleanup: set[str] = set()

    def query(self, *tags: Any, **options: Any) -> Any:
        query = self.as_query(*tags, **options)
        return self._built(query, self.chosen(query))

    def _built(
        self, query: RewriteDatabaseQuery, chosen: Sequence[tuple[str, Rewriter]]
    ) -> EquilibriumGraphRewriter:
        built = self.build(chosen)
        if self._tidy is not None:
            built.set_rules_for_new(self._tidy.index(query))
        return built

    def part_of_query(self, query: RewriteDatabaseQuery) -> Any:
        # the last result is kept, since the bodies of loops are rewritten with the query of the whole graph
        _ = self._entries  # the first use registers the initial rewrites
        tidy = self if self._tidy is None else self._tidy
        _ = tidy._entries
        state = self.total_generation, tidy.total_generation
        last = self._last_part
        if last is None or last[0] != state or last[1] != query:
            chosen = self.chosen(query)
            last = self._last_part = state, query, self._built(query, chosen) if chosen else None
        return last[2]

    def index(self, query: RewriteDatabaseQuery) -> RuleIndex:
        """The index of the rules that a query chooses.

        The last index is kept, since several databases have this one as ``tidy`` and need the same index.
        """
        _ = self._entries  # the first use registers the initial rewrites
        last = self._last_index
        if last is None or last[0] != self.generation or last[1] != query:
            rules = [r for _, r in self.chosen(query) if isinstance(r, NodeRewriter)]
            last = self._last_index = self.generation, query, RuleIndex(rules)
        return last[2]

    def register(
        self,
        name: str,
        rewriter: Rewriter,
        *tags: str,
        final_rewriter: bool = False,
        cleanup: bool = False,
        **options: Any,
    ) -> None:
        """`RewriteDatabase.register`, with two more kinds of rewriters.

        A ``final_rewriter`` runs at the end of each round, and a ``cleanup`` rewriter after each round with changes.
        """
        super().register(name, rewriter, *tags, **options)
        for names, is_member in ((self._final, final_rewriter), (self._cleanup, cleanup)):
            # an earlier rewriter of this name may have been final or a cleanup
            (names.add if is_member else names.discard)(name)

    def register_rules(self, rules: RuleSet, *tags: str, use_db_name_as_tag: bool = True) -> None:
        """Register each rule of a set under its own name, with ``tags`` and its own tags."""
        filling = self._filling
        for rule in rules:
            if filling:
                self._add_initial(rule.name, rule, tags, use_db_name_as_tag)
            else:
                self.register(rule.name, rule, *tags, use_db_name_as_tag=use_db_name_as_tag)

    def build(self, chosen: Sequence[tuple[str, Rewriter]]) -> EquilibriumGraphRewriter:
        main = _flat(c for c in chosen if c[0] not in self._final and c[0] not in self._cleanup)
        final = [r for n, r in chosen if n in self._final]
        cleanup = [r for n, r in chosen if n in self._cleanup]
        return EquilibriumGraphRewriter(main, final, cleanup, self.name)


class LocalGroupDB(RewriteDatabase):
    """A group of rules that are tried in order at each node. A query returns the list of chosen rules. TypeError for unknown arguments."""

    _holds = (NodeRewriter,)

    def build(self, chosen: Sequence[tuple[str, Rewriter]]) -> Any:
        return _flat(chosen)


class TopoDB(RewriteDatabase):
    """The rules of the group ``db``, tried once at every node of the graph. TypeError for unknown arguments."""

    _holds = (NodeRewriter,)

    def __init__(
        self, db: LocalGroupDB | None = None, order: str = "in_to_out", name: str = ""
    ) -> None:
        super().__init__(name)
        self.order = order
        if db is not None:
            self._held = db._entries

    def build(self, chosen: Sequence[tuple[str, Rewriter]]) -> GraphRewriter:
        return WalkingGraphRewriter(_flat(chosen), self.order, name=self.name)


class ProxyDB(RewriteDatabase):
    """A database that passes all queries on to the database ``db``. So ``db`` can be registered in two databases.

    TypeError if ``db`` is missing.
    """

    def __init__(self, db: RewriteDatabase, name: str = "") -> None:
        super().__init__(name or db.name)
        self.db = db

    def query(self, *tags: Any, **options: Any) -> Any:
        """The result of the query to the other database."""
        return self.db.query(*tags, **options)

    def part_of_query(self, query: RewriteDatabaseQuery) -> Any:
        return self.db.part_of_query(query)
