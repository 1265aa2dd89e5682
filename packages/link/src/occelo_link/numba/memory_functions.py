"""Defines the functions ``memset``, ``memcpy`` and ``memmove`` in LLVM IR, so that object code calls no outside
function.

LLVM replaces loops that fill or copy memory by calls of these functions. Object code that defines the functions itself
is loaded with all its sections adjacent (`occelo_link.units.engine.load_object`). Otherwise its constants may be too
far from its instructions. `compiling` adds the definitions to the text that it compiles. They are made from
``memory_functions.c`` (``packages/link/llvm_from_c.py``).
"""

from __future__ import annotations

import re
from pathlib import Path

_DECLARATION = re.compile(r"^declare [^@\n]*@mem(set|cpy|move)\(.*$", re.MULTILINE)


def memory_functions(text: str) -> str:
    """Return the text of a module in which definitions of the memory functions replace their declarations."""
    definitions = Path(__file__).with_name("memory_functions.ll").read_text(encoding="utf-8")
    return f"{_DECLARATION.sub('', text)}\n{definitions}"
