"""Types whose `parts` are no types of tensors: the message names the type and what it gave."""

from __future__ import annotations

from typing import Any

import pytest

from occelo_graph import Type
from occelo_graph.ir.types import generic
from occelo_graph.tensors.type import TensorType


class Inner(Type):
    """A type with one array."""

    def filter(self, data: Any, strict: bool = False, allow_downcast: bool | None = None) -> Any:
        return data

    def parts(self) -> Any:
        return (TensorType("float64", (None,)),)

    def to_parts(self, value: Any) -> Any:
        return (value,)


@pytest.mark.parametrize("kind", [None, generic, Inner()], ids=["None", "generic", "own"])
def test_what_is_no_type_of_tensors_is_refused_by_name(kind: Any) -> None:
    class Outer(Inner):
        def parts(self) -> Any:
            return (kind,)

    with pytest.raises(TypeError, match=r"parts of Outer.* must give types of tensors, and gave "):
        Outer().make_constant([1.0])
