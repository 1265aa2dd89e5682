"""Pickles the arguments of `function`, without some notes about variables and nodes.

The notes are attributes of `Variable.tag` and `Apply.tag`. `dumping` uses `StripPickler` to write files of
`function_dump` in the format "pickle".
"""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from types import SimpleNamespace
from typing import Any

from occelo_graph import Variable
from occelo_graph.ir.pickling import NodeTable


class StripPickler(pickle.Pickler):
    """Pickles graphs, and leaves out some attributes of `Variable.tag` and `Apply.tag`.

    They are the attributes named in ``extra_tag_to_remove``, and ``trace``. Occelo never sets ``trace``, but other
    libraries keep the user's traceback there. The graphs in memory are not changed.
    """

    def __init__(self, stream: Any, extra_tag_to_remove: Sequence[str] = ()) -> None:
        super().__init__(stream, protocol=-1)
        self.tags = frozenset((*extra_tag_to_remove, "trace"))
        self._kept: list[Any] = []
        self._first: tuple[dict[str, Any], NodeTable] | None = None

    def dump_arguments(self, arguments: dict[str, Any], variables: Sequence[Variable]) -> None:
        """Pickle a dict, with one table of all nodes of the graphs in it. Loading the pickle returns the dict."""
        self._first = (arguments, NodeTable.of(variables))
        self.dump(_Arguments())

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, _Arguments):
            assert self._first is not None
            arguments, table = self._first
            return _second, (table, arguments)
        if isinstance(obj, SimpleNamespace) and self.tags & vars(obj).keys():
            stripped = SimpleNamespace(**{k: v for k, v in vars(obj).items() if k not in self.tags})
            self._kept.append(
                stripped
            )  # keeps the object alive: pickle identifies objects by address
            return stripped.__reduce__()
        return NotImplemented


class _Arguments:
    """A placeholder for the dict of arguments.

    `StripPickler.reducer_override` replaces the placeholder by a call of `_second` with the table of nodes and the
    dict.
    """


def _second(table: NodeTable, arguments: dict[str, Any]) -> dict[str, Any]:
    return arguments
