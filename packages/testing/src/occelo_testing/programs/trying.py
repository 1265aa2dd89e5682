"""`on_random_graphs`: a decorator for tests that must hold for every graph.

Tests of every layer use it. A failing graph is shrunk (`shrinking`) and printed (`listing`).
"""

from __future__ import annotations

import functools
import inspect
import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from occelo_testing.programs.generating import GRAPHS, random_program
from occelo_testing.programs.listing import listing
from occelo_testing.programs.program import Program
from occelo_testing.programs.shrinking import shrunk


@dataclass(frozen=True)
class RandomGraph:
    """The graph of a random program: its inputs, its outputs, and values for the inputs."""

    inputs: list[Any]
    outputs: list[Any]
    values: list[Any]

    def given(self) -> dict[Any, Any]:
        """A dict from inputs to their values."""
        return dict(zip(self.inputs, self.values, strict=True))


def on_random_graphs(
    dtypes: tuple[str, ...] = ("float64",),
    most: int = 12,
    count: int = 60,
    thorough: int = 2000,
    static: bool = False,
) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """Run a test for graphs of at most ``most`` steps, with inputs of ``dtypes``. The test has a parameter ``graph``.

    There are ``count`` graphs, or ``thorough`` if HYPOTHESIS_PROFILE says so. With ``static`` all lengths are static. Raises AssertionError with the smallest
    program for which the test fails.
    """
    profile = replace(GRAPHS, dtypes=dtypes, steps=(1, most))
    if os.environ.get("HYPOTHESIS_PROFILE") == "thorough":
        count = thorough

    def decorate(test: Callable[..., None]) -> Callable[..., None]:
        def run(program: Program, arguments: dict[str, Any]) -> None:
            test(graph=RandomGraph(*program.build(), program.values()), **arguments)

        @functools.wraps(test)
        def on_each(**arguments: Any) -> None:
            for seed in range(count):
                program = random_program(seed, profile)
                if static:
                    program = program.with_static_lengths()
                try:
                    run(program, arguments)
                except Exception as error:
                    kind = type(error)

                    def fails(candidate: Program, kind: type[Exception] = kind) -> bool:
                        try:
                            run(candidate, arguments)
                        except Exception as another:
                            return isinstance(another, kind)
                        return False

                    raise AssertionError(listing(shrunk(program, fails), str(error))) from error

        signature = inspect.signature(test)
        others = [p for name, p in signature.parameters.items() if name != "graph"]
        # pytest passes the other parameters as fixtures
        vars(on_each)["__signature__"] = signature.replace(parameters=others)
        return on_each

    return decorate
