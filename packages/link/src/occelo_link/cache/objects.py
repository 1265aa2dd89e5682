"""The cache of object code. Its keys are made from the source text (LLVM IR, Python or C) and from `environment`.

All linkers that make machine code look here before they compile. So do the timing of loops and the loading of the
machine-code entry.
"""

from __future__ import annotations

from collections.abc import Callable

from occelo_link.cache.fingerprint import digest_text, environment
from occelo_link.cache.store import Store, counters, default_store


def object_code(text: str, make: Callable[[], bytes]) -> bytes:
    """Return the object code of a source text from the default store. If the store lacks it, ``make`` compiles it."""
    return kept_code(default_store(), "objects", text, make)


def kept_code(store: Store | None, kind: str, text: str, make: Callable[[], bytes]) -> bytes:
    """Return the code of a source text from a store. If the store lacks it, ``make`` compiles it for the store.

    ``kind`` is the kind of the store's entry, such as "objects" or "libraries".
    """
    if store is None:
        counters["code generation"] += 1
        return make()
    key = object_key(text)
    stored = store.get(kind, key)
    if stored is not None:
        counters["object hits"] += 1
        return stored
    counters["object misses"] += 1
    counters["code generation"] += 1
    code = make()
    store.put(kind, key, code)
    return code


def stored_object(text: str) -> bytes | None:
    """Return the object code of a source text from the default store, or None if the store lacks it."""
    return object_of_key(object_key(text))


def object_of_key(key: str) -> bytes | None:
    """Return the object code whose source text has a key. None if the default store lacks it."""
    store = default_store()
    return None if store is None else store.get("objects", key)


def object_key(text: str) -> str:
    """The key of the object code of a source text."""
    return digest_text("\n".join([*(f"{k}: {v}" for k, v in environment().items()), text]))
