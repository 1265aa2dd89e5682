"""The user's line that made a node of a PyTensor graph, as Occelo's provenance."""

from __future__ import annotations

import os
import sysconfig
from typing import Any

import pytensor

from occelo_graph.provenance import Source, register_internal

_LIBRARIES = ("pytensor", "pymc", "pymc_extras", "occelo_pytensor")


_STANDARD = sysconfig.get_path("stdlib") + os.sep


def _is_of_library(filename: str) -> bool:
    if filename.startswith(_STANDARD) and "site-packages" not in filename:
        return True  # functools calls PyMC's functions by the type of their argument
    parts = filename.replace(os.sep, "/").split("/")
    return any(name in parts[:-1] for name in _LIBRARIES) and "site-packages" in parts


def source_of(node: Any) -> Source | None:
    """The innermost line outside of PyTensor and PyMC that made the outputs of ``node``. None if it was not recorded."""
    for variable in node.outputs:
        for stack in reversed(getattr(variable.tag, "trace", None) or ()):
            for filename, line, function, _ in reversed(stack):
                if not _is_of_library(filename):
                    return Source(filename, line, function)
    return None


register_internal(os.path.dirname(pytensor.__file__))
