"""Decides whether a random program satisfies a law (`judged`), and shrinks programs that do not (`smallest`).

`running` calls both functions, and so do tests of the laws themselves.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np

from occelo_compile.mode import Mode, get_mode
from occelo_rewrite.queries import NOT_STRICT
from occelo_testing.programs.listing import listing
from occelo_testing.programs.program import Program, Step
from occelo_testing.programs.shrinking import shrunk
from occelo_testing.random_programs.case import Case, Unsuited, Violation
from occelo_testing.random_programs.laws import LAWS

_CAREFUL = 40  # the number of runs with NumPy that must confirm a difference


@dataclass(frozen=True)
class Fault:
    """A program for which a law does not hold."""

    program: Program
    law: str
    mode: str | None
    kind: str
    message: str

    @property
    def signature(self) -> str:
        """A text that is equal for similar faults, so that they are counted together.

        It has the law, the kind, the steps, and the last line of the message without its numbers.
        """
        steps = " ".join(sorted(n.name for n in self.program.nodes if isinstance(n, Step)))
        last = self.message.strip().splitlines()[-1] if self.kind != "value" else ""
        return f"{self.law}: {self.kind}: {steps}: " + re.sub(r"\b[xt]?\d+\b", "#", last)[:160]

    def text(self) -> str:
        """Return a script that reproduces the fault, with the message."""
        note = f"seed {self.program.seed}, law '{self.law}', {self.kind}\n{self.message.strip()}"
        return listing(self.program, note, None if self.mode is None else repr(self.mode))


def judged(program: Program, law: str, mode: str | None = None) -> Fault | str:
    """Check a law for a program. Returns a `Fault` if the law does not hold, and otherwise a word:

    - "kept": the law holds. A wrong value counts only if it is still wrong after the tolerances are measured with more
      runs.
    - "unsuited": the law does not apply to this program.
    - "tagged": the law holds if some rules are excluded: those whose tags allow them to change more than rounding. This
      is tried for wrong values. It is also tried for failed calls if the program has values that are not finite.
    """
    try:
        _try(program, law, mode, 4)
    except Unsuited:
        return "unsuited"
    except Violation as first:
        violation = first
    else:
        return "kept"
    if violation.kind == "value":
        try:
            _try(program, law, mode, _CAREFUL)
        except Unsuited:
            return "unsuited"
        except Violation as second:
            violation = second
        else:
            return "kept"
    # a call may also fail: with masks, even shapes may depend on values that are not finite
    if law != "strict" and (
        violation.kind == "value" or (violation.kind == "call" and _has_special_values(program))
    ):
        if _holds(program, law, get_mode(_linker(law, mode)).excluding(*NOT_STRICT)):
            return "tagged"
    return Fault(program, law, mode, violation.kind, violation.message)


def _has_special_values(program: Program) -> bool:
    return not all(np.isfinite(v).all() for v in program.run() if v.dtype.kind in "fc")


def _linker(law: str, mode: str | None) -> str | None:
    return law if law in ("py", "vm", "native", "c", "c|py", "numba", "jax", "pytorch") else mode


def _try(program: Program, law: str, mode: str | Mode | None, runs: int) -> None:
    random = np.random.default_rng([max(program.seed, 0), sum(law.encode())])
    LAWS[law](Case(program, mode, runs), random)


def _holds(program: Program, law: str, mode: str | Mode | None) -> bool:
    try:
        _try(program, "value" if law == _linker(law, None) else law, mode, _CAREFUL)
    except Violation:
        return False
    return True


def smallest(fault: Fault, most: int = 150) -> Fault:
    """Shrink the program of a fault. Returns the fault of the smallest program found in at most ``most`` attempts."""
    faults = [fault]
    message = fault.signature.rpartition(": ")[2]

    def fails(program: Program) -> bool:
        try:
            again = judged(program, fault.law, fault.mode)
        except Exception:
            return False
        if isinstance(again, str) or again.kind != fault.kind:
            return False
        if fault.kind != "value" and again.signature.rpartition(": ")[2] != message:
            return False
        faults.append(again)
        return True

    shrunk(fault.program, fails, most)
    return faults[-1]
