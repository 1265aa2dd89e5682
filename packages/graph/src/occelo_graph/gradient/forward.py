"""`pushforward`: forward-mode differentiation.

Users call it. `hessian_vector_product` and the pushforwards of `OpFromGraph`, `Blockwise` and `Scan` call it, too.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from occelo_graph.errors import DisconnectedInputError, NullTypeGradError, describe, explained_by
from occelo_graph.gradient.cotangents import fitting, from_rule, of_shape
from occelo_graph.gradient.forms import differentiable_form, use_forms
from occelo_graph.gradient.reverse import grad, nodes_between, pullback, with_values, wrt_of
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO
from occelo_graph.ir.taken_constants import derived
from occelo_graph.ir.types import DisconnectedType, NullType
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.elemwise.arithmetic import add
from occelo_graph.provenance import warn_user
from occelo_graph.tensors.constant import as_tensor_variable


@explained_by("gradients")
def pushforward_through_pullback(
    outputs: Sequence[Variable],
    inputs: Sequence[Variable],
    tangents: Sequence[Any],
    consider_constant: Sequence[Variable] | None = None,
) -> list[Any]:
    """Tangents of ``outputs`` for the ``tangents`` of ``inputs``, by reverse mode only.

    The pullback is a linear map of the cotangents. The pullback of this linear map is the pushforward (Townsend, "A new
    trick for calculating Jacobian vector products", 2017).
    ``consider_constant`` is as in `grad`. ValueError unless there is a tangent for each input.
    """
    if len(inputs) != len(tangents):
        raise ValueError(
            f"There is a tangent for each input, got {len(tangents)} for {len(inputs)}"
        )
    live = [
        (v, t) for v, t in zip(inputs, tangents, strict=True) if t is not None and t is not ZERO
    ]
    results: list[Any] = []
    for output in outputs:
        if output.type.is_discrete:
            results.append(ZERO)
            continue
        dummy = output.type.make_variable()
        pulled: list[Any] = grad(
            None,
            [v for v, _ in live],
            consider_constant,
            known_grads={output: dummy},
            disconnected_inputs="ignore",
            return_disconnected="none",
        )
        pairs = [(p, t) for p, (_, t) in zip(pulled, live, strict=True) if p is not None]
        if not pairs:
            results.append(None)
            continue
        tangent = pullback(
            [p for p, _ in pairs],
            dummy,
            [t for _, t in pairs],
            disconnected_inputs="ignore",
            return_disconnected="none",
        )
        if tangent is not None:
            # the first pullback is linear in the dummy, so only the shape of the dummy matters
            tangent = clone_replace(tangent, {dummy: zeros_like(output)})
        results.append(tangent)
    return results


def _push_linear(node: Apply, tangents: Sequence[Any]) -> Sequence[Any] | None:
    """Tangents of the outputs of a node whose op is linear in groups of its inputs (`Traits.linear_in`).

    The op is applied to the tangents of each group, with the values of all other inputs, and the results are added.
    None if an input with a tangent is in no group, or the op overwrites inputs.
    """
    live = {i for i, t in enumerate(tangents) if t is not None and t is not ZERO}
    count = len(node.inputs)
    groups = [range(*each.indices(count)) for each in node.op.linear_in(node)]
    if node.op.destroy_map or not all(any(i in group for group in groups) for i in live):
        return None
    totals: list[Any] = [ZERO] * len(node.outputs)
    for group in groups:
        if live.isdisjoint(group):
            continue
        operands: list[Any] = list(node.inputs)
        for i in group:
            operands[i] = tangents[i] if i in live else zeros_like(node.inputs[i])
        terms: list[Any] = node.op(*operands, return_list=True)
        for k, (old, term) in enumerate(zip(node.outputs, terms, strict=True)):
            if not old.type.is_discrete:
                totals[k] = term if totals[k] is ZERO else totals[k] + term
    return totals


def _push_node(node: Apply, tangents: Sequence[Any]) -> Sequence[Any]:
    if all(t is None or t is ZERO for t in tangents):
        zero = any(t is ZERO for t in tangents)
        return [ZERO if zero else None] * len(node.outputs)
    undefined = [t for t in tangents if isinstance(t, Variable) and isinstance(t.type, NullType)]
    if undefined:
        return [undefined[0]] * len(node.outputs)
    if node.op.has_pushforward:
        # of elementwise ops a slope may be infinite or NaN, and nothing moves by it
        sparse = node.op.elementwise
        filled = [
            (None if sparse else zeros_like(v)) if t is ZERO else t
            for v, t in zip(node.inputs, tangents, strict=True)
        ]
        return node.op.pushforward(node.inputs, node.outputs, filled)
    pushed = _push_linear(node, tangents)
    if pushed is not None:
        return pushed
    # differentiates a copy of the node with new roots as inputs, so only this node is differentiated
    roots = [v.type.make_variable() for v in node.inputs]
    alone = node.clone_with_new_inputs(roots)
    pushed = pushforward_through_pullback(alone.outputs, roots, tangents)
    back = {
        **dict(zip(roots, node.inputs, strict=True)),
        **dict(zip(alone.outputs, node.outputs, strict=True)),
    }
    return [clone_replace(t, back) if isinstance(t, Variable) else t for t in pushed]


@explained_by("gradients")
def pushforward(
    f: Any,
    wrt: Any,
    tangents: Any,
    disconnected_outputs: str = "raise",
    return_disconnected: str = "zero",
    use_op_pushforward: bool = True,
    consider_constant: Sequence[Variable] | None = None,
) -> Any:
    """The tangents of ``f``: the Jacobian of ``f`` with respect to ``wrt``, times ``tangents``.

    - ``f``: a variable, or a tree of variables; the result has the same form.
    - ``wrt``, ``tangents``: a variable and its tangent, or two trees, such as lists of equal length. ValueError if a variable and its
      tangent differ in their numbers of dimensions. Where a variable depends on another one, it moves with it, too, as in `jacobian`.
    - ``disconnected_outputs``: for an output that does not depend on ``wrt``, "raise" `DisconnectedInputError`, "warn"
      or "ignore". ValueError for another text.
    - ``return_disconnected``: the tangent of such an output: "zero", "none" or "disconnected".
    - ``use_op_pushforward``: if False, the pushforwards of ops are not used: the whole graph is differentiated twice in
      reverse mode. By default, this is done only for single nodes: those whose op has no pushforward and is not linear
      in groups of its inputs.
    - ``consider_constant``: variables that are treated as constants, except for tangents of their own.
    """
    outputs, structure = wrt_of(f)
    variables, listed = with_values(wrt, tangents, "tangents")
    seeds = [as_tensor_variable(t) for t in listed]
    if len(seeds) != len(variables):
        raise ValueError(f"{len(variables)} variables need as many tangents, got {len(seeds)}")
    for variable, tangent in zip(variables, seeds, strict=True):
        if tangent.type.ndim != variable.type.ndim:
            raise ValueError(
                f"The tangent of {variable} has {tangent.type.ndim} dimensions, "
                f"the variable {variable.type.ndim}"
            )
    fitted: list[Any] = [
        fitting(t, v, "The tangent") for v, t in zip(variables, seeds, strict=True)
    ]
    if use_op_pushforward:
        results = _push(outputs, variables, fitted, consider_constant or ())
    else:
        results = pushforward_through_pullback(outputs, variables, fitted, consider_constant)
    finished = [
        _finish(v, t, disconnected_outputs, return_disconnected)
        for v, t in zip(outputs, results, strict=True)
    ]
    return structure.unflatten(finished)


class _Tangents:
    """The tangents of variables. As in a gradient, one of ``wrt`` may depend on another one, or be the same.

    Variables in ``constants`` have no tangents but those that the user gave.
    """

    def __init__(
        self, wrt: Sequence[Variable], values: Sequence[Any], constants: Iterable[Variable]
    ) -> None:
        self.constants = frozenset(constants)
        self.given: dict[Variable, Any] = {}
        for variable, value in zip(wrt, values, strict=True):
            before = self.given.get(variable)
            self.given[variable] = value if before is None else _sum(before, value)
        self.known = dict(self.given)

    def note(self, variable: Variable, tangent: Any) -> None:
        """Note a tangent that a node gives to one of its outputs. What the user gave is added, once."""
        if tangent is None or variable in self.constants:
            return
        if variable in self.given:
            self.known[variable] = _sum(self.given.pop(variable), tangent)
        else:
            self.known.setdefault(variable, tangent)

    def push(self, node: Apply) -> None:
        """Compute the tangents of a node's outputs from those of its inputs."""
        tangents = [self.known.get(v) for v in node.inputs]
        if all(t is None for t in tangents):
            return
        pushed = _push_node(node, tangents)
        if len(pushed) != len(node.outputs):
            raise ValueError(
                f"The pushforward of {node.op} must give {len(node.outputs)} tangents, one for each "
                f"output, and gave {len(pushed)}"
            )
        for variable, tangent in zip(node.outputs, pushed, strict=True):
            self.note(variable, from_rule(tangent, variable, node, "pushforward", "output"))


def _sum(first: Any, second: Any) -> Any:
    if second is ZERO:
        return first
    return second if first is ZERO or isinstance(second.type, NullType) else add(first, second)


def _push(
    outputs: Sequence[Variable],
    wrt: Sequence[Variable],
    values: Sequence[Any],
    constants: Sequence[Variable],
) -> list[Any]:
    tangents = _Tangents(wrt, values, constants)
    keep = frozenset((*wrt, *constants))
    order = nodes_between(wrt, outputs)
    derived(order)
    for node in order:
        if all(tangents.known.get(v) is None for v in node.inputs):
            continue
        form, new = differentiable_form(node, keep)
        if form is None:
            tangents.push(node)
            continue
        for each in new:
            tangents.push(each)
        tangents.note(node.outputs[0], tangents.known.get(form))
    return [tangents.known.get(v) for v in outputs]


def _finish(variable: Variable, tangent: Any, disconnected: str, return_disconnected: str) -> Any:
    if tangent is None or (
        isinstance(tangent, Variable) and isinstance(tangent.type, DisconnectedType)
    ):
        _report_disconnected(variable, disconnected)
        if return_disconnected == "none":
            return None
        if return_disconnected == "disconnected":
            return DisconnectedType()()
        tangent = ZERO
    if tangent is ZERO:
        return zeros_like(variable)
    if isinstance(tangent.type, NullType):
        raise NullTypeGradError(
            f"The tangent of {describe(variable)} is not defined: {tangent.type.why_null}"
        )
    return of_shape(tangent, variable, f"the tangent of {variable}")


def _report_disconnected(variable: Variable, what: str) -> None:
    """Do what the argument ``disconnected_outputs`` says about an output without a tangent."""
    message = f"{describe(variable)} does not depend on the variables with tangents"
    if what == "raise":
        raise DisconnectedInputError(message)
    if what == "warn":
        warn_user(message)
    elif what != "ignore":
        raise ValueError(f"disconnected_outputs is raise, warn or ignore, not {what!r}")


def Rop(f: Any, wrt: Any, eval_points: Any, **options: Any) -> Any:
    """Older name of `pushforward`, of ``f`` and ``wrt``. Its tangents are ``eval_points``, and ``options`` its other arguments."""
    return pushforward(f, wrt, eval_points, **options)


use_forms()
