"""`from_pytensor`: a PyTensor graph as a graph of Occelo.

A conversion walks over the nodes once, in topological order. `registry` has a function for each class of ops; a node
whose op has none becomes a call of the op's own Python code (`calls`).
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from pytensor.graph.basic import Constant
from pytensor.graph.traversal import toposort
from pytensor.scalar.basic import ScalarType

import occelo.tensor as ot
from occelo_graph.ir.nodes import nodes_made
from occelo_graph.provenance import Source
from occelo_pytensor.calls import call_of
from occelo_pytensor.provenance import library_folders, lines_of_factors, source_of
from occelo_pytensor.registry import conversion_of
from occelo_pytensor.variables import (
    as_dtype,
    constant,
    converted_shared,
    input_like,
    is_shared,
    is_sparse_type,
)

if TYPE_CHECKING:
    from collections.abc import Generator


Checks = Literal["raise", "minus_infinity", "none"]


class Mistyped(list[Any]):
    """Results of an op whose types PyTensor states wrongly: they keep their own, also in what is computed of them."""


class Unconvertible(NotImplementedError):
    """A node has no equal in Occelo: it is run by its own Python code."""


@dataclass
class Settings:
    """How a graph is converted.

    - ``checks``: what a failed check of the parameters of a log density gives, as in `from_pytensor`.
    - ``derivatives``: whether derivatives that a user gave an op are kept. A linker sees none.
    - ``called``: names of the ops that have no conversion, each with the number of nodes.
    - ``constants``: the constants that were converted, so that equal ones are one variable.
    - ``reads``: the traces and last values of loops, by the rows of a state and the key that reads them from these.
    """

    checks: Checks = "raise"
    derivatives: bool = True
    called: dict[str, int] = field(default_factory=dict[str, int])
    constants: dict[int, Any] = field(default_factory=dict[int, Any])
    reads: dict[tuple[Any, Any], Any] = field(default_factory=dict[tuple[Any, Any], Any])


_settings: ContextVar[Settings | None] = ContextVar("_settings", default=None)


def settings() -> Settings:
    """The settings of the conversion that is running."""
    current = _settings.get()
    assert current is not None, "no conversion is running"
    return current


@contextmanager
def converting(new: Settings) -> Generator[Settings]:
    """A context in which graphs are converted with the settings ``new``. Ends with one warning about ops that are called."""
    token = _settings.set(new)
    try:
        yield new
    finally:
        _settings.reset(token)
    if new.called and _settings.get() is None:
        names = ", ".join(sorted(new.called))
        warnings.warn(
            f"These ops have no conversion, so their Python code runs in compiled functions: {names}; "
            "register_conversion adds one",
            skip_file_prefixes=library_folders(),
        )


def convert_inner(
    inputs: Sequence[Any], outputs: Sequence[Any], values: Sequence[Any]
) -> list[Any]:
    """Convert an inner graph from ``inputs`` to ``outputs``, with Occelo's variables ``values`` for the inputs.

    Conversions of ops with inner graphs call this. The settings are those of the conversion that is running.
    """
    memo = dict(zip(inputs, values, strict=True))
    return _convert(outputs, list(toposort(outputs, blockers=list(memo))), memo, {})


def convert(outputs: Sequence[Any], memo: dict[Any, Any]) -> list[Any]:
    """Convert ``outputs``. ``memo`` maps PyTensor's variables to Occelo's, and all others are added to it.

    A variable without an owner that is not in ``memo`` becomes a constant, a shared variable or an input.
    """
    nodes = list(toposort(outputs, blockers=list(memo)))
    return _convert(outputs, nodes, memo, lines_of_factors(nodes))


def _convert(
    outputs: Sequence[Any], nodes: Sequence[Any], memo: dict[Any, Any], lines: dict[Any, Source]
) -> list[Any]:
    for node in nodes:
        for variable in node.inputs:
            if variable not in memo:
                memo[variable] = root(variable)
        inputs = [memo[v] for v in node.inputs]
        converted = _converted(node, inputs, source_of(node, lines.get(node)))
        memo.update(zip(node.outputs, converted, strict=True))
    for variable in outputs:
        if variable not in memo:
            memo[variable] = root(variable)
    return [memo[v] for v in outputs]


def root(variable: Any) -> Any:
    """Occelo's variable for one of PyTensor's that no node computes."""
    if isinstance(variable, Constant):
        cached = settings().constants
        key = id(variable)
        if key not in cached:
            cached[key] = constant(variable)
        return cached[key]
    return converted_shared(variable) if is_shared(variable) else input_like(variable)


def _converted(node: Any, inputs: list[Any], source: Source | None) -> list[Any]:
    with nodes_made() as nodes:
        convert_node = conversion_of(node.op)
        try:
            if convert_node is None:
                raise Unconvertible(str(node.op))
            results = convert_node(node, *inputs)
        except Unconvertible as reason:
            called = settings().called
            called[str(reason)] = called.get(str(reason), 0) + 1
            results = call_of(node, inputs)
        except Exception as error:
            made_at = "" if source is None else f", made at {source}: {source.text}"
            types = [str(v.type) for v in node.inputs]
            error.add_note(f"while converting PyTensor's {node.op} of {types}{made_at}")
            raise
        several = list(results) if isinstance(results, list | tuple) else [results]
        fit = _named if isinstance(results, Mistyped) or _mistyped(node, inputs) else _fit
        fitting = [fit(v, output) for v, output in zip(several, node.outputs, strict=True)]
    if source is not None:
        for each in nodes:
            each.mark = source
    return fitting


def _mistyped(node: Any, inputs: list[Any]) -> bool:
    """Whether inputs have other numbers of dimensions than PyTensor states."""
    return any(
        getattr(v, "ndim", 0) != getattr(theirs.type, "ndim", 0)
        for v, theirs in zip(inputs, node.inputs, strict=True)
        if not isinstance(theirs.type, ScalarType)  # converted on whole tensors
    )


def _fit(variable: Any, wanted: Any) -> Any:
    """A variable with the dtype, the number of dimensions, the static lengths and the name of PyTensor's."""
    if is_sparse_type(wanted.type):
        from occelo_pytensor.conversions.sparse import fitted

        return _named(fitted(variable, wanted), wanted)
    dtype = getattr(wanted.type, "dtype", None)
    if dtype is None or not hasattr(variable, "dtype"):
        return variable
    variable = as_dtype(variable, dtype)
    if isinstance(wanted.type, ScalarType):
        return variable  # scalar functions are converted on whole tensors
    lengths = tuple(getattr(wanted.type, "shape", ()))
    if variable.ndim != len(lengths):
        raise ValueError(
            f"{variable} has {variable.ndim} dimensions, and PyTensor's {wanted} {len(lengths)}"
        )
    lost = [n if k is None else None for n, k in zip(lengths, variable.type.shape, strict=True)]
    if any(n is not None for n in lost):
        variable = ot.specify_shape(variable, lost)
    stated = [f for f in ("lower_triangular", "upper_triangular") if getattr(wanted.tag, f, False)]
    if stated:  # PyMC states so what factors of covariance matrices are
        variable = ot.assume(variable, **dict.fromkeys(stated, True))
    return _named(variable, wanted)


def _named(variable: Any, wanted: Any) -> Any:
    if wanted.name and variable.name is None and variable.owner is not None:
        variable.name = wanted.name
    return variable


def from_pytensor(
    outputs: Any,
    inputs: Sequence[Any] | None = None,
    *,
    replace: Mapping[Any, Any] | None = None,
    checks: Checks = "raise",
) -> Any:
    """Convert a PyTensor graph.

    ``outputs`` is a variable or a list of them. Without ``inputs``, the result has the same form: a variable of Occelo, or a
    list. With ``inputs``, a list of PyTensor's variables, the result is a pair of a list of Occelo's variables for
    them, and the converted ``outputs``. Names and the user's lines that made variables are kept. Shared variables become shared
    variables with the same storage: a value that is set on one side is seen on the other. Other roots become inputs.

    ``replace`` maps variables of PyTensor to Occelo's variables that take their places. ``checks`` says what a failed check of the
    parameters of a log density gives: an error ("raise"); a density of 0, as in functions that PyMC compiles
    ("minus_infinity"); or whatever the formula gives ("none").

    An op without a conversion becomes a call of its own Python code, with one warning that names these ops. It has the
    derivative that PyTensor has for it. TypeError for types of variables that Occelo lacks, such as lists and sparse matrices in BSR.
    """
    several = isinstance(outputs, list | tuple)
    memo: dict[Any, Any] = dict(replace or {})
    ours = [memo.setdefault(v, input_like(v)) for v in inputs or ()]
    with converting(Settings(checks)):
        results = convert(list(outputs) if several else [outputs], memo)
    converted: Any = results if several else results[0]
    return converted if inputs is None else (ours, converted)
