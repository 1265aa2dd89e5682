"""What must be known to call a unit, apart from its code."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from occelo_graph import Variable
from occelo_link.loops.ir.program import Program
from occelo_link.units.hosts import Hosts

__all__ = ["UnitFailure", "UnitInterface", "total_bytes"]


class UnitFailure(Exception):
    """A check of a unit failed; ``site`` is its number, or -1 for memory."""

    def __init__(self, site: int) -> None:
        super().__init__(site)
        self.site = site


@dataclass
class UnitInterface:
    """Dtypes and static shapes of inputs, dtypes and dimensions of outputs, the table's names, ops called in Python.

    Inputs and outputs are those of the program: the parts of the variables of the block.
    """

    inputs: list[tuple[str, tuple[int | None, ...]]]
    outputs: list[tuple[str, int]]
    table: dict[str, int]
    constants: list[Any]
    hosts: Hosts | None = None

    @classmethod
    def of(cls, program: Program, inputs: Sequence[Variable]) -> UnitInterface:
        """The interface of a program of these inputs."""
        return cls(
            [(p.dtype, p.shape) for v in inputs for p in v.type.parts() or ()],
            [(b.holds, b.ndim) for b in program.outputs],
            dict(program.table),
            list(program.constants),
            Hosts(program.hosts) if program.hosts else None,
        )

    def pack(self, code: bytes, notes: Any) -> bytes:
        """Interface, code and what JSON takes, as bytes."""
        header = {
            "inputs": self.inputs,
            "outputs": self.outputs,
            "table": self.table,
            "constants": [[c.dtype.str, c.shape] for c in self.constants],
            "code": len(code),
            "notes": notes,
        }
        text = json.dumps(header).encode()
        data = [np.ascontiguousarray(c).tobytes() for c in self.constants]
        return b"".join([len(text).to_bytes(8, "little"), text, code, *data])

    @classmethod
    def unpack(cls, packed: bytes) -> tuple[UnitInterface, bytes, Any]:
        """What `pack` was given."""
        size = int.from_bytes(packed[:8], "little")
        header: dict[str, Any] = json.loads(packed[8 : 8 + size])
        at = 8 + size
        code = packed[at : at + header["code"]]
        at += header["code"]
        constants: list[Any] = []
        for dtype, shape in header["constants"]:
            kind: Any = np.dtype(dtype)
            count = int(np.prod(shape, dtype=np.int64))
            array = np.frombuffer(packed, kind, count, at).reshape(shape).copy()
            constants.append(array)
            at += count * kind.itemsize
        made = cls(
            [(d, tuple(s)) for d, s in header["inputs"]],
            [(d, n) for d, n in header["outputs"]],
            header["table"],
            constants,
        )
        return made, code, header["notes"]


def total_bytes(arrays: Sequence[Any]) -> int:
    """The size of the data of arrays."""
    return sum(int(a.nbytes) for a in arrays)
