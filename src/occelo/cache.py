"""The cache of compiled functions, for users: its directory, entries, counters and lock. `explain_miss` says why a
function was not in the cache.

The command ``occelo cache`` (`occelo.command.cache`) uses some of these names.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_compile.function_cache import entry_function, explain_miss
from occelo_link.cache.directory import base_directory, compile_directory
from occelo_link.cache.lock import force_unlock, lock_ctx, set_lock_status
from occelo_link.cache.store import Entry, Store, counters, default_store

__all__ = [
    "Entry",
    "Store",
    "base_directory",
    "compile_directory",
    "counters",
    "default_store",
    "entry_function",
    "explain_miss",
    "force_unlock",
    "lock_ctx",
    "set_lock_status",
]

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
