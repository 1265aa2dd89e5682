"""`OptimizeResult`: what the functions of this family return."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.errors import explained
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_optimize.ops.methods.iterating import TEXT, Found

__all__ = ["OptimizeResult"]


class OptimizeResult(tuple[Any, Any]):
    """A pair of the solution and whether it was found, as PyTensor returns it, with the attributes of SciPy's results.

    TypeError if ``x`` or ``success`` is missing.

    All of them are variables. ``solution, success = minimize(cost, x)`` takes it apart. ``who`` is the function that made it.

    - ``x``, also ``root``: the solution, a tree like the start. ``success``, also ``converged``: a bool.
    - ``nit``, also ``iterations``: the number of iterations, int64. SciPy's solvers of equations count evaluations.
    - ``fun``: the value of the function at the solution.
    - ``nfev``: at how many points the function was computed; ``njev``: at how many its derivatives were. Loops compute
      the gradient of `minimize` with each value. ``function_calls`` counts as SciPy's does: "newton" of `root_scalar` calls the function and its derivative.
    - ``status``: why the search ended, the numbers of SciPy's function: 0 for `minimize` and the functions of one number, 1 for `root`, and
      1 or more for `least_squares` if the solution was found.
    - ``message``: the same as a text, of SciPy's methods SciPy's; ``flag``: "converged" or "convergence error". They are there when a compiled
      function has returned the result; AttributeError before.
    - Further ones are in the docstring of the function that returns the result.

    A result is a tree, so a compiled function may have it as its output, and returns a result of arrays.
    """

    _who: str

    def __new__(cls, x: Any, success: Any, who: str = "", **others: Any) -> OptimizeResult:
        result = super().__new__(cls, (x, success))
        vars(result).update(others, _who=who)
        return result

    def __getnewargs_ex__(self) -> tuple[tuple[Any, Any, str], dict[str, Any]]:
        return (*self, self._who), _others(self)

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

    @property
    def function_calls(self) -> Any:
        """How often the function and its derivatives were computed."""
        return vars(self).get("function_calls", self.nfev)

    @property
    def message(self) -> Any:
        """Why the search ended: a text, or for a batch a list of texts."""
        if isinstance(self.status, Variable):
            raise AttributeError("message")  # so Python asks `__getattr__`
        if TEXT in vars(self):
            return _decoded(vars(self)[TEXT])
        return _texts(self._who, self.status, self.success)

    @property
    def flag(self) -> Any:
        """Whether the search converged, as a text of SciPy's `root_scalar`; for a batch a list of texts."""
        if TEXT in vars(self) or isinstance(self.status, Variable):
            return self.message
        flags = np.where(self.success, "converged", "convergence error")
        return flags.tolist()

    def __getattr__(self, name: str) -> Any:
        have = ", ".join(["x", "success", *sorted(_shown(self))])
        told = f"The result has {have}, and no {name}"
        if name in ("message", "flag") and "status" in vars(self):
            told = f"The {name} is a text, which is there when a compiled function has returned the result; status is a variable"
        raise explained(AttributeError(told, name=name), "names")

    def __repr__(self) -> str:
        parts = {"x": self[0], "success": self[1], **_shown(self)}
        return f"OptimizeResult({', '.join(f'{k}={v}' for k, v in parts.items())})"


_ENDS = {
    "root": {2: 1, 5: 2},
    "least_squares": {0: 1},
    "solve_ivp": {1: 3, -1: 4},
}
"""Which text a status of a function has, where it is not that of the same number."""
_TEXTS = (
    "The solution was found.",
    "The search ended after the most iterations that were allowed.",
    "The search ended where no step made it better.",
    "An event ended the solution.",
    "The solution did not reach the last time.",
)
_TOLERANCES = {1: "gtol", 2: "ftol", 3: "xtol", 4: "ftol and xtol"}


def _texts(who: str, status: Any, success: Any) -> Any:
    if np.ndim(status):
        return [_texts(who, *each) for each in zip(status, success, strict=True)]
    number = int(status)
    if who == "least_squares" and success:
        return f"The solution was found: the tolerance {_TOLERANCES[number]} is reached."
    if success and who != "solve_ivp":
        return _TEXTS[0]
    return _TEXTS[_ENDS.get(who, {}).get(number, number)]


def _decoded(text: Any) -> Any:
    """A text of bytes with zeros after it, or for a batch a list of texts."""
    if text.ndim > 1:
        return [_decoded(row) for row in text]
    return text.tobytes().rstrip(b"\0").decode(errors="ignore")


def result_of(who: str, x: Any, found: Found, **others: Any) -> OptimizeResult:
    """The result of the function ``who``, with the numbers of its method. ``x`` is a tree of the solution."""
    numbers = {name: getattr(found, name) for name in ("nit", "nfev", "njev", "status")}
    return OptimizeResult(x, found.success, who, **others, **numbers, **found.others)


def _others(result: OptimizeResult) -> dict[str, Any]:
    """The attributes beside the solution and whether it was found."""
    return {name: value for name, value in vars(result).items() if name != "_who"}


def _shown(result: OptimizeResult) -> dict[str, Any]:
    """The attributes for users, who read the bytes of a text as ``message``."""
    return {name: value for name, value in _others(result).items() if name != TEXT}


def _take_apart(result: OptimizeResult) -> tuple[list[Any], tuple[str, ...]]:
    # `sol` is a function, which no compiled function returns
    others = {name: value for name, value in _others(result).items() if name != "sol"}
    return [*result, *others.values()], (vars(result)["_who"], *others)


def _rebuild(names: tuple[str, ...], parts: Sequence[Any]) -> OptimizeResult:
    x, success, *others = parts
    return OptimizeResult(x, success, names[0], **dict(zip(names[1:], others, strict=True)))


trees.register(OptimizeResult, _take_apart, _rebuild)
