"""Steps of random programs (`occelo_testing.programs`) that use the families of ops.

Each module defines one `StepFamily`, named ``STEPS``. `step_families` imports modules by name. The tests of the
families and the command ``python -m occelo_testing.random_programs`` pass the families to the generator.
"""

from __future__ import annotations

import importlib
import pkgutil
from collections.abc import Iterable

from occelo_testing.programs.step_family import StepFamily


def all_names() -> list[str]:
    """The names of the modules in this package."""
    return sorted(module.name for module in pkgutil.iter_modules(__path__))


def step_families(names: Iterable[str] | None = None) -> list[StepFamily]:
    """The families of steps that the given modules define; by default all."""
    chosen = all_names() if names is None else names
    return [importlib.import_module(f"{__name__}.{name}").STEPS for name in chosen]
