"""The stage rewrite_bodies: the body of each loop is rewritten with the same query as the whole graph.

`pipeline` runs this stage after expand_scans. Bodies do not run through the stages after position 49.4 (`LAST`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, cast
from weakref import WeakKeyDictionary

from occelo_graph import Apply, FrozenFunctionGraph, FunctionGraph, freeze
from occelo_loops.ops.iterate import Iterate
from occelo_rewrite.database import RewriteDatabase
from occelo_rewrite.queries import RewriteDatabaseQuery
from occelo_rewrite.records.record import RewriteRecord
from occelo_rewrite.rewriter import RecordingRewriter

LAST = 49.4
"""The position of the last stage that is run on bodies.

Later stages choose nodes that overwrite their inputs. For bodies, linkers make this choice themselves.
"""


class BodiesDB(RewriteDatabase):
    """The database of the stage. A query returns a rewriter that applies the same query, up to `LAST`, to each body."""

    def __init__(self, name: str, whole: RewriteDatabase) -> None:
        super().__init__(name)
        self._whole = whole

    def query(self, *tags: Any, **options: Any) -> Any:
        return _BodyRewriter(self.name, self._whole, self.as_query(*tags, **options))


class _BodyRewriter(RecordingRewriter):
    """Replaces each loop by a loop with a rewritten body. Equal bodies are rewritten once."""

    def __init__(self, name: str, whole: RewriteDatabase, query: RewriteDatabaseQuery) -> None:
        self.name = name
        self._whole = whole
        self._query = query
        self._inner: Any = None
        self._known: WeakKeyDictionary[FrozenFunctionGraph, FrozenFunctionGraph] = (
            WeakKeyDictionary()
        )

    def run(self, fgraph: FunctionGraph, record: RewriteRecord) -> None:
        for node in fgraph.toposort():
            if isinstance(node.op, Iterate):
                self._rewrite(fgraph, cast("Apply[Iterate]", node), record)

    def _rewrite(self, fgraph: FunctionGraph, node: Apply[Iterate], record: RewriteRecord) -> None:
        op_ = node.op
        body = self._rewritten(op_.body, record)
        if body is op_.body:
            return
        outputs = replace(op_, body=body)(*node.inputs, return_list=True)
        fgraph.replace_all(list(zip(node.outputs, outputs, strict=True)), reason=self.name)

    def _rewritten(self, body: FrozenFunctionGraph, record: RewriteRecord) -> FrozenFunctionGraph:
        rewritten = self._known.get(body)
        if rewritten is None:
            inner = body.unfreeze()
            if self._inner is None:
                # the inner rewriter is made only when needed: it contains this stage, so making it
                # at once would never end
                query = RewriteDatabaseQuery(
                    self._query.include,
                    self._query.require,
                    self._query.exclude,
                    self._query.subquery,
                    LAST,
                )
                self._inner = self._whole.query(query)
            noted = RewriteRecord.configured()
            noted.enclosing = record
            self._inner.rewrite(inner, noted)
            rewritten = freeze(inner.inputs, inner.outputs)
            if not noted.limits:  # else the next function would not know of the limit
                self._known[body] = rewritten
        return rewritten
