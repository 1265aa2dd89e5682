"""Converts cache entries to bytes: `pack` joins a JSON header and binary data, and `unpack` separates them.

Units (`units.interface`, `units.compiled_unit`), VMs of blocks and `occelo_compile.function_cache` convert their entries with
these functions.
"""

from __future__ import annotations

import json
from typing import Any

_LENGTH = 8


def pack(header: Any, *data: bytes) -> bytes:
    """Return the bytes of a header and of binary data.

    JSON has no tuples, so `unpack` returns the tuples of the header as lists.
    """
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *data])


def unpack(packed: bytes | memoryview) -> tuple[Any, memoryview]:
    """Return the header and the data of packed bytes. The data are a view, not a copy."""
    view = memoryview(packed)
    end = _LENGTH + int.from_bytes(view[:_LENGTH], "little")
    return json.loads(bytes(view[_LENGTH:end])), view[end:]
