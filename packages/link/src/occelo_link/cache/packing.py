"""Serialization of cache entries: `pack` joins a JSON header and binary data, `unpack` separates them.

Units (`units.interface`, `units.packing`), VMs of blocks and `occelo_compile.function_cache` write their entries with it.
"""

from __future__ import annotations

import json
from typing import Any

__all__ = ["pack", "unpack"]

_LENGTH = 8


def pack(header: Any, *data: bytes) -> bytes:
    """The bytes of a header and data. When they are unpacked, tuples in the header have become lists."""
    text = json.dumps(header).encode()
    return b"".join([len(text).to_bytes(_LENGTH, "little"), text, *data])


def unpack(packed: bytes | memoryview) -> tuple[Any, memoryview]:
    """The header and the data, without a copy of the data."""
    view = memoryview(packed)
    end = _LENGTH + int.from_bytes(view[:_LENGTH], "little")
    return json.loads(bytes(view[_LENGTH:end])), view[end:]
