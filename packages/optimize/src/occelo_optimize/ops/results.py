"""`OptimizeResult`: what the functions of this family return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from occelo_graph.errors import explained
from occelo_graph.ir import trees

__all__ = ["OptimizeResult"]


class OptimizeResult(tuple[Any, Any]):
    """A pair of the solution and whether it was found, as PyTensor returns it, with the attributes of SciPy's results.

    TypeError if ``x`` or ``success`` is missing.

    All of them are variables. ``solution, success = minimize(cost, x)`` takes it apart.

    - ``x``, also ``root``: the solution, a tree like the start. ``success``, also ``converged``: a bool.
    - ``nit``, also ``iterations``: the number of iterations, int64. SciPy's solvers of equations count evaluations.
    - ``fun``: the value of the function at the solution.
    - Further ones are in the docstring of the function that returns the result.

    A result is a tree, so a compiled function may have it as its output, and returns a result of arrays.
    """

    def __new__(cls, x: Any, success: Any, **others: Any) -> OptimizeResult:
        result = super().__new__(cls, (x, success))
        vars(result).update(others)
        return result

    def __getnewargs_ex__(self) -> tuple[tuple[Any, Any], dict[str, Any]]:
        return (self[0], self[1]), vars(self)

    @property
    def x(self) -> Any:
        """The solution."""
        return self[0]

    @property
    def success(self) -> Any:
        """Whether the solution was found."""
        return self[1]

    root = x
    converged = success

    @property
    def iterations(self) -> Any:
        """The number of iterations."""
        return self.nit

    def __getattr__(self, name: str) -> Any:
        have = ", ".join(["x", "success", *sorted(vars(self))])
        raise explained(AttributeError(f"The result has {have}, and no {name}", name=name), "names")

    def __repr__(self) -> str:
        parts = {"x": self[0], "success": self[1], **vars(self)}
        return f"OptimizeResult({', '.join(f'{k}={v}' for k, v in parts.items())})"


def _take_apart(result: OptimizeResult) -> tuple[list[Any], tuple[str, ...]]:
    names = tuple(
        n for n in vars(result) if n != "sol"
    )  # a function, which no compiled function returns
    return [*result, *(vars(result)[n] for n in names)], names


def _rebuild(names: tuple[str, ...], parts: Sequence[Any]) -> OptimizeResult:
    x, success, *others = parts
    return OptimizeResult(x, success, **dict(zip(names, others, strict=True)))


trees.register(OptimizeResult, _take_apart, _rebuild)
