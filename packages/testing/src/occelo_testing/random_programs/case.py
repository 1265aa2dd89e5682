"""`Case`: a random program with NumPy's results, and methods that compile it, call it and compare its results.

The laws (functions in `laws`, `gradients` and `mistakes`) get a case and use these methods.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from occelo_compile.calling import Function
from occelo_compile.function import function
from occelo_compile.mode import Mode
from occelo_graph.tensor import TensorVariable
from occelo_testing.programs.drawing import misjudged
from occelo_testing.programs.program import Program
from occelo_testing.programs.rounding import Expected, expected_results, wide_results


class Unsuited(Exception):
    """The law does not apply to this program."""


class Violation(Exception):
    """A law does not hold. ``kind`` says what went wrong: "build", "type", "compile", "call", "value" or "argument"."""

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind
        self.message = message


@dataclass
class Case:
    """A program with its inputs and outputs as variables. ``mode`` is the mode in which laws compile it.

    ``runs`` is the number of runs with NumPy from which the tolerances of the results are measured.
    """

    program: Program
    mode: str | Mode | None = None
    runs: int = 4
    inputs: list[TensorVariable] = field(default_factory=list[TensorVariable])
    outputs: list[TensorVariable] = field(default_factory=list[TensorVariable])

    def __post_init__(self) -> None:
        try:
            self.inputs, self.outputs = self.program.build()
        except Exception as error:
            raise Violation("build", f"{type(error).__name__}: {error}") from error
        values = self.program.run()
        for variable, position in zip(self.outputs, self.program.outputs, strict=True):
            wrong = misjudged(variable, values[position])
            if wrong:
                raise Violation("type", wrong)

    @cached_property
    def expected(self) -> list[Expected]:
        """NumPy's results, with tolerances."""
        return expected_results(self.program, self.runs)

    def compiled(
        self,
        inputs: Sequence[Any],
        outputs: Any,
        mode: str | Mode | None = None,
        **options: Any,
    ) -> Function:
        """Return a compiled function. Raises `Violation` if compiling fails."""
        chosen = self.mode if mode is None else mode
        try:
            compiled: Any = function
            return compiled(inputs, outputs, mode=chosen, on_unused_input="ignore", **options)
        except Exception as error:
            raise Violation("compile", f"{type(error).__name__}: {error}") from error

    def called(self, made: Function, values: Sequence[Any], mutable: bool = False) -> list[Any]:
        """Return the results of a call.

        Raises `Violation` if the call fails, or if it changes arguments although ``mutable`` is false.
        """
        before = [np.array(v) for v in values]
        with np.errstate(all="ignore"):
            try:
                results: list[Any] = made(*values)
            except Exception as error:
                raise Violation("call", f"{type(error).__name__}: {error}") from error
        for i, (a, b) in enumerate(zip(values, before, strict=True)):
            if not mutable and not np.array_equal(a, b, equal_nan=b.dtype.kind in "fc"):
                raise Violation("argument", f"argument {i} was changed from {b} to {a}")
        return results

    def compare(self, results: Sequence[Any], expected: Sequence[Expected] | None = None) -> None:
        """Raise `Violation` if results differ from NumPy's."""
        oracles = self.expected if expected is None else expected
        if len(results) != len(oracles):
            raise Violation("value", f"{len(results)} results instead of {len(oracles)}")
        for i, (actual, one) in enumerate(zip(results, oracles, strict=True)):
            wrong = one.difference(actual)
            if wrong and not (expected is None and self._is_better(i, actual, one)):
                raise Violation("value", f"result {i}: {wrong}")

    def _is_better(self, position: int, found: npt.NDArray[Any], one: Expected) -> bool:
        """Whether a result differs only where NumPy's result is not finite, and agrees there with NumPy in wider
        floats.
        """
        if (
            found.dtype != one.value.dtype
            or found.shape != one.value.shape
            or found.dtype.kind != "f"
        ):
            return False
        wide = wide_results(self.program)
        if wide is None or wide[position].shape != found.shape:
            return False
        with np.errstate(all="ignore"):
            exact = wide[position]
            near = np.abs(found - exact) <= 1e3 * np.finfo(found.dtype).eps * np.abs(exact)
            same = (found == exact) | (np.isnan(found) & np.isnan(exact))
            return bool(np.all(~one.wrong(found) | (~np.isfinite(one.value) & (near | same))))
