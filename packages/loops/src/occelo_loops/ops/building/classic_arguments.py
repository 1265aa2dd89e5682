"""Functions that read the arguments of `scan` for `looping.classic`: sequences, outputs with taps, number of steps."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import numpy as np

from occelo_graph.errors import describe
from occelo_graph.ir.nodes import Variable
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.elemwise.arithmetic import minimum
from occelo_graph.ops.shape.reading import shape_i
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_loops.ops.building.bodies import number_of_steps
from occelo_loops.ops.building.carried import is_number


@dataclass
class ScanSequence:
    """A sequence of a `scan`, with ``taps``, the offsets at which each step reads it."""

    variable: Any
    taps: list[int]

    def slices(self, backwards: bool) -> list[Any]:
        """For each tap, a tensor with the elements that steps 0, 1, ... read."""
        low, high = min(0, *self.taps), max(0, *self.taps)
        slices: list[Any] = []
        for tap in self.taps:
            start, end = tap - low, tap - high
            part = self.variable
            if start or end:
                part = part[start or None : end or None]
            slices.append(part[::-1] if backwards else part)
        return slices


@dataclass
class ScanOutput:
    """An output of a `scan`. If it has an ``initial`` value, steps read its earlier values at the offsets ``taps``."""

    initial: Any = None
    taps: list[int] = field(default_factory=lambda: list[int]())

    @property
    def depth(self) -> int:
        """The number of earlier values that the loop must carry."""
        return -min(self.taps, default=0)

    def window(self) -> list[Any]:
        """The earlier values before the first step, the oldest first."""
        if self.initial is None:
            return []
        if self.taps == [-1]:
            return [self.initial]
        if is_list_or_tuple(self.initial):
            return list(self.initial)
        return [self.initial[i] for i in range(self.depth)]

    def read(self, window: Sequence[Any]) -> list[Any]:
        """The values that a step reads. ``window`` has the earlier values before the step, the oldest first."""
        return [window[tap + self.depth] for tap in self.taps]


def listed(value: Any) -> list[Any]:
    """Convert an argument to a list: None to an empty list, and a single value to a list of one element."""
    if value is None:
        return []
    return list(value) if is_list_or_tuple(value) else [value]


def _taps(value: Any, default: list[int], what: str) -> list[int]:
    if value is None:
        return default
    taps = [int(t) for t in (value if is_list_or_tuple(value) else [value])]
    if not taps or len(set(taps)) != len(taps):
        raise ValueError(f"The taps of {what} must be different integers, got {value!r}")
    return taps


def read_sequences(value: Any) -> list[ScanSequence]:
    """Read the argument ``sequences`` of `scan`. TypeError or ValueError if it is not valid."""
    sequences: list[ScanSequence] = []
    for i, each in enumerate(listed(value)):
        taps = [0]
        if isinstance(each, Mapping):
            options = dict(cast("Mapping[str, Any]", each))
            each = options.pop("input", None)
            taps = _taps(options.pop("taps", None), [0], f"sequence {i}")
            _refuse(options, f"sequence {i}", "input and taps")
        if each is None:
            raise ValueError(f"Sequence {i} of scan has no input")
        variable = as_tensor_variable(each)
        if not variable.type.ndim:
            raise TypeError(
                f"Sequence {i} of scan must have a first axis, and is a scalar: {describe(variable)}"
            )
        sequences.append(ScanSequence(variable, taps))
    return sequences


def read_outputs(value: Any) -> list[ScanOutput]:
    """Read the argument ``outputs_info`` of `scan`. ValueError if taps and initial values contradict each other."""
    outputs: list[ScanOutput] = []
    for i, each in enumerate(listed(value)):
        what = f"outputs_info {i}"
        if each is None:
            outputs.append(ScanOutput())
            continue
        taps = [-1]
        if isinstance(each, Mapping):
            options = dict(cast("Mapping[str, Any]", each))
            each = options.pop("initial", None)
            own_taps = options.pop("taps", None)
            _refuse(options, what, "initial and taps")
            if each is None:
                if own_taps is not None:
                    raise ValueError(f"{what} of scan has taps, and no initial value")
                outputs.append(ScanOutput())
                continue
            taps = _taps(own_taps, [-1], what)
            if max(taps) >= 0:
                raise ValueError(
                    f"The taps of {what} must be negative, since later values are not known yet; got {taps}"
                )
        outputs.append(ScanOutput(_initial(each, taps, what), taps))
    return outputs


def _initial(value: Any, taps: list[int], what: str) -> Any:
    """The initial value of an output, as a variable. A Python number stays a number, since it gets its dtype later."""
    if is_number(value) and taps == [-1]:
        return value
    depth = -min(taps)
    numbers = is_list_or_tuple(value) and len(value) >= depth and all(map(is_number, value))
    if numbers and taps != [-1]:
        return value[:depth]
    initial: Any = value if isinstance(value, Variable) else as_tensor_variable(value)
    if taps == [-1]:
        return initial
    needed = f"its initial value needs a first axis with the {depth} values before the first step"
    if not initial.type.ndim:
        raise ValueError(
            f"{what} of scan has the taps {taps}: {needed}, and is a scalar: {describe(initial)}"
        )
    length = initial.type.shape[0]
    if length is not None and length < depth:
        raise ValueError(
            f"{what} of scan has the taps {taps}: {needed}, and has {length}: {describe(initial)}"
        )
    return initial


def _refuse(options: Mapping[str, Any], what: str, keys: str) -> None:
    if options:
        raise ValueError(f"{what} of scan has the unknown keys {sorted(options)}; known are {keys}")


def steps_of(sequences: Sequence[ScanSequence], n_steps: Any) -> Any:
    """The number of steps: ``n_steps``, or if it is None, the largest number for which no sequence is too short."""
    if n_steps is not None:
        if isinstance(n_steps, float | np.floating):
            raise TypeError(f"n_steps must be an integer, got {n_steps!r}")
        steps = number_of_steps(n_steps)
        if isinstance(n_steps, int) and n_steps < 0:
            raise ValueError(f"n_steps is {n_steps}, and cannot be negative")
        return steps
    if not sequences:
        raise ValueError("scan needs sequences or n_steps, to know how many steps to take")
    lengths = [shape_i(part, 0) for s in sequences for part in s.slices(False)]
    least = lengths[0]
    for other in lengths[1:]:
        least = minimum(least, other)
    return least
