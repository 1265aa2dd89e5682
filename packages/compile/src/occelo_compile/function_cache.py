"""The cache of compiled functions on disk. A function is looked up by the user's graph, before any rewriting.

`FunctionMaker.create` looks a function up before it rewrites the graph, and stores the function after linking. Users
call `explain_miss`.

The key of a function consists of named components. An entry contains the code and the interface of a function that is
compiled as one block, but no graph. If an error message or a printout needs the rewritten graph, the user's graph is
rewritten again. So a function from the cache behaves like a newly compiled function.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterable, Iterator
from types import FunctionType
from typing import TYPE_CHECKING, Any

from occelo_compile.maker import CallGraph, FunctionMaker, Linked
from occelo_graph import Apply, Container, Op, Variable
from occelo_graph.canonical.document import Numbering, digest_of_numbered
from occelo_graph.config import config
from occelo_graph.errors import explained_by
from occelo_graph.extensions import UnknownSource, extensions_text, is_external, source_text
from occelo_graph.families import GRAPH, Family, declared, family_of_module, follow, with_required
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.graph_like import inspected
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.scalar import ScalarFunction, ScalarOp
from occelo_graph.provenance import is_own, warn_user
from occelo_link.cache.fingerprint import digest_text, environment, has_changed, manifest
from occelo_link.cache.packing import pack, unpack
from occelo_link.cache.store import Entry, Store, counters, default_store
from occelo_link.linker import check_compiled
from occelo_link.withheld_lowerings import withheld
from occelo_rewrite import RewriteDatabaseQuery
from occelo_rewrite.queries import fingerprint_of_rewrites

if TYPE_CHECKING:
    from occelo_compile.calling import Function

_KIND = "functions"
_NAME = "name"
"""The part of an entry's header that is not of the key: the name of the function that wrote the entry."""
_WITHOUT_EFFECT = {
    "base_compiledir",
    "compiledir",
    "compiledir_format",
    "cache",
    "cache_size",
    "profile_optimizer",
    "profile",
    "profile_memory",
    "print_global_stats",
    "optimizer_verbose",
    "optimizer_verbose_ignore",
    "optdb__on_limit",
    "exception_verbosity",
    "on_unused_input",
    "warn_float64",
    "unpickle_function",
    "mode",
    "linker",
    "vm__lazy",
    "blas__ldflags",
    "cxx",
    "gcc__cxxflags",
    "compiler_verbose",
    "native__threads",  # the linker says whether there may be several; code does not hold the number
}
_SECTIONS_WITHOUT_EFFECT = ("profiling__", "NanGuardMode__", "DebugMode__", "compile__")
"""The prefixes of the names of options on which compiled code does not depend.

The key contains all options except these and those in `_WITHOUT_EFFECT`.
"""
_warned: set[str] = set()


def function_key(maker: FunctionMaker) -> dict[str, str] | None:
    """Return the key of a function: a dict with a named text for everything that the compiled code depends on.

    Returns None if the function cannot be cached.
    """
    mode = maker.mode
    linker = mode.linker.fingerprint()
    plain = type(maker) is FunctionMaker and linker is not None
    if not plain or maker.given_fgraph is not None or maker.profile is not None:
        return None
    query = mode.query
    if (
        not isinstance(query, RewriteDatabaseQuery)
        or query.extra_rewrites
        or mode.own_optdb is not None
    ):
        return None
    inputs = [each.variable for each in maker.inputs]
    updates = [(i, each.update) for i, each in enumerate(maker.inputs) if each.update is not None]
    outputs = [each.variable for each in maker.outputs] + [u for _, u in updates]
    numbering = Numbering(inputs, outputs)
    nodes = _with_inner(numbering.nodes)
    maker.cache_ops = ()
    try:
        # each op once, since most ops of a large graph occur often
        distinct = dict.fromkeys([node.op for node in nodes])
        if not all(map(_is_defined_by_code, distinct)):
            return None
        graph = digest_of_numbered(inputs, outputs, numbering)
        rewrites = fingerprint_of_rewrites()
        types = _registered_types([*inputs, *outputs, *(v for node in nodes for v in node.outputs)])
        parts = list(_parts_of_ops(distinct))
        ops = _registered_ops(nodes) if any(map(_is_foreign, parts)) else ""
        if ops:
            maker.cache_ops = [each for each in parts if isinstance(each, Op)]
        families = _families_of(parts)
        extensions = _extensions_of(parts, families)
    except (TypeError, UnknownSource) as reason:
        _warn_once(str(reason))
        return None
    flags = [
        (each.mutable, each.borrow, each.strict, each.allow_downcast, each.implicit, each.shared)
        for each in maker.inputs
    ]
    return {
        "graph": graph,
        "inputs": repr(flags),
        "outputs": repr([each.borrow for each in maker.outputs]),
        "updates": repr([i for i, _ in updates]),
        "in-place": repr(maker.accept_inplace),
        "query": _query_text(query),
        "linker": str(linker),
        "rewrites": digest_text(rewrites),
        "options": repr(
            sorted(
                (k, v)
                for k, v in config.as_dict().items()
                if k not in _WITHOUT_EFFECT and not k.startswith(_SECTIONS_WITHOUT_EFFECT)
            )
        ),
        "sources of compile": manifest(os.path.dirname(__file__)),
        **({"types": types} if types else {}),
        **({"ops": ops} if ops else {}),
        **({"without lowerings": str(withheld())} if withheld() else {}),
        **({"extensions": digest_text(extensions)} if extensions else {}),
        **_sources_of_families(parts, families),
        **environment(),
    }


def _families_of(parts: Iterable[Op | ScalarOp]) -> list[Family]:
    """The families that ops or scalar ops belong to, and the families that these need.

    The rules and lowerings of other families do not apply to a graph without their ops. A `DeferredGraph` may have ops of
    all families.
    """
    homes = list(map(_home, parts))
    families = {family_of_module(module) for module in homes}
    if "occelo_compile.deferred_graphs" in homes:
        families.update(declared())
    return with_required(each for each in families if each is not None and each is not GRAPH)


def _sources_of_families(
    parts: Iterable[Op | ScalarOp], families: Iterable[Family]
) -> dict[str, str]:
    """Return a digest of the sources of each family, and of each package of Occelo that is no family and has ops."""
    modules = [module for module in map(_home, parts) if family_of_module(module) is None]
    return {f"sources of {each.name}": manifest(each.folder) for each in families} | {
        f"sources of {name}": manifest(os.path.dirname(sys.modules[name].__file__ or ""))
        for name in sorted({module.partition(".")[0] for module in modules})
        if is_own(name) and name != "occelo_link"
    }


def _extensions_of(parts: Iterable[Op | ScalarOp], families: Iterable[Family]) -> str:
    """The texts of extensions that a graph with these ops and families may depend on.

    Files of a family may have changed since they were imported, and modules may have been imported again. Then the key has
    the texts of what is registered now.
    """
    ops = [part for part in parts if isinstance(part, Op)]
    named = {name for each in ops for name in each.named_extensions()}
    changed = {
        each.name for each in families if not is_own(each.package) and has_changed(each.folder)
    }
    return extensions_text(named, changed)


def _note_sources(family: Family) -> None:
    """Keep the digest of the sources of a family from outside as they are when its parts are imported."""
    if not is_own(family.package):
        manifest(family.folder)


follow(_note_sources)


def _home(part: Op | ScalarOp) -> str:
    """The module that defined an op or a scalar op: that of its class, or of the function or formula of a row."""
    if isinstance(part, ScalarFunction):
        if part.place is not None:
            return part.place[0]
        defined: Any = part.formula or part.function
        if isinstance(defined, FunctionType):
            return defined.__module__ or ""
    return type(part).__module__


def _with_inner(nodes: list[Apply]) -> list[Apply]:
    """Return the nodes, and the nodes of their inner graphs, at any depth. Each inner graph is visited once."""
    all_nodes = list(nodes)
    seen: set[FrozenFunctionGraph] = set()
    for node in all_nodes:
        inner = getattr(node.op, "graph", None)
        if isinstance(inner, FrozenFunctionGraph) and inner not in seen:
            seen.add(inner)
            all_nodes += inner.nodes
    return all_nodes


def _registered_types(variables: Iterable[Variable]) -> str:
    """Return a digest of the sources of types that other packages define, or "" if there are none.

    Compiled code depends on these sources, since a type converts its values to arrays.
    """
    kinds = dict.fromkeys(v.type for v in variables if not v.type.is_array)
    classes = dict.fromkeys(cls for kind in kinds for cls in type(kind).__mro__)
    external = [cls for cls in classes if is_external(cls) and cls is not object]
    if not external:
        return ""
    sources = [source_text(cls, f"the type {cls.__qualname__}") for cls in external]
    return digest_text("\n".join([*sources, *(repr(kind.parts()) for kind in kinds)]))


def _is_defined_by_code(op: Op) -> bool:
    """Whether the fields and the source code of an op determine what it does. Only then can a key describe the op."""
    return not op.observes and op.props() is not None


def _is_foreign(part: Op | ScalarOp) -> bool:
    """Whether an op or a scalar op is from another package."""
    return part.place is not None if isinstance(part, ScalarFunction) else is_external(type(part))


def _registered_ops(nodes: Iterable[Apply]) -> str:
    """Return a digest of the sources of ops and scalar ops from other packages."""
    texts: list[str] = []
    own: set[type] = set()
    classes: dict[type, int] = {}
    order: list[int] = []  # classes made by a function have the same name: the order tells
    for each in _parts_of_ops([node.op for node in nodes]):
        kind = type(each)
        if isinstance(each, ScalarFunction):
            if each.place is not None:
                texts.append(source_text(each.parts(), f"the scalar function {each.name}"))
        elif kind in own:
            continue
        elif kind in classes:
            order.append(classes[kind])
        elif not is_external(kind):
            own.add(kind)
        else:
            order.append(len(classes))
            classes[kind] = order[-1]
            what = "op" if isinstance(each, Op) else "scalar function"
            texts.append(source_text(kind, f"the {what} {kind.__qualname__}"))
    return digest_text("\n".join([*texts, repr(order)]))


_PLAIN = frozenset((int, str, bool, float, type(None)))
"""Classes of parameters that contain no ops. Most parameters are of one of these classes."""
_LISTED_ONCE = (ScalarFunction, FrozenFunctionGraph)


def _parts_of_ops(ops: Iterable[Op]) -> Iterator[Op | ScalarOp]:
    """Iterate over the ops, and over all ops and scalar ops among their parameters, at any depth.

    A scalar function or an inner graph that occurs several times is visited only once.
    """
    seen: set[int] = set()
    pending: list[Any] = list(ops)[::-1]
    while pending:
        part: Any = pending.pop()
        if isinstance(part, _LISTED_ONCE):
            if id(part) in seen:
                continue
            seen.add(id(part))
        if isinstance(part, Op):
            yield part
            inner = (part.props() or {}).values()
        elif isinstance(part, ScalarOp):
            yield part
            inner = part.fields().values()
        elif isinstance(part, FrozenFunctionGraph):
            inner = [node.op for node in part.nodes]
        elif is_list_or_tuple(part):
            inner = part
        else:
            continue
        pending.extend([each for each in reversed(list(inner)) if type(each) not in _PLAIN])


def _query_text(query: RewriteDatabaseQuery) -> str:
    parts = [sorted(part) for part in (query.include, query.require, query.exclude)]
    inner = [f"{name}: {_query_text(q)}" for name, q in sorted(query.subquery.items())]
    return repr([*parts, query.position_cutoff, inner])


def _warn_once(reason: str) -> None:
    if reason not in _warned:
        _warned.add(reason)
        warn_user(f"Functions are not kept in the cache: {reason}")


def _entry_name(key: dict[str, str]) -> str:
    return digest_text(json.dumps(key, sort_keys=True))


def load(maker: FunctionMaker) -> Linked | None:
    """Return the linked function for a maker from the cache, or None if the cache does not have it."""
    store = default_store()
    if store is None:
        return None
    maker.cache_key = key = function_key(maker)
    if key is None:
        return None
    packed = store.get(_KIND, _entry_name(key))
    if packed is None:
        counters["function misses"] += 1
        return None
    linked = _relink(maker, unpack(packed)[1])
    counters["function misses" if linked is None else "function hits"] += 1
    return linked


def _relink(maker: FunctionMaker, packed: memoryview) -> Linked | None:
    """Make the linked function from the bytes of an entry. Returns None if the linker can no longer read the bytes."""
    inputs = [each.variable for each in maker.inputs]
    updated = [i for i, each in enumerate(maker.inputs) if each.update is not None]
    kinds = [each.variable.type for each in maker.outputs]
    kinds += [maker.inputs[i].variable.type for i in updated]
    outputs: list[Variable] = [kind.make_variable() for kind in kinds]
    count = len(maker.outputs)
    mapping = {count + k: i for k, i in enumerate(updated)}
    graph = CallGraph(inputs, outputs, mapping, [True] * len(outputs))
    cells = maker.input_cells()
    results: list[list[Any]] = [[None] for _ in outputs]
    vm = maker.mode.linker.unpack(
        packed, graph, cells, results, lambda: maker.fgraph, maker.cache_ops
    )
    if vm is None:
        return None
    maker.set_call_graph(graph)
    maker.from_cache = True
    containers = [
        Container(v, cell, readonly=True) for v, cell in zip(outputs, results, strict=True)
    ]
    return Linked(vm, maker.input_containers(cells), containers)


def keep(maker: FunctionMaker, linked: Linked) -> None:
    """Store a linked function in the cache, if its linker can pack its VM.

    A function whose rewriting stopped at a limit is not kept, so that the next process is warned, too. Nor is one with a
    `DeferredGraph` that has parts which its digest does not name.
    """
    from occelo_compile.deferred_graphs import has_unnamed  # not for functions from the cache

    store, key = default_store(), maker.cache_key
    if (
        store is None
        or key is None
        or maker.rewritten.record.limits
        or has_unnamed([each.variable for each in maker.outputs])
    ):
        return
    named = set(maker.cache_ops)
    if not are_named_by(key, [n.op for n in linked.vm.python_nodes if n.op not in named]):
        return
    packed = maker.mode.linker.pack(linked.vm, maker.cache_ops)
    if packed is not None:
        header = key if maker.name is None else {**key, _NAME: maker.name}
        store.put(_KIND, _entry_name(key), pack(header, packed))


def are_named_by(key: dict[str, str], ops: Iterable[Op]) -> bool:
    """Whether the names of ops that run in Python say what they do, so that an entry may name them.

    That is so for Occelo's own classes whose sources are part of the key. The name of a user's class may be that of
    another class in the next process; an entry refers to ops of a user's graph by position instead.
    """
    parts = list(_parts_of_ops(ops))
    if any(_is_foreign(part) or "<locals>" in type(part).__qualname__ for part in parts):
        return False
    return _sources_of_families(parts, _families_of(parts)).items() <= key.items()


@explained_by("arguments")
def entry_function(store: Store, entry: Entry) -> str | None:
    """Return the name of the function that wrote an entry; None if it has none, or if the entry is no function's.

    TypeError unless it is one of ``store.entries()``.
    """
    anything: Any = entry
    if not isinstance(anything, Entry):
        raise TypeError(f"entry_function takes one of the entries of a store, got {entry!r}")
    packed = store.get(_KIND, entry.key) if entry.kind == _KIND else None
    return None if packed is None else unpack(packed)[0].get(_NAME)


def _kept_keys(store: Store) -> Iterator[dict[str, str]]:
    for entry in store.entries():
        if entry.kind == _KIND:
            packed = store.get(_KIND, entry.key)
            if packed is not None:
                key: dict[str, str] = unpack(packed)[0]
                key.pop(_NAME, None)
                yield key


@explained_by("graphs")
def explain_miss(function: Function, file: Any = None) -> str | None:
    """Print why a function was not found in the cache: the first component of its key that differs from an existing
    key.

    The key is compared with the most similar key in the cache. With ``file="str"`` the text is returned; otherwise it
    is printed to ``file``.
    """
    check_compiled(function, "explain_miss")
    text = why_missed(inspected(function).maker)
    if file == "str":
        return text
    print(text, file=file)
    return None


def why_missed(maker: FunctionMaker) -> str:
    """Return the text that `explain_miss` prints."""
    if maker.from_cache:
        return "The function was found in the cache"
    key, store = maker.cache_key, default_store()
    if store is None:
        return "The cache is switched off"
    if maker.profile is not None:
        return "The function is not kept: it is profiled"
    if key is None:
        return "The function cannot be kept: what it depends on is not known"
    if maker.rewritten.record.limits:
        return "The function is not kept: its rewriting stopped at a limit"
    best: dict[str, str] | None = None
    for other in _kept_keys(store):
        if other == key:
            continue
        if best is None or _common(other, key) > _common(best, key):
            best = other
    if best is None:
        return "The cache has no other function"
    # an entry may have a part more, such as that of a family
    name = next(k for k in {**key, **best} if best.get(k) != key.get(k))
    return f"{name}: {key.get(name)!r} here, {best.get(name)!r} in the nearest entry"


def _common(a: dict[str, str], b: dict[str, str]) -> tuple[bool, int]:
    return a.get("graph") == b["graph"], sum(a.get(k) == v for k, v in b.items())
