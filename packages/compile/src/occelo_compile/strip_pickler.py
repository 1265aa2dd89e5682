"""A pickler that leaves out what a reproduction of a compilation does not need."""

from __future__ import annotations

import pickle
from collections.abc import Sequence
from typing import Any

from occelo_graph import Variable

__all__ = ["StripPickler"]


class StripPickler(pickle.Pickler):
    """Takes the named tags of variables out as it meets them."""

    def __init__(self, stream: Any, tags: Sequence[str]) -> None:
        super().__init__(stream, protocol=-1)
        self.tags = frozenset((*tags, "trace"))

    def reducer_override(self, obj: Any) -> Any:
        if isinstance(obj, Variable):
            for tag in self.tags & vars(obj.tag).keys():
                delattr(obj.tag, tag)
        return NotImplemented
