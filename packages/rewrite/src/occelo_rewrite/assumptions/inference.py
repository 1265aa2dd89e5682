"""Registry of functions that infer facts from ops (`infers`), and inference of facts from the values of constants.

Each family's module of this package registers its inferences here; `AssumptionFeature` calls them for each fact that
a rule asks for.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from occelo_graph import Apply, Constant, Op, Variable
from occelo_graph.applicable import check_arguments, check_classes
from occelo_graph.extensions import is_external, register_extension
from occelo_graph.ir.nodes import AnyApply, OpT
from occelo_graph.late_families import catch_up
from occelo_graph.narrowing import is_array
from occelo_graph.tensors.nodes import TensorApply
from occelo_rewrite.assumptions.facts import UNSIGNED, all_facts

if TYPE_CHECKING:
    import numpy.typing as npt

__all__ = ["Ask", "inferred_from_constant", "inferred_from_node", "infers", "infers_many"]

Ask = Callable[[Variable, str], bool | None]
"""Returns whether a fact holds for a variable; None if that is not known."""

Inference = Callable[[TensorApply[OpT], Ask], bool | None]
InferenceOfMany = Callable[[TensorApply[OpT], str, Ask], bool | None]
# the key is the class of the node's op, which no type can express
_inferences: dict[tuple[str, type[Op], int], list[Callable[[AnyApply, Ask], bool | None]]] = {}
_of_many: dict[type[Op], list[Callable[[AnyApply, str, Ask], bool | None]]] = {}
_LARGEST = 64 * 64
_OF_ELEMENTS = frozenset(("nonnegative", UNSIGNED))
"""Facts about elements: they hold for a tensor if they hold for each element, and they hold for 0. So ops that only
move elements or fill in zeros keep them.
"""


def infers(
    fact: str, *classes: type[OpT], output: int = 0
) -> Callable[[Inference[OpT]], Inference[OpT]]:
    """Decorator that registers a function which infers a fact about an output of ops of ``classes``; it takes a node
    and an `Ask`.

    If several functions are registered, the first that returns True or False decides.
    """

    def register(function: Inference[OpT]) -> Inference[OpT]:
        if is_external(function):
            _check(function, classes, "the node", "the function that asks for facts")
            if fact not in all_facts():
                raise ValueError(f"There is no fact {fact!r}; there are {', '.join(all_facts())}")
            if output < 0:
                raise ValueError(f"Outputs are counted from the first, 0, got {output}")
        for cls in classes:
            known = _inferences.setdefault((fact, cls, output), [])
            _add(known, function)
            what = f"inference of {fact}" + (f" about output {output}" if output else "")
            register_extension(what, cls, *filter(is_external, known))
        return function

    return register


def infers_many(*classes: type[OpT]) -> Callable[[InferenceOfMany[OpT]], InferenceOfMany[OpT]]:
    """Decorator that registers a function which infers several facts about the first output of ops; it takes a node, a
    fact and an `Ask`.

    Such functions are called after those of `infers`.
    """

    def register(function: InferenceOfMany[OpT]) -> InferenceOfMany[OpT]:
        if is_external(function):
            _check(function, classes, "the node", "a fact", "the function that asks for facts")
        for cls in classes:
            known = _of_many.setdefault(cls, [])
            _add(known, function)
            register_extension("inference of facts", cls, *filter(is_external, known))
        return function

    return register


def _check(function: Callable[..., Any], classes: Sequence[object], *given: str) -> None:
    check_classes("An inference of facts", classes)
    check_arguments("An inference of facts", function, *given)


def _add(known: list[Any], function: Any) -> None:
    """Append a function to the registered functions.

    An earlier function with the same module and name is removed if it is not Occelo's own, as when a cell of a notebook
    runs again.
    """
    same = [
        f
        for f in known
        if is_external(f)
        and (f.__module__, f.__qualname__) == (function.__module__, function.__qualname__)
    ]
    for earlier in same:
        known.remove(earlier)
    known.append(function)


def inferred_from_node(variable: Variable, node: Apply, fact: str, ask: Ask) -> bool | None:
    """Whether a fact holds for a variable, an output of the node."""
    catch_up()
    op = node.op
    output = node.outputs.index(variable)
    for cls in op.computes_as:
        for inference in _inferences.get((fact, cls, output), ()):
            found = inference(node, ask)
            if found is not None:
                return found
        for inference_of_many in () if output else _of_many.get(cls, ()):
            found = inference_of_many(node, fact, ask)
            if found is not None:
                return found
    if fact in _OF_ELEMENTS and op.moves is not None:
        return True if all(ask(v, fact) for v in node.inputs[op.moves]) else None
    return None


# constants


def _off(data: Any, part: Any) -> bool:
    """Whether a matrix equals ``part``, which is its copy with zeros outside of the diagonal or of a triangle."""
    return not np.any(data - part)


def _is_selection(data: Any) -> bool:
    rows = (data == 1).sum(axis=1) == 1
    return bool(np.all((data == 0) | (data == 1)) and np.all(rows))


def _is_definite(data: Any) -> bool:
    """Whether a matrix is symmetric and so clearly positive definite that rounding errors cannot matter."""
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
    """Whether no two integers are equal; `np.unique` would import all of `numpy.ma`."""
    ordered = np.sort(data, axis=None)
    return bool(np.all(ordered[1:] != ordered[:-1]))


def inferred_from_constant(constant: Constant, fact: str) -> bool | None:
    """Whether a fact holds for the value of a constant; None if that is not tested.

    Large and complex constants are not tested, and there are facts without a test. Some tests return only True or None.
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
