"""Object code by what it was made from: one module of LLVM IR, or one loop program."""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.cache.fingerprint import digest_text, environment
from occelo_link.cache.store import counters, default_store

__all__ = ["object_code", "stored_object"]


def object_code(what: str, make: Callable[[], bytes]) -> bytes:
    """Object code that ``make`` gives, or the store's, by a text that says what it is made from."""
    store = default_store()
    if store is None:
        counters["code generation"] += 1
        return make()
    key = _key(what)
    found = store.get("objects", key)
    if found is not None:
        counters["object hits"] += 1
        return found
    counters["object misses"] += 1
    counters["code generation"] += 1
    made = make()
    store.put("objects", key, made)
    return made


def stored_object(what: str) -> bytes | None:
    """Object code that the store has for a text."""
    store = default_store()
    return None if store is None else store.get("objects", _key(what))


def _key(what: str) -> str:
    return digest_text("\n".join([*(f"{k}: {v}" for k, v in environment().items()), what]))
