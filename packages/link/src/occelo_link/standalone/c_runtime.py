"""The C code that runs a unit in an exported library: the services of `units.frame`, with memory of the C library.

`exporting` writes it between the unit and the public function. What it does with outputs is the text of functions in this
process (``outputs.h``, see `services`); only the working memory is found anew in each call (``exported.c``), so that the
library has no variables.
"""

from __future__ import annotations

import re
from pathlib import Path

from occelo_link.standalone.context import NO_ROOM
from occelo_link.units.frame import ARENA, ARENA_END, CALLER, FIRST_INPUT, INPUT_SLOTS, OVERFLOW

_HERE = Path(__file__).parent
_OWN = re.compile(
    r"\b(output_record|call_record|count_of|room_of|start_of|grow|alloc_output|take|poll|commit|run|table)\b"
)
"""The names that the C code defines."""


def own_name(library: str, name: str) -> str:
    """Return the name that a library gives to a name of the C code, so that it has no name of a user."""
    return f"{library}_{name}_"


def runtime(library: str, unit: str, outputs: int) -> str:
    """Return the C code of a library for the function ``unit``, which has a number of outputs.

    The names of the code are `own_name`. It needs the array ``table``.
    """
    words = {
        "CALLER": CALLER,
        "ARENA": ARENA,
        "ARENA_END": ARENA_END,
        "FIRST_INPUT": FIRST_INPUT,
        "INPUT_SLOTS": INPUT_SLOTS,
        "OVERFLOW": OVERFLOW,
        "NO_ROOM": f"({NO_ROOM})",
        "OUTPUTS": max(1, outputs),
        "UNIT": unit,
        "SERVICE": "static",
        "COPY": "memcpy",
    }
    code, shared = (_HERE.joinpath(name).read_text("utf-8") for name in ("exported.c", "outputs.h"))
    code = code.replace('#include "outputs.h"\n', shared)
    code = re.sub(rf"\b({'|'.join(words)})\b", lambda m: str(words[m[0]]), code)
    return _OWN.sub(lambda m: own_name(library, m[0]), code)
