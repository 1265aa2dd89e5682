"""Fingerprint of a database of rewrites: a text that changes whenever users change the rewrites.

`occelo_compile.function_cache` puts that of `optdb` (`queries.fingerprint_of_rewrites`) into the cache key of each function.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from occelo_graph.extensions import is_external, source_text
from occelo_rewrite.database import ProxyDB, RewriteDatabase


def database_fingerprint(database: RewriteDatabase) -> str:
    """A text with the names, tags and positions of all rewrites, and the source code of rewrites from other packages.

    If a rewrite has an attribute ``version``, the text contains the version instead of the source. `UnknownSource` if a
    rewrite has no version and no readable source. For a database that users have not changed, the text is "standard".
    """
    if database.is_standard:
        return "standard"
    return "\n".join(_lines(database, ()))


def _lines(database: RewriteDatabase, path: tuple[str, ...]) -> Iterator[str]:
    for entry in database.entries():
        where = (*path, entry.name)
        yield f"{'/'.join(where)} {entry.position} {sorted(entry.tags)}"
        rewriter: Any = entry.rewriter
        if isinstance(rewriter, ProxyDB):
            rewriter = rewriter.db
        if isinstance(rewriter, RewriteDatabase):
            yield from _lines(rewriter, where)
        else:
            for part in _parts(rewriter):
                yield source_text(part, f"the rewrite {'/'.join(where)}")


def _parts(rewriter: Any) -> Iterator[Any]:
    """The functions and classes that a rewriter runs."""
    inner: Any = getattr(rewriter, "rules", None) or getattr(rewriter, "rewriters", None) or ()
    for each in inner:
        yield from _parts(each)
    function: Any = getattr(rewriter, "law", None) or getattr(rewriter, "function", None)
    if function is not None:
        yield function
    else:
        yield rewriter if is_external(rewriter) else type(rewriter)
