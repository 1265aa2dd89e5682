"""Finds the replacement that made a compiled function wrong, by binary search.

Users call `bisect` when the results of a function differ from those of the interpreter.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from occelo_compile.calling import Function
from occelo_graph.config import config
from occelo_graph.errors import explained_by
from occelo_graph.ir.graph_like import inspected
from occelo_rewrite import Application


@dataclass(frozen=True)
class Culprit:
    """The result of `bisect`: the first replacement after which results are wrong.

    ``application`` is this replacement and ``number`` its position among all replacements. ``compilations`` is the
    number of times that the search compiled the function. TypeError if a field is missing.
    """

    application: Application
    number: int
    compilations: int

    def __str__(self) -> str:
        a = self.application
        source = f", from {a.source}" if a.source else ""
        return (
            f"Replacement {self.number + 1} is the first after which results are wrong: "
            f"{a.rule} ({a.stage}) replaces {a.before} with {a.after}{source}"
        )


@explained_by("calls")
def bisect(function: Function, oracle: Callable[[Function], bool]) -> Culprit:
    """Find the first replacement after which a compiled function returns wrong results.

    ``oracle`` gets a function, calls it, and returns whether its results are right. The function is compiled again with
    only the first k replacements, for at most ``log2(n) + 2`` values of k if there are n replacements. All these
    functions use the same shared variables. So an oracle that calls functions with updates should set the
    values of these variables first.

    Raises ValueError if results are right after all replacements, or if they are wrong without any replacement.
    """
    function = inspected(function)
    applications = function.maker.rewritten.record.applications
    if oracle(function):
        raise ValueError("The oracle finds nothing wrong with the function")
    count = 1
    if not oracle(_compiled(function, 0)):
        raise ValueError("Results are wrong before any replacement, so no rule is to blame")
    right, wrong = 0, len(applications)
    while wrong - right > 1:
        middle = (right + wrong) // 2
        count += 1
        if oracle(_compiled(function, middle)):
            right = middle
        else:
            wrong = middle
    return Culprit(applications[wrong - 1], wrong - 1, count)


def _compiled(function: Function, limit: int) -> Function:
    """Compile the function again, with only the first ``limit`` replacements."""
    old = function.maker
    with config.change_flags(optdb__max_applications=limit, cache=False):
        maker = type(old)(
            old.inputs,
            old.outputs,
            old.mode,
            old.accept_inplace,
            old.output_keys,
            old.unpack_single,
            old.return_none,
            old.name,
        )
        return maker.create()
