"""`wrap_py`: a decorator that makes an op of a Python function of arrays.

Users call it from `occelo`, where it is also named `as_op`. It is the shortest way to add an op without derivatives.
"""

from __future__ import annotations

import pickle
import sys
from collections.abc import Callable, Sequence
from typing import Any

from occelo_graph.errors import explained_by
from occelo_graph.ir.nodes import Apply
from occelo_graph.ir.op import Op
from occelo_graph.ir.types import Type
from occelo_graph.ir.user_ops import call_shape_rule, declared_types, results_of


class FromFunctionOp(Op):
    """An op that calls a Python function. `wrap_py` makes it."""

    def __init__(
        self,
        fn: Callable[..., Any],
        itypes: Sequence[Type],
        otypes: Sequence[Type],
        infer_shape: Callable[..., Any] | None = None,
    ) -> None:
        self.fn = fn
        self.itypes = tuple(itypes)
        self.otypes = tuple(otypes)
        self.shape_function = infer_shape
        self.__name__ = getattr(fn, "__name__", "function")
        self.__qualname__ = getattr(fn, "__qualname__", self.__name__)
        self.__doc__ = fn.__doc__

    @property
    def external_code(self) -> bool:
        return True

    def evaluate(self, *arrays: Any) -> Any:
        assert self.otypes is not None
        who = f"the wrapped function {self.__name__}"
        return results_of(self.fn(*arrays), self.otypes, who, convert=True)

    def infer_shape(self, node: Apply, input_shapes: Sequence[Any]) -> Sequence[Any]:
        if self.shape_function is None:
            return super().infer_shape(node, input_shapes)
        return call_shape_rule(self.shape_function, node, input_shapes)

    def __reduce__(self) -> tuple[Any, ...]:
        module = self.fn.__module__
        if _found(module, self.__qualname__) is None:
            raise pickle.PicklingError(
                f"A wrapped function is pickled by its name, and {module}.{self.__qualname__} is not it"
            )
        return _load, (module, self.__qualname__)

    def __str__(self) -> str:
        return f"{type(self).__name__}{{{self.__name__}}}"


def _found(module: str, name: str) -> Any:
    target: Any = sys.modules.get(module)
    for part in name.split("."):
        target = getattr(target, part, None)
    return target


def _load(module: str, name: str) -> Any:
    import importlib

    importlib.import_module(module)
    return _found(module, name)


@explained_by("arguments")
def wrap_py(
    itypes: Any, otypes: Any = None, infer_shape: Callable[..., Any] | None = None
) -> Callable[[Callable[..., Any]], FromFunctionOp]:
    """Decorator that makes an op of a function of arrays: ``@wrap_py([dvector], [dscalar])``.

    ``itypes`` and ``otypes`` are the types of the inputs and outputs: a type or a list of types. A constructor of
    variables such as ``dvector`` may replace a type. The function gets an array for each input, and returns an array
    for each output, which must fit the output's type. The op has no gradient.

    ``infer_shape(node, input_shapes)``, or ``infer_shape(fgraph, node, input_shapes)``, returns the output shapes
    without running the function. The op is pickled as the module and the name of the function, so the op must be found
    in the module under this name. TypeError if ``otypes`` is missing, or if ``infer_shape`` is not a function.
    """
    if otypes is None:
        raise TypeError(
            "A function becomes an op by the types of its inputs and outputs: @wrap_py([dvector], [dscalar])"
        )
    inputs = declared_types(itypes, "The itypes of a wrapped function")
    outputs = declared_types(otypes, "The otypes of a wrapped function")
    if infer_shape is not None and not callable(infer_shape):
        raise TypeError("infer_shape must be a function")

    def wrap(fn: Callable[..., Any]) -> FromFunctionOp:
        return FromFunctionOp(fn, inputs, outputs, infer_shape)

    return wrap


as_op = wrap_py
