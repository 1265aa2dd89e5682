"""The interface of a unit: the types of its inputs and outputs, names of functions in its table, constants, callbacks.

The linkers make the interface of each unit. Entries and other callers of the unit read it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Variable
from occelo_graph.frozen_dataclasses import mutable_dataclass
from occelo_link.cache.packing import pack, unpack
from occelo_link.units.callbacks import Callbacks

if TYPE_CHECKING:
    from occelo_link.loops.ir.program import Program

MOST_CONSTANTS = 16 * 2**20
"""The largest number of bytes of constants for which a unit is cached."""


class UnitFailure(Exception):
    """A check of a unit failed, or an allocation. ``site`` is the number of the check's site, or -1 for an allocation."""

    def __init__(self, site: int) -> None:
        super().__init__(site)
        self.site = site


@mutable_dataclass
class UnitInterface:
    """The facts about a unit that its callers need.

    ``inputs`` has the dtype and the static shape of each input, and ``outputs`` has the dtype and the number of
    dimensions of each output. A value that consists of several arrays (`Type.parts`) has an item for each array.
    ``in_either_order`` are the positions of inputs that need not be in C order (`Buffer.in_either_order`).
    ``table`` maps the names of functions and constants to slots of the unit's table, counted after the services.
    """

    inputs: list[tuple[str, tuple[int | None, ...]]]
    outputs: list[tuple[str, int]]
    table: dict[str, int]
    constants: list[Any]
    callbacks: Callbacks | None = None
    in_either_order: Sequence[int] = ()

    @classmethod
    def of(cls, program: Program, inputs: Sequence[Variable]) -> UnitInterface:
        """The interface of a loop program's unit. ``inputs`` are the inputs of the graph that was lowered."""
        return cls(
            [(p.dtype, p.shape) for v in inputs for p in v.type.parts() or ()],
            [(b.holds, b.ndim) for b in program.outputs],
            dict(program.table),
            list(program.constants),
            Callbacks(program.callbacks) if program.callbacks else None,
            [i for i, buffer in enumerate(program.inputs) if buffer.in_either_order],
        )

    def pack(self, code: bytes, source: bytes = b"") -> bytes | None:
        """The interface, the code and its source (`PlainUnit`) as bytes, without callbacks.

        None if there is no code, or if constants are large.
        """
        if not code or _total_bytes(self.constants) > MOST_CONSTANTS:
            return None
        header = {
            "inputs": self.inputs,
            "in_either_order": self.in_either_order,
            "outputs": self.outputs,
            "table": self.table,
            "constants": [[c.dtype.str, c.shape] for c in self.constants],
            "code": len(code),
            "source": len(source),
        }
        return pack(
            header, code, source, *[np.ascontiguousarray(c).tobytes() for c in self.constants]
        )

    @classmethod
    def unpack(cls, packed: bytes | memoryview) -> tuple[UnitInterface, bytes, bytes]:
        """The inverse of `pack`."""
        header, data = unpack(packed)
        at = header["code"]
        code = bytes(data[:at])
        source = bytes(data[at : at + header["source"]])
        at += len(source)
        constants: list[Any] = []
        for dtype, shape in header["constants"]:
            element: np.dtype[Any] = np.dtype(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            constants.append(np.frombuffer(data, element, count, at).reshape(shape).copy())
            at += count * element.itemsize
        interface = cls(
            [(d, tuple(s)) for d, s in header["inputs"]],
            [(d, n) for d, n in header["outputs"]],
            header["table"],
            constants,
            in_either_order=header["in_either_order"],
        )
        return interface, code, source


def _total_bytes(arrays: Sequence[Any]) -> int:
    """The number of bytes of all arrays together."""
    return sum(int(a.nbytes) for a in arrays)
