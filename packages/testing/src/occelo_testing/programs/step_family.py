"""`StepFamily`: steps of random programs that use a family of ops, such as linear algebra.

The generator names no family. `generating.random_program` takes the families whose steps it adds to those of the core.
`occelo_testing.family_steps` defines them.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import ModuleType
from typing import Any

from occelo_testing.programs import numpy_names, program
from occelo_testing.programs.drawing import Form


@dataclass(frozen=True)
class StepFamily:
    """Steps of programs, and the names that their source text uses. Making a family registers these names.

    ``forms`` and ``smooth_forms`` are lists of steps with weights, as in `elementwise`; ``smooth_forms`` are the
    differentiable ones. ``symbolic_names`` are names in the expressions for Occelo. ``helpers`` are functions, and
    ``modules`` are modules, in the expressions for NumPy. ``imports`` maps a name to the line of source that imports
    it for a user.
    """

    name: str
    forms: Sequence[tuple[float, Form]]
    smooth_forms: Sequence[tuple[float, Form]]
    symbolic_names: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())
    helpers: Sequence[Callable[..., Any]] = ()
    modules: Mapping[str, Any] = field(default_factory=lambda: dict[str, Any]())
    imports: Mapping[str, str] = field(default_factory=lambda: dict[str, str]())

    def __post_init__(self) -> None:
        program.SYMBOLIC_NAMES.update(self.symbolic_names)
        numpy_names.register_names(self.helpers, self.modules, self.imports)


def in_family(numpy: str, name: str, functions: ModuleType) -> str:
    """The expression for Occelo: functions of NumPy that the module has are read from ``name``, others from ``ot``."""
    return re.sub(
        r"\bnp\.(\w+)",
        lambda found: f"{name if hasattr(functions, found[1]) else 'ot'}.{found[1]}",
        numpy,
    )
