"""`written_loop`: writes a loop as a call of `loop`, for printed formulas (`pprint`).

The printer has defined a function that computes the body. The step of the call makes the pair of the new state and the
kept values from its results.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from occelo_graph.ir.terms import Term, called


def written_loop(
    body: str,
    steps: str,
    carried: Sequence[str],
    sequences: Sequence[str],
    constants: Sequence[str],
    traces: int,
    *,
    stops: bool = False,
    reverse: bool = False,
) -> Term:
    """A call of `loop` with the values of a loop, such as ``loop(lambda s, x: f0(s, x, y), y, v, length=n)``.

    ``body`` is the name of a function, whose results are the new carried values, the elements of traces, and with
    ``stops`` the condition; the other texts are the inputs of a node. With ``stops``, the state also has the condition,
    which the function ``until`` reads, and the number of steps that ran.
    """
    count = len(carried)
    state, element, results = _new_names(["s", "x", "r"], [body, *constants])
    own = [] if not count else [state if count == 1 else f"*{state}"]
    if stops and count:
        own = [f"{state}[0]" if count == 1 else f"*{state}[:{count}]"]
    read = [] if not sequences else [element if len(sequences) == 1 else f"*{element}"]
    call = f"{body}({', '.join([*own, *read, *constants])})"
    if stops:
        traced = _part(results, count, traces)
        new = f"({results} := {call})[0]" if count == 1 else f"*({results} := {call})[:{count}]"
        pair = f"({new}, {results}[-1], {state}[-1] + 1), {traced}"
    elif not count:
        pair = f"None, {call}"
    elif not traces:
        pair = f"{call}, None"
    elif count == traces == 1:
        pair = call
    else:
        new = f"({results} := {call})[{'0' if count == 1 else f':{count}'}]"
        pair = f"{new}, {_part(results, count, traces)}"
    step = f"lambda {', '.join([state, element] if sequences else [state])}: "
    step += pair if pair == call else f"({pair})"
    first = [*carried, "constant(False)", "constant(0)"] if stops else list(carried)
    arguments = [step, _together(first), *([_together(sequences)] if sequences else [])]
    arguments.append(f"length={steps}")
    if stops:
        arguments.append(f"until=lambda {state}: {state}[-2]")
    term = called("loop", *arguments, reverse=True if reverse else None)
    finals = [f"[0][{i}]" if len(first) > 1 else "[0]" for i in range(len(first))]
    stacked = [f"[1][{i}]" if traces > 1 else "[1]" for i in range(traces)]
    if stops:
        return term._replace(parts=(*finals[:count], *stacked, finals[-1]))
    return term._replace(parts=(*finals, *stacked))


def _part(results: str, first: int, count: int) -> str:
    """The elements of traces among the results of a step, as the step keeps them."""
    if count < 2:
        return f"{results}[{first}]" if count else "None"
    return f"{results}[{first}:{first + count}]"


def _together(texts: Sequence[str]) -> str:
    """Several values as a tuple, one value as itself, and None for no value."""
    if len(texts) < 2:
        return texts[0] if texts else "None"
    return f"({', '.join(texts)})"


def _new_names(chosen: Sequence[str], texts: Sequence[str]) -> list[str]:
    """The names ``chosen``, with underscores added to those that ``texts`` use."""
    used = {name for text in texts for name in re.findall(r"\w+", text)}
    names: list[str] = []
    for name in chosen:
        while name in used:
            name += "_"
        names.append(name)
    return names
