"""Examples of elementwise functions, made of a table: each function with several dtypes and shapes."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from occelo_graph.examples.example import Domain, Example, draw

if TYPE_CHECKING:
    from occelo_graph.tensors.signatures import ArrayFunction

REAL = (-2.5, 2.5)
POSITIVE = (0.3, 3.0)
UNIT = (0.1, 0.9)
INSIDE = (-0.9, 0.9)
ABOVE_ONE = (1.2, 4.0)
NEGATIVE = (-3.0, -0.2)

_SHAPES: dict[int, list[list[tuple[int, ...]]]] = {
    1: [[(2, 3)], [()], [(0, 3)], [(2, 1, 2, 1, 2)]],
    2: [[(2, 3), (2, 3)], [(2, 3), (1, 3)], [(3,), (2, 1)], [(), (2,)], [(0, 3), (1, 3)]],
    3: [[(2, 3), (3,), ()], [(2,), (2,), (2,)]],
    4: [[(3,), (), (3,), (1,)]],
}


def of_scipy(name: str) -> Callable[..., Any]:
    """The function of that name in `scipy.special`, which is imported at the first call."""

    def call(*arrays: Any) -> Any:
        return getattr(importlib.import_module("scipy.special"), name)(*arrays)

    return call


def every_argument(nin: int) -> tuple[int, ...]:
    """The positions of all arguments."""
    return tuple(range(nin))


def examples_of_functions(
    functions: Any,
    family: str,
    table: Sequence[tuple[str, ArrayFunction, Sequence[Domain]]],
    dtypes: Sequence[str],
    gradient: Callable[[int], tuple[int, ...]],
) -> list[Example]:
    """Examples of elementwise functions of a namespace, for each dtype and several shapes.

    A row of ``table`` has the name of a function, its reference, and the domains of its arguments. ``gradient`` maps the
    number of arguments to the positions of those for which gradients are tested.
    """
    examples: list[Example] = []
    for name, reference, domains in table:
        function = getattr(functions, name)
        for dtype in dtypes:
            for shapes in _SHAPES[len(domains)]:
                arguments = tuple(
                    draw(d, s, dtype, salt)
                    for salt, (d, s) in enumerate(zip(domains, shapes, strict=True))
                )
                loose = 2e-5 if dtype in ("float32", "complex64") else 1e-9
                everything = tuple(range(len(domains)))
                grads = gradient(len(domains)) if dtype == "float64" else ()
                examples.append(
                    Example(name, family, function, reference, arguments, grads, loose, everything)
                )
    return examples
