"""`grad` and `pullback`: reverse-mode differentiation.

Users call these functions. Jacobians, forward mode, and the pullbacks of `OpFromGraph`, `Blockwise` and `Scan` call
them, too.

The nodes between the cost and ``wrt`` are visited once, in reverse topological order (`pulling`). At each node the
cotangents of the inputs are computed from the cotangents of the outputs. A cotangent is a variable, `ZERO` or None.
`ZERO` means that the cost depends on the variable, but with the derivative 0. None means that the cost does not depend
on the variable.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypedDict, TypeVar, overload

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import (
    DisconnectedInputError,
    NullTypeGradError,
    describe,
    explained_by,
    lines,
)
from occelo_graph.gradient.cotangents import fitting, of_shape
from occelo_graph.gradient.pulling import cotangent_dtype, pull_nodes
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangent, Zero
from occelo_graph.ir.traversal import as_variables, toposort
from occelo_graph.ir.types import DisconnectedType, NullType
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import ones_like, zeros_like
from occelo_graph.ops.elemwise.arithmetic import add
from occelo_graph.ops.lengths import KnownLengths
from occelo_graph.provenance import at_line, user_frame, warn_user
from occelo_graph.tensors.constant import as_tensor_variable
from occelo_graph.tensors.nodes import is_tensor
from occelo_graph.tensors.type import TensorType, is_complex

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from occelo_graph.tensors.variable import TensorVariable

T = TypeVar("T")
K = TypeVar("K")
V = TypeVar("V", bound=Variable)


def nodes_between(wrt: Sequence[Variable], outputs: Iterable[Variable]) -> list[Apply]:
    """The nodes through which ``outputs`` depend on ``wrt``, in topological order."""
    dependent = set(wrt)
    nodes: list[Apply] = []
    for node in toposort(list(outputs)):
        if not dependent.isdisjoint(node.inputs):
            dependent.update(node.outputs)
            nodes.append(node)
    return nodes


def _is_discrete(variable: Variable) -> bool:
    return variable.type.is_discrete


def _propagate(
    starts: Mapping[Variable, Cotangent], wrt: Sequence[Variable], stop: Iterable[Variable] = ()
) -> list[Cotangent]:
    with at_line(user_frame(3)):  # which asks for derivatives, so that all their nodes belong to it
        return pull_nodes(nodes_between(wrt, starts), starts, wrt, set(stop))


def _check_cost(cost: Any) -> None:
    if not isinstance(cost, Variable):
        raise TypeError(f"The cost must be a variable, got {cost!r}")
    if isinstance(cost.type, NullType):
        raise ValueError(f"Cannot differentiate a cost of type {cost.type}")
    if not isinstance(cost.type, TensorType) or cost.type.ndim != 0:
        raise TypeError(
            f"The cost must be a scalar, but {describe(cost)} is not; take its sum or mean, "
            "or use jacobian or pullback"
        )
    if is_complex(cost.type.dtype):
        raise TypeError(f"The cost must be real, but {describe(cost)} is complex")


class Options(TypedDict, total=False):
    """The arguments of `grad` that are passed by keywords."""

    add_names: bool
    known_grads: Mapping[Any, Any] | None
    return_disconnected: str
    null_gradients: str


Constants = Sequence[Variable] | None


@overload
def grad(
    cost: Any,
    wrt: Variable,
    consider_constant: Constants = None,
    disconnected_inputs: str = "raise",
    **options: Unpack[Options],
) -> TensorVariable: ...
@overload
def grad(
    cost: Any,
    wrt: list[V],
    consider_constant: Constants = None,
    disconnected_inputs: str = "raise",
    **options: Unpack[Options],
) -> list[TensorVariable]: ...
@overload
def grad(
    cost: Any,
    wrt: tuple[V, ...],
    consider_constant: Constants = None,
    disconnected_inputs: str = "raise",
    **options: Unpack[Options],
) -> tuple[TensorVariable, ...]: ...
@overload
def grad(
    cost: Any,
    wrt: dict[K, V],
    consider_constant: Constants = None,
    disconnected_inputs: str = "raise",
    **options: Unpack[Options],
) -> dict[K, TensorVariable]: ...
@overload
def grad(
    cost: Any,
    wrt: T,
    consider_constant: Constants = None,
    disconnected_inputs: str = "raise",
    **options: Unpack[Options],
) -> T: ...
@explained_by("gradients")
def grad(
    cost: Any,
    wrt: Any,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: str = "raise",
    add_names: bool = True,
    known_grads: Mapping[Any, Any] | None = None,
    return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:
    """Gradients of a scalar ``cost`` with respect to ``wrt``.

    ``wrt`` is a variable or a tree of variables, such as a list or a dict (`occelo_graph.ir.trees`); the result has the
    same form. A gradient has the shape and the dtype of its variable. For a variable of integers or truth values, the dtype of the gradient is floatX. Operations with
    discrete results have the derivative 0. For a complex variable x + iy, the gradient is the derivative with respect
    to x, plus i times the derivative with respect to y.

    - ``consider_constant``: variables that are treated as constants. Their own gradients are still computed.
    - ``known_grads``: a mapping from variables to their cotangents. With it, ``cost`` may be None.
    - ``disconnected_inputs``: for a variable on which the cost does not depend, "raise" `DisconnectedInputError`,
      "warn" or "ignore".
    - ``return_disconnected``: the gradient of such a variable: "zero", "none" or "disconnected".
    - ``null_gradients``: for an undefined gradient, "raise" `NullTypeGradError` or "return" it.
    - ``add_names``: give the gradients names like ``(dcost/dx)``.

    TypeError if ``cost`` is not a real scalar. ValueError without ``cost`` and ``known_grads``.
    """
    if cost is None and not known_grads:
        raise ValueError("grad needs a cost or known_grads")
    if cost is not None:
        cost = cost if isinstance(cost, Variable) else as_tensor_variable(cost)
        _check_cost(cost)
    if disconnected_inputs not in ("raise", "warn", "ignore"):
        raise ValueError(
            f"disconnected_inputs is raise, warn or ignore, not {disconnected_inputs!r}"
        )
    variables, structure = wrt_of(wrt)
    starts: dict[Variable, Any] = {}
    if cost is not None:
        starts[cost] = ones_like(cost, dtype=cotangent_dtype(cost))
    starts = {**starts, **_starts(known_grads or {})}
    constant = set(consider_constant or ())
    totals = _propagate(starts, variables, constant)
    lengths = KnownLengths()
    gradients: list[Any] = []
    for variable, total in zip(variables, totals, strict=True):
        result = _finish(
            variable, total, cost, disconnected_inputs, return_disconnected, null_gradients, lengths
        )
        if add_names and cost is not None and cost.name and variable.name and result is not None:
            if result.name is None and result.owner is not None:
                result.name = f"(d{cost.name}/d{variable.name})"
        gradients.append(result)
    return structure.unflatten(gradients)


def wrt_of(wrt: Any) -> tuple[list[Variable], trees.Structure]:
    """The variables of an argument ``wrt``, and the structure of results for it. That of other iterables is a list.

    TypeError if a leaf is not a variable.
    """
    if not isinstance(wrt, Variable) and not trees.is_tree(wrt) and hasattr(wrt, "__iter__"):
        wrt = list(wrt)
    variables, structure = trees.flatten(wrt, "wrt")
    for position, value in enumerate(variables):
        if not isinstance(value, Variable):
            where = f" at {structure.paths('wrt')[position]}" if trees.is_nested(wrt) else ""
            raise TypeError(f"Gradients are taken by variables, got {value!r}{where}")
    if wrt is None:
        raise TypeError("Gradients are taken by variables, got None")
    return variables, structure


def _finish(
    variable: Variable,
    total: Cotangent,
    cost: Variable | None,
    disconnected_inputs: str,
    return_disconnected: str,
    null_gradients: str,
    lengths: KnownLengths,
) -> Any:
    if total is None:
        _report_disconnected(variable, cost, disconnected_inputs)
        if return_disconnected == "none":
            return None
        if return_disconnected == "disconnected":
            return DisconnectedType()()
        if return_disconnected != "zero":
            raise ValueError(
                f"return_disconnected is zero, none or disconnected, not {return_disconnected!r}"
            )
        total = ZERO
    if isinstance(total, Zero):
        if not variable.type.is_array:
            return variable.type.as_gradient(variable, None)
        return zeros_like(variable, dtype=cotangent_dtype(variable))
    if isinstance(total.type, NullType):
        if null_gradients == "raise":
            raise NullTypeGradError(
                lines(
                    [f"The gradient with respect to {describe(variable)} is not defined"],
                    str(total.type.why_null),
                )
            )
        if null_gradients != "return":
            raise ValueError(f"null_gradients is raise or return, not {null_gradients!r}")
    elif not variable.type.is_array:
        return variable.type.as_gradient(variable, total)
    elif _is_discrete(variable) and is_tensor(total) and not total.type.is_complex:
        total = cast(total, FLOAT_X.get())
    return of_shape(total, variable, f"the gradient with respect to {variable}", lengths)


def _report_disconnected(variable: Variable, cost: Variable | None, what: str) -> None:
    if what == "ignore":
        return
    message = lines(
        [] if cost is None else [f"The cost is {describe(cost)}"],
        f"The cost does not depend on {describe(variable)}, or only in ways that have no derivative",
    )
    if what == "warn":
        warn_user(message)
    else:
        raise DisconnectedInputError(message)


@explained_by("gradients")
def pullback(
    f: Any,
    wrt: Any,
    cotangents: Any,
    consider_constant: Sequence[Variable] | None = None,
    disconnected_inputs: str = "raise",
    return_disconnected: str = "zero",
    null_gradients: str = "raise",
) -> Any:
    """The cotangents of ``wrt``: ``cotangents`` times the Jacobian of ``f`` with respect to ``wrt``.

    ``f`` and ``cotangents`` are a variable and its cotangent, or two trees, such as lists of equal length (else
    ValueError). ``wrt`` is a variable or a tree; the result has the same form. ``consider_constant``,
    ``disconnected_inputs``, ``return_disconnected`` and ``null_gradients`` are those of `grad`.
    """
    outputs, seeds = with_values(f, cotangents, "cotangents")
    if len(outputs) != len(seeds):
        raise ValueError(f"{len(outputs)} outputs need as many cotangents, got {len(seeds)}")
    pairs: dict[Variable, TensorVariable] = {}
    for output, cotangent in zip(outputs, seeds, strict=True):
        ct = as_tensor_variable(cotangent)
        pairs[output] = add(pairs[output], ct) if output in pairs else ct
    gradient: Any = grad
    return gradient(
        None,
        wrt,
        consider_constant,
        disconnected_inputs,
        known_grads=pairs,
        return_disconnected=return_disconnected,
        null_gradients=null_gradients,
    )


def with_values(f: Any, values: Any, name: str) -> tuple[list[Variable], list[Any]]:
    """The variables of ``f``, and the leaves of ``values``. If ``f`` is nested, both have the same structure."""
    if trees.is_nested(f):
        variables, structure = trees.flatten(f)
        return variables, structure.leaves_of(values, name)
    return as_variables(f), list(values) if is_list_or_tuple(values) else [values]


def Lop(f: Any, wrt: Any, eval_points: Any, **options: Any) -> Any:
    """Older name of `pullback`, of ``f`` and ``wrt``. Its cotangents are ``eval_points``, and ``options`` its other arguments."""
    return pullback(f, wrt, eval_points, **options)


@explained_by("gradients")
def subgraph_grad(
    wrt: Sequence[Variable],
    end: Sequence[Variable],
    start: Mapping[Variable, Any] | None = None,
    cost: Any = None,
    details: bool = False,
) -> Any:
    """Differentiate only the last part of a graph: the part from the variables ``end`` to the cost.

    The result is a tuple of two lists: the gradients with respect to ``wrt``, and those with respect to ``end``.
    Differentiation starts from ``cost``, from the cotangents ``start`` (a mapping), or from both, and stops at ``end``.
    The gradient of a variable on which this part does not depend is 0. To differentiate the part before ``end``, call
    the function again with ``start=dict(zip(end, end_grads))``, where ``end_grads`` is the second list.

    With ``details`` the tuple has two more lists of gradients with respect to ``[*wrt, *end]``: the third list is
    computed only from ``start`` (None without ``start``), the fourth only from ``cost`` (None without ``cost``).

    ValueError without ``cost`` and ``start``. Other errors are those of `grad`.
    """
    if cost is None and start is None:
        raise ValueError("subgraph_grad needs a cost, start gradients, or both")
    variables = [*wrt_of(wrt)[0], *wrt_of(end)[0]]
    count = len(variables) - len(wrt_of(end)[0])
    from_start = None if start is None else _starts(start)
    from_cost = None
    if cost is not None:
        cost = cost if isinstance(cost, Variable) else as_tensor_variable(cost)
        _check_cost(cost)
        from_cost = {cost: ones_like(cost, dtype=cotangent_dtype(cost))}
    together = _merged(from_cost or {}, from_start or {})

    def gradients(starts: Mapping[Variable, Any] | None) -> list[Any] | None:
        if starts is None:
            return None
        totals = _propagate(starts, variables, end)
        return [
            _finish(v, t, cost, "ignore", "zero", "raise", KnownLengths())
            for v, t in zip(variables, totals, strict=True)
        ]

    grads = gradients(together)
    assert grads is not None
    if not details:
        return grads[:count], grads[count:]
    return grads[:count], grads[count:], gradients(from_start), gradients(from_cost)


def _starts(cotangents: Mapping[Any, Any]) -> dict[Variable, Cotangent]:
    """Check the cotangents that a user passes, and cast them to the dtypes of their variables."""
    starts: dict[Variable, Cotangent] = {}
    for variable, cotangent in cotangents.items():
        if not isinstance(variable, Variable):
            raise TypeError(f"The keys of known gradients must be variables, got {variable!r}")
        starts[variable] = fitting(cotangent, variable, "The known gradient")
    return starts


def _merged(first: Mapping[Variable, Any], second: Mapping[Variable, Any]) -> dict[Variable, Any]:
    """The union of two mappings from variables to cotangents. Two cotangents of a variable are added."""
    merged = dict(first)
    for variable, cotangent in second.items():
        mine = merged.get(variable)
        if mine is None or mine is ZERO:
            merged[variable] = cotangent
        elif cotangent is not None and cotangent is not ZERO:
            merged[variable] = add(mine, cotangent)
    return merged
