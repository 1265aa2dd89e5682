"""Cache of object code. The key is the source text that the code was compiled from: LLVM IR, Python or C.

All linkers that make machine code, the timing of loops and the machine-code entry look here before they compile.
"""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.cache.fingerprint import digest_text, environment
from occelo_link.cache.store import Store, counters, default_store

__all__ = ["kept_code", "object_code", "stored_object"]


def object_code(what: str, make: Callable[[], bytes]) -> bytes:
    """The object code of the text ``what``, from the store; if the store does not have it, ``make`` compiles it."""
    return kept_code(default_store(), "objects", what, make)


def kept_code(store: Store | None, kind: str, what: str, make: Callable[[], bytes]) -> bytes:
    """The code of the text ``what`` from a store, where it has the kind ``kind``; if the store does not have it,
    ``make`` compiles it.
    """
    if store is None:
        counters["code generation"] += 1
        return make()
    key = _key(what)
    found = store.get(kind, key)
    if found is not None:
        counters["object hits"] += 1
        return found
    counters["object misses"] += 1
    counters["code generation"] += 1
    made = make()
    store.put(kind, key, made)
    return made


def stored_object(what: str) -> bytes | None:
    """The object code of the text ``what``, from the store; None if the store does not have it."""
    store = default_store()
    return None if store is None else store.get("objects", _key(what))


def _key(what: str) -> str:
    return digest_text("\n".join([*(f"{k}: {v}" for k, v in environment().items()), what]))
