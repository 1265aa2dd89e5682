"""`evaluated`: evaluates what `pprint` has printed, for tests that compare it with the graph."""

from __future__ import annotations

import builtins
import importlib
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.families import installed
from occelo_graph.ir.op import Op
from occelo_graph.ir.types import Type
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.elemwise.scalar import ScalarFunction


def _subclasses(cls: type[Any]) -> Iterator[type[Any]]:
    for each in cls.__subclasses__():
        yield from (each, *_subclasses(each))


def formula_names() -> dict[str, Any]:
    """The names that the docstring of `pprint` says, of the families that are loaded."""
    names: dict[str, Any] = {
        c.__name__: c for root in (Op, Type) for c in (root, *_subclasses(root))
    }
    names |= {name: Elemwise(row) for name, row in ScalarFunction.table().items()}
    names |= {"np": np, "LinAlgError": np.linalg.LinAlgError}
    for family in installed():
        functions = f"{family.package}.functions"
        if family.name == "linalg":
            names["linalg"] = importlib.import_module(functions)
        elif family.name in ("sorting", "special"):
            names |= vars(importlib.import_module(functions))
        elif family.name == "loops":
            module = importlib.import_module(f"{family.package}.ops.building.loops")
            names["loop"] = module.loop
    return names | {name: getattr(ot, name) for name in dir(ot) if name[0].islower()}


def evaluated(text: str, inputs: Mapping[str, Any]) -> Any:
    """The variable of the last line of ``text``, after the statements above it."""
    *above, last = text.split("\n")
    space = {**vars(builtins), **formula_names(), **inputs}
    exec("\n".join(above), space)
    return eval(last, space)


def same_values(printed: Any, text: str, inputs: Mapping[str, Any], values: Any) -> None:
    """AssertionError unless ``text`` has the dtype and the values of ``printed``, for ``values`` of the inputs."""
    again = evaluated(text, inputs)
    assert again.type.dtype == printed.type.dtype, text
    with np.errstate(all="ignore"):
        expected, actual = og.evaluate([printed, again], values)
    np.testing.assert_array_equal(actual, expected, err_msg=text)
