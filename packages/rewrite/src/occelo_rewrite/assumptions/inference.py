"""The registry of functions that infer facts from nodes (`infers`, `infers_many`), and inference from constants.

The modules of this package that are named for families of ops register functions, and so can users. `AssumptionFeature`
calls the functions when a rule looks up a fact.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Apply, Constant, Op, Variable
from occelo_graph.applicable import check_arguments, check_classes
from occelo_graph.errors import explained
from occelo_graph.extensions import is_external, register_extension
from occelo_graph.families import catch_up
from occelo_graph.ir.nodes import AnyApply, OpT
from occelo_graph.narrowing import is_array
from occelo_graph.tensors.nodes import TensorApply
from occelo_rewrite.assumptions.facts import UNSIGNED, all_facts

if TYPE_CHECKING:
    import numpy.typing as npt

Ask = Callable[[Variable, str], bool | None]
"""A function that returns whether a fact holds for a variable: True, False, or None if it is not known."""

Inference = Callable[[TensorApply[OpT], Ask], bool | None]
InferenceOfMany = Callable[[TensorApply[OpT], str, Ask], bool | None]
# no static type can express that the class in the key is the class of the node's op
_AnyInference = Callable[[AnyApply, Ask], bool | None]
_inferences: dict[type[Op], dict[tuple[str, int], list[_AnyInference]]] = {}
"""For each class of ops, the functions that infer a fact for an output, by the fact and the output's number."""
_of_many: dict[type[Op], list[Callable[[AnyApply, str, Ask], bool | None]]] = {}
_chosen: dict[tuple[type[Op], str, int], list[_AnyInference]] = {}
"""What `_choose` found for a class of ops, a fact and an output. Each registration empties it."""
_FAMILIES = ("elemwise", "reduce", "shape", "create", "index", "blas")
"""The modules of this package that `_import_families` imports."""
_LARGEST = 64 * 64
_OF_ELEMENTS = frozenset(("nonnegative", UNSIGNED))
"""Facts about single elements that are true of 0.

If an op only moves elements or fills in zeros, these facts hold for its result if they hold for its inputs.
"""


@functools.cache
def _import_families() -> None:
    """Register Occelo's functions for all families of ops except linear algebra."""
    for name in _FAMILIES:
        importlib.import_module(f"occelo_rewrite.assumptions.{name}")


def infers(
    fact: str, *classes: type[OpT], output: int = 0
) -> Callable[[Inference[OpT]], Inference[OpT]]:
    """Decorator that registers a function which infers ``fact`` for an output of ops of ``classes``.

    The function gets a node and an `Ask`, by which it looks up facts about the node's inputs. It returns whether the
    fact holds: True, False, or None if this is unknown. If several functions are registered, the first one that returns
    True or False decides.
    """

    def register(function: Inference[OpT]) -> Inference[OpT]:
        if is_external(function):
            _import_families()  # so that Occelo's own functions come first
            _check(function, classes, "the node", "the function that asks for facts")
            if fact not in all_facts():
                raise explained(
                    ValueError(f"There is no fact {fact!r}; there are {', '.join(all_facts())}"),
                    "rules",
                )
            if output < 0:
                raise ValueError(f"Outputs are counted from the first, 0, got {output}")
        for cls in classes:
            functions = _inferences.setdefault(cls, {}).setdefault((fact, output), [])
            _add(functions, function)
            what = f"inference of {fact}" + (f" about output {output}" if output else "")
            register_extension(what, cls, *filter(is_external, functions))
        return function

    return register


def infers_many(*classes: type[OpT]) -> Callable[[InferenceOfMany[OpT]], InferenceOfMany[OpT]]:
    """Decorator that registers a function which infers several facts about the first output of ops of ``classes``.

    The function gets a node, the name of a fact, and an `Ask`. These functions are called after the functions that
    `infers` registered.
    """

    def register(function: InferenceOfMany[OpT]) -> InferenceOfMany[OpT]:
        if is_external(function):
            _import_families()
            _check(function, classes, "the node", "a fact", "the function that asks for facts")
        for cls in classes:
            functions = _of_many.setdefault(cls, [])
            _add(functions, function)
            register_extension("inference of facts", cls, *filter(is_external, functions))
        return function

    return register


def _check(function: Callable[..., Any], classes: Sequence[object], *names: str) -> None:
    check_classes("An inference of facts", classes)
    check_arguments("An inference of facts", function, *names)


def _add(functions: list[Any], function: Any) -> None:
    """Append a function to the list ``functions`` of registered functions.

    If a notebook cell runs again, the new function replaces the earlier function of the same module and name. Functions
    of Occelo itself are never replaced.
    """
    same = [
        f
        for f in functions
        if is_external(f)
        and (f.__module__, f.__qualname__) == (function.__module__, function.__qualname__)
    ]
    for earlier in same:
        functions.remove(earlier)
    functions.append(function)
    _chosen.clear()


def _choose(op: Op, fact: str, output: int) -> list[_AnyInference]:
    """The functions that infer a fact for an output of an op, in the order in which they are asked."""
    functions: list[_AnyInference] = []
    for cls in op.computes_as:
        functions += _inferences.get(cls, {}).get((fact, output), ())
        for of_many in () if output else _of_many.get(cls, ()):
            functions.append(lambda node, ask, of_many=of_many: of_many(node, fact, ask))
    return functions


def inferred_from_node(variable: Variable, node: Apply, fact: str, ask: Ask) -> bool | None:
    """Whether a fact holds for ``variable``, an output of ``node``, by the registered functions; None for unknown."""
    _import_families()
    catch_up()
    op = node.op
    key = type(op), fact, node.outputs.index(variable)
    functions = _chosen.get(key)
    if functions is None:
        functions = _chosen[key] = _choose(op, fact, key[2])
    for inference in functions:
        answer = inference(node, ask)
        if answer is not None:
            return answer
    if fact in _OF_ELEMENTS and op.moves is not None:
        return True if all(ask(v, fact) for v in node.inputs[op.moves]) else None
    return None


# facts about constants


def _off(data: Any, part: Any) -> bool:
    """Whether ``data`` equals ``part``, a copy that has zeros outside of the diagonal or of a triangle."""
    return not np.any(data - part)


def _is_selection(data: Any) -> bool:
    rows = (data == 1).sum(axis=1) == 1
    return bool(np.all((data == 0) | (data == 1)) and np.all(rows))


def _is_definite(data: Any) -> bool:
    """Whether a matrix is symmetric and positive definite by a margin larger than rounding errors."""
    if data.shape[0] != data.shape[1] or not np.array_equal(data, data.T):
        return False
    values = np.linalg.eigvalsh(data.astype("float64"))
    error = len(data) * float(np.finfo("float32" if data.itemsize < 8 else "float64").eps)
    return bool(values.size == 0 or values[0] > 8 * error * abs(values[-1]))


_OF_MATRICES: dict[str, Callable[[Any], bool]] = {
    "diagonal": lambda m: _off(m, np.diag(np.diag(m))),
    "lower_triangular": lambda m: _off(m, np.tril(m)),
    "upper_triangular": lambda m: _off(m, np.triu(m)),
    "symmetric": lambda m: bool(np.array_equal(m, m.T)),
    "hermitian": lambda m: bool(np.array_equal(m, m.T)),
    "tridiagonal": lambda m: _off(m, np.triu(np.tril(m, 1), -1)),
    "unit_diagonal": lambda m: bool(np.all(np.diagonal(m) == 1)),
    "permutation": lambda m: _is_selection(m) and _is_selection(m.T),
}


_OF_SQUARE = frozenset(
    ("symmetric", "hermitian", "permutation", "positive_definite", "positive_semidefinite")
)


def _is_distinct(data: npt.NDArray[Any]) -> bool:
    """Whether all integers are different. (`np.unique` is not used, since it imports all of `numpy.ma`.)"""
    ordered = np.sort(data, axis=None)
    return bool(np.all(ordered[1:] != ordered[:-1]))


def inferred_from_constant(constant: Constant, fact: str) -> bool | None:
    """Whether a fact holds for the value of a constant; None if it is not known.

    Large and complex constants are not tested, and some facts have no test. Some tests return only True or None.
    """
    data: Any = constant.data
    if not is_array(data) or data.size > _LARGEST or data.dtype.kind == "c":
        return None
    if fact in ("nonnegative", "positive"):
        return bool(np.all(data > 0 if fact == "positive" else data >= 0))
    if fact == UNSIGNED:
        return True if data.dtype.kind == "f" and not np.any(np.signbit(data)) else None
    if fact == "unique_indices":
        return _is_distinct(data) if data.dtype.kind in "iu" and np.all(data >= 0) else None
    if data.ndim != 2 or data.dtype.kind not in "iuf" or not np.all(np.isfinite(data)):
        return None
    if fact in ("positive_definite", "positive_semidefinite"):
        return True if _is_definite(data) else None
    if fact == "selection":
        return _is_selection(data)
    if data.shape[0] != data.shape[1]:
        return False if fact in _OF_SQUARE else None
    check = _OF_MATRICES.get(fact)
    return None if check is None else check(data)
