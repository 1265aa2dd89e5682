"""Finds the graph that a command names. ``explain`` and ``backends`` take such names."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import occelo
from occelo_graph.narrowing import is_list_or_tuple


def graph_outputs(name: str) -> list[Any]:
    """Return the outputs of a graph.

    ``name`` is the name of a file with a saved graph, or ``MODULE:NAME`` or ``FILE.py:NAME`` for a variable, a list of
    variables or a compiled function in a module.
    """
    if Path(name).exists():
        return list(occelo.load(name).outputs)
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(
            f"There is no file {name!r}; a variable in a module is MODULE:NAME or FILE.py:NAME"
        )
    file = Path(module)
    if file.suffix == ".py" and not file.exists():
        raise ValueError(f"There is no file {module!r}")
    sys.path.insert(0, str(file.parent.resolve()))
    value: Any = getattr(importlib.import_module(file.name.removesuffix(".py")), attribute)
    if isinstance(value, occelo.Function):
        return list(value.maker.rewritten.before.outputs)
    listed: list[Any] = list(value) if is_list_or_tuple(value) else [value]
    if not all(isinstance(each, occelo.Variable) for each in listed):
        raise ValueError(
            f"{name} is no variable, no list of variables and no compiled function: {value!r}"
        )
    return listed
