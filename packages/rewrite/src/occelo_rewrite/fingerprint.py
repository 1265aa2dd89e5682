"""What a database of rewrites holds, as text that changes when a rewrite does."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from occelo_rewrite.database import ProxyDB, RewriteDatabase

__all__ = ["UnknownSource", "database_fingerprint", "source_text"]


_PACKAGES = {"occelo_graph", "occelo_rewrite", "occelo_link", "occelo_compile"}
"""Packages whose sources are known in another way: by their manifest."""


class UnknownSource(Exception):
    """A rewrite registered from outside whose source cannot be read."""


def database_fingerprint(database: RewriteDatabase) -> str:
    """Names, tags and positions of all rewrites, and the source of those from other packages.

    A rewrite with an attribute ``version`` is known by that instead of its source.
    `UnknownSource` if one has neither. A database that nobody has changed is known by that alone.
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
    yield rewriter if function is None else function


def source_text(part: Any, what: str) -> str:
    """The source of a function or class from another package, or its ``version`` if it has one; the name of one of ours.

    `UnknownSource`, which begins with ``what``, if there is none.
    """
    version = getattr(part, "version", None)
    if version is not None:
        return f"version {version}"
    definition = part if inspect.isfunction(part) or inspect.isclass(part) else type(part)  # pyright: ignore[reportUnknownVariableType]
    if definition.__module__.partition(".")[0] in _PACKAGES:
        return f"{definition.__module__}.{definition.__qualname__}"
    try:
        return inspect.getsource(definition)  # pyright: ignore[reportUnknownArgumentType]
    except (OSError, TypeError) as error:
        raise UnknownSource(f"The source of {what} cannot be read: {error}") from None
