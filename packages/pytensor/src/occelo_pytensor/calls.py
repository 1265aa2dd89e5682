"""Ops of PyTensor that have no conversion: `PyTensorCall`, an op that runs their own Python code.

Draws of random numbers run so, too: their numbers are those of NumPy's generators by construction.
"""

from __future__ import annotations

import base64
import copy
import functools
import pickle
from importlib.metadata import version
from types import FunctionType
from typing import Any

import numpy as np
from pytensor.tensor.type_other import NoneConst

from occelo_graph.extensions import UnknownSource, source_text
from occelo_graph.ir.op import Op, op
from occelo_link.cache.fingerprint import digest_text
from occelo_pytensor import library
from occelo_pytensor.variables import our_type

RELEASED = ("pytensor", "pymc", "pymc_extras")
"""Packages whose version stands for the code of their ops."""


class AnyCall(Op):
    """Runs the Python code of an op of PyTensor. Subclasses say how the op is kept."""

    @property
    def theirs(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        """The op of PyTensor, PyTensor's types of its inputs (a constant stands for itself), and those of its outputs."""
        raise NotImplementedError

    @property
    def external_code(self) -> bool:
        return True

    @property
    def external_derivative(self) -> bool:
        return True

    @functools.cached_property
    def _their_node(self) -> Any:
        op_, inputs, _ = self.theirs
        return op_.make_node(*(v() if hasattr(v, "filter") else v for v in inputs))

    def infer(self, *types: Any, **_: Any) -> Any:
        return tuple(our_type(t) for t in self.theirs[2])

    def evaluate(self, *arrays: Any, **_: Any) -> Any:
        op_, inputs, outputs = self.theirs
        rest = iter(arrays)
        values = [next(rest) if hasattr(v, "filter") else v.data for v in inputs]
        for positions in getattr(op_, "destroy_map", {}).values():
            for i in positions:
                values[i] = copy.deepcopy(values[i])
        cells: list[list[Any]] = [[None] for _ in outputs]
        op_.perform(self._their_node, values, cells)
        return tuple(
            np.asarray(cell[0]) if hasattr(kind, "dtype") else cell[0]
            for cell, kind in zip(cells, outputs, strict=True)
        )

    def pullback(self, inputs: Any, outputs: Any, cotangents: Any) -> Any:
        from occelo_pytensor.conversion import Settings, convert, converting

        node = self._their_node
        variables = [
            v for v, t in zip(node.inputs, self.theirs[1], strict=True) if hasattr(t, "filter")
        ]
        live = [(o, c) for o, c in zip(node.outputs, cotangents, strict=True) if c is not None]
        theirs = [o.type() for o, _ in live]
        floats = [v for v in variables if getattr(v.type, "dtype", "").startswith("float")]
        pulled = library.theirs.gradient.pullback(
            [o for o, _ in live], floats, theirs, disconnected_inputs="ignore"
        )
        memo = {
            **dict(zip(variables, inputs, strict=True)),
            **dict(zip(node.outputs, outputs, strict=True)),
            **{v: c for v, (_, c) in zip(theirs, live, strict=True)},
        }
        with converting(Settings()):
            terms = dict(zip(floats, convert(list(pulled), memo), strict=True))
        return [terms.get(v) for v in variables]


@op
class PyTensorCall(AnyCall):
    """Runs the Python code of an op of PyTensor that can be pickled.

    ``pickled`` is the op with PyTensor's types of inputs and outputs. ``code`` stands for the code of the op: the
    version of its package or the text of its source, and the texts of functions that it holds.
    """

    pickled: str
    code: str
    name: str = "call"
    random: bool = False

    @property
    def theirs(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        return _unpickled(self.pickled, self.code)

    def __str__(self) -> str:
        return f"PyTensorCall{{{self.name}}}"


class LocalCall(AnyCall):
    """Runs the Python code of an op of PyTensor that cannot be pickled.

    It is equal only to itself, so functions with it are not kept in the cache, unless it is of a class of `_local_call`.
    """

    def __init__(self, theirs: tuple[Any, tuple[Any, ...], tuple[Any, ...]]) -> None:
        self._theirs = theirs

    @property
    def theirs(self) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
        return self._theirs

    def __str__(self) -> str:
        return f"LocalCall{{{self._theirs[0]}}}"


def _local_call(theirs: tuple[Any, tuple[Any, ...], tuple[Any, ...]]) -> LocalCall:
    """An op of a class of its own, which is of the user's module, and whose source is that of the user's op and of its values.

    So an entry of the cache has the op's place in the graph, and a function from the cache calls the op that this process
    made. The op is of `LocalCall` itself if something in it has no source.
    """
    user = theirs[0]
    try:
        texts = [source_text(part, f"the op {user}") for part in (theirs, *_functions(user))]
        version = digest_text("\n".join(texts))
    except UnknownSource:
        return LocalCall(theirs)
    fields = {
        "__module__": type(user).__module__,
        "__props__": (),
        "version": version,
        "pullback": AnyCall.pullback,
    }
    return type("LocalCall", (LocalCall,), fields)(theirs)


def _kept(variable: Any, ours: Any) -> Any:
    """The type of an input; for one that Occelo cannot have as an input, a constant.

    In an inner graph, ``variable`` is an input even if it stands for None.
    """
    if ours is None:
        return NoneConst
    return variable if isinstance(ours, slice) else variable.type


@functools.lru_cache(1000)
def _unpickled(text: str, code: str) -> Any:
    """What was pickled. With other code, the same names stand for other functions: ``code`` is only compared."""
    return pickle.loads(base64.b85decode(text))


@functools.lru_cache(1000)
def _code(kind: type) -> str:
    package = _package(kind)
    if package in RELEASED:
        return f"{package} {version(package.replace('_', '-'))}"
    return source_text(kind, f"the op {kind.__qualname__}")


def _functions(user: Any) -> list[Any]:
    """The functions from elsewhere that an op holds, or the class that was made for it."""
    values = [*vars(user.__class__).values(), *vars(user).values()]
    parts: list[Any] = [getattr(v, "__func__", v) for v in values]
    return [p for p in parts if isinstance(p, FunctionType) and _package(p) not in RELEASED]


def _package(part: Any) -> str:
    return str(part.__module__).partition(".")[0]


def _pickled(value: Any) -> str:
    return base64.b85encode(pickle.dumps(value, protocol=4)).decode()


def call_of(node: Any, inputs: list[Any]) -> Any:
    """The outputs of a node that calls the Python code of PyTensor's ``node``."""
    kinds = tuple(_kept(v, x) for v, x in zip(node.inputs, inputs, strict=True))
    theirs = (node.op, kinds, tuple(v.type for v in node.outputs))
    try:
        held = _functions(node.op)
        texts = [source_text(f, f"the op {node.op}") for f in held]
        code = "\n".join([_code(node.op.__class__), *texts])
        call: Any = PyTensorCall(_pickled(theirs), code, str(node.op))
        if any(a is not b for a, b in zip(held, _functions(call.theirs[0]), strict=True)):
            call = _local_call(theirs)  # a name that stands for a newer function
    except (pickle.PicklingError, AttributeError, TypeError, UnknownSource):
        call = _local_call(theirs)
    operands = [x for x, kind in zip(inputs, kinds, strict=True) if hasattr(kind, "filter")]
    return call(*operands, return_list=True)
