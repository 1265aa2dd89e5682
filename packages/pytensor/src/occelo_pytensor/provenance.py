"""The user's line that made a node of a PyTensor graph, as Occelo's provenance."""

from __future__ import annotations

import functools
import importlib.util
import os
import sys
import sysconfig
from collections.abc import Sequence
from typing import Any

from occelo_graph.provenance import Source, register_internal

_LIBRARIES = ("pytensor", "pymc", "pymc_extras", "occelo_pytensor")


_STANDARD = sysconfig.get_path("stdlib") + os.sep


def _is_of_library(filename: str) -> bool:
    if filename.startswith(_STANDARD) and "site-packages" not in filename:
        return True  # functools calls PyMC's functions by the type of their argument
    parts = filename.replace(os.sep, "/").split("/")
    return any(name in parts[:-1] for name in _LIBRARIES) and "site-packages" in parts


def source_of(node: Any, line: Source | None = None) -> Source | None:
    """The innermost line outside of PyTensor and PyMC that made the outputs of ``node``. None if it was not recorded.

    ``line`` is that of the random variable whose log density has the node: it stands for the line that asked for the density.
    """
    for variable in node.outputs:
        for stack in reversed(getattr(variable.tag, "trace", None) or ()):
            for filename, number, function, _ in reversed(stack):
                if line is not None and function == "conditional_logp":
                    return line
                if function != "make_node" and not _is_of_library(filename):
                    return Source(filename, number, function)
    return line


def lines_of_factors(nodes: Sequence[Any]) -> dict[Any, Source]:
    """For nodes in topological order, the lines of the random variables whose log densities they compute.

    The model is that of PyMC's context. PyMC names the factor of each of its value variables.
    """
    model = _model()
    if model is None:
        return {}
    lines = {
        f"{value.name}_logprob": source_of(variable.owner)
        for value, variable in model.values_to_rvs.items()
        if variable.owner is not None
    }
    line_of: dict[Any, Source] = {}
    for node in reversed(nodes):
        named = next((lines[v.name] for v in node.outputs if v.name in lines), None)
        line = named or line_of.get(node)
        if line is None:
            continue
        line_of[node] = line
        for variable in node.inputs:
            if variable.owner is not None:
                line_of.setdefault(variable.owner, line)
    return line_of


def _model() -> Any:
    """The model of PyMC's context. None if there is none, or PyMC is not imported."""
    core = sys.modules.get("pymc.model.core")
    return None if core is None else core.Model.get_context(error_if_none=False)


@functools.cache
def library_folders() -> tuple[str, ...]:
    """Folders of the code that stands between a user's line and a conversion, each with a separator at its end."""
    names = ("occelo", "occelo_compile", *_LIBRARIES)
    specs = [importlib.util.find_spec(name) for name in names]
    origins = [spec.origin for spec in specs if spec is not None and spec.origin is not None]
    return (_STANDARD, *(os.path.dirname(each) + os.sep for each in origins))


for _name in _LIBRARIES[:-1]:
    _spec = importlib.util.find_spec(_name)
    if _spec is not None and _spec.origin is not None:
        register_internal(os.path.dirname(_spec.origin))
