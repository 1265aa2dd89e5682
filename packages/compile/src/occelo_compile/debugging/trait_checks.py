"""Checks in DebugMode that ops have the traits that they declare (`occelo_graph.ir.traits`).

`op_checks` calls `raise_for_traits` for every node that it runs. For each trait there is a function that looks for a
contradiction. It compares the values of a call, or it runs the op again on other values of the same types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from occelo_compile.debugging.comparing import agree, copied, is_array, same, short
from occelo_compile.debugging.errors import BadTrait, DebugModeError
from occelo_graph import Apply, Constant, Op, Type, Variable, evaluate
from occelo_graph.errors import MethodNotDefined, lines
from occelo_graph.ir.decomposing import decomposed_kernel
from occelo_graph.ops.batching import parse_signature
from occelo_graph.ops.elemwise.declared import contradicted


class Seen:
    """A node, with the values of its inputs and outputs in one call."""

    def __init__(self, node: Apply, inputs: Sequence[Any], outputs: Sequence[Any]) -> None:
        self.node = node
        self.op: Op = node.op
        self.inputs = inputs
        self.outputs = outputs

    def run(self, inputs: Sequence[Any]) -> Sequence[Any]:
        """Run the op on other inputs, which it cannot change. Returns the outputs."""
        copies = [copied(v.type, a) for v, a in zip(self.node.inputs, inputs, strict=True)]
        with np.errstate(all="ignore"):
            return self.op.kernel(self.node)(*copies)

    def positions(self, which: slice) -> range:
        """Return the positions of the inputs that a trait's slice selects."""
        return range(len(self.inputs))[which]

    def replaced(self, which: Iterable[int], function: Callable[[Any], Any]) -> list[Any]:
        """Return the inputs, after applying a function to those at the positions ``which``."""
        changed = list(self.inputs)
        for i in which:
            changed[i] = np.asarray(function(changed[i])).astype(changed[i].dtype)
        return changed

    def differing(self, found: Sequence[Any], expected: Sequence[Any]) -> int | None:
        """Return the position of the first output whose two values differ by more than rounding, or None if none
        differs.
        """
        kinds = _types(self.node.outputs)
        for k, (kind, one, other) in enumerate(zip(kinds, expected, found, strict=True)):
            if not agree(kind, one, other):
                return k
        return None


_Contradictions = Iterator[str]


def check_traits(node: Apply, inputs: Sequence[Any], outputs: Sequence[Any]) -> str | None:
    """Return a text about the first trait of the node's op that the values contradict, or None if there is none.

    The text names the op, the trait and the values that contradict it.
    """
    seen = Seen(node, inputs, outputs)
    op = node.op
    again = op.pure and not (op.observes or op.lazy or op.loops or op.destroy_map)
    for name, search in (*_READ.items(), *(_RUN.items() if again else ())):
        for problem in search(seen):
            return f"{op} declares {name}, and {problem}" if name else f"{op} declares {problem}"
    return None


def raise_for_traits(
    node: Apply, inputs: Sequence[Any], outputs: Sequence[Any], context: Callable[[], Sequence[str]]
) -> None:
    """Raise `BadTrait` if `check_traits` finds a contradiction. The message is ``context`` and then the text."""
    cause = check_traits(node, inputs, outputs)
    if cause is not None:
        raise BadTrait(lines([*context()], cause))


def _types(variables: Sequence[Variable]) -> list[Type]:
    return [v.type for v in variables]


def _results(seen: Seen, inputs: Sequence[Any], what: str) -> Sequence[Any] | str:
    """Return the results for other inputs, or a text if the op raises an error."""
    try:
        return seen.run(inputs)
    except Exception as error:
        return f"{what} it raises {type(error).__name__}: {str(error).splitlines()[-1]}"


def _compared(
    seen: Seen, inputs: Sequence[Any], expected: Sequence[Any], what: str
) -> _Contradictions:
    results = _results(seen, inputs, what)
    if isinstance(results, str):
        yield results
        return
    k = seen.differing(results, expected)
    if k is not None:
        yield f"{what} output {k} is {short(results[k])}, not {short(expected[k])}"


# searches that only read the values of the call


def _infer_shape(seen: Seen) -> _Contradictions:
    if not seen.op.has_infer_shape or not all(map(is_array, seen.inputs)):
        return
    values = dict(zip(seen.node.inputs, seen.inputs, strict=True))
    try:
        shapes = seen.op.shapes(seen.node, [a.shape for a in seen.inputs])
        for k, (shape, value) in enumerate(zip(shapes, seen.outputs, strict=True)):
            if shape is None or not is_array(value):
                continue
            inferred = tuple(
                int(evaluate(n, values)) if isinstance(n, Variable) else int(n) for n in shape
            )
            if inferred != value.shape:
                listed = ", ".join(str(a.shape) for a in seen.inputs)
                yield f"for inputs of shape {listed} it gives {inferred} for output {k}, which has shape {value.shape}"
    except MethodNotDefined:
        return
    except DebugModeError:
        raise
    except Exception as error:
        yield f"it raises {type(error).__name__}: {str(error).splitlines()[-1]}"


def _gufunc_signature(seen: Seen) -> _Contradictions:
    declared = seen.op.gufunc_signature
    if declared is None:
        return
    lengths: dict[str, int] = {}
    try:
        sides = parse_signature(declared)
    except ValueError as error:
        yield f"that is {str(error)[0].lower()}{str(error)[1:]}"
        return
    for names, values, side in zip(
        sides, (seen.inputs, seen.outputs), ("input", "output"), strict=True
    ):
        if len(names) != len(values):
            yield f"there are {len(values)} {side}s"
            return
        for i, (own, value) in enumerate(zip(names, values, strict=True)):
            shape = np.shape(value)
            if len(shape) != len(own) or any(
                lengths.setdefault(str(name), n) != n for name, n in zip(own, shape, strict=True)
            ):
                yield f"{side} {i} has shape {shape}"
                return


def _identity_at_runtime(seen: Seen) -> _Contradictions:
    if seen.op.identity_at_runtime and not same(
        seen.node.outputs[0].type, seen.inputs[0], seen.outputs[0]
    ):
        yield f"output 0 is {short(seen.outputs[0])}, and input 0 {short(seen.inputs[0])}"


def _observes(seen: Seen) -> _Contradictions:
    if not seen.op.observes:
        return
    for k, sources in seen.op.view_map.items():
        for i in sources:
            if not same(seen.node.outputs[k].type, seen.inputs[i], seen.outputs[k]):
                yield f"output {k} is {short(seen.outputs[k])}, and input {i} {short(seen.inputs[i])}"


def _outputs_are_results(seen: Seen) -> _Contradictions:
    op, node = seen.op, seen.node
    if not op.outputs_are_results:
        return
    operands = [seen.inputs[i] for i in op.operands(node)]
    for region in op.chosen(node, operands):
        for k, i in enumerate(region.results):
            if not same(node.outputs[k].type, seen.inputs[i], seen.outputs[k]):
                yield f"output {k} is not input {i}, the result of the chosen region"


def _plain_nodes(seen: Seen) -> _Contradictions:
    op, node = seen.op, seen.node
    if not op.plain_nodes or not op.external_code:
        return
    for k, (variable, kind) in enumerate(
        zip(node.outputs, op.types_for(node.inputs), strict=False)
    ):
        if not (kind.is_super(variable.type) or variable.type.is_super(kind)):
            yield f"output {k} is of type {variable.type}, and infer gives {kind}"


def _elements_moved(seen: Seen) -> _Contradictions:
    if seen.op.moves is None:
        return
    pool = [np.ravel(seen.inputs[i]) for i in seen.positions(seen.op.moves)]
    if not pool or not all(map(is_array, (*seen.inputs, *seen.outputs))):
        return
    elements = np.concatenate(pool)
    for k, value in enumerate(seen.outputs):
        # the table that NumPy 2.0 makes for integers fails for the largest of uint64
        is_input = np.isin(value, elements, kind="sort") | (value == 0)
        if value.dtype.kind in "fc" and np.isnan(elements).any():
            is_input |= np.isnan(value)
        if not is_input.all():
            yield f"output {k} has the element {value[~is_input][0]}, which these inputs do not have"


def _scalar_traits(seen: Seen) -> _Contradictions:
    if seen.op.elementwise:
        scalar_op: Any = getattr(seen.op, "scalar_op", None)
        yield from contradicted(scalar_op, seen.inputs, seen.outputs)


# searches that run the op on other values


def _pure(seen: Seen) -> _Contradictions:
    if seen.op.external_code:
        yield from _compared(seen, seen.inputs, seen.outputs, "on the same inputs again")


def _commutative(seen: Seen) -> _Contradictions:
    if not seen.op.commutative or len(seen.inputs) < 2:
        return
    node = seen.op.make_node(*seen.node.inputs[::-1])
    if _types(node.outputs) == _types(seen.node.outputs):
        turned = Seen(node, seen.inputs[::-1], seen.outputs)
        yield from _compared(turned, turned.inputs, seen.outputs, "with the inputs in reverse")


def _only_moves(seen: Seen) -> _Contradictions:
    """For an op with the trait ``moves``: negated inputs must give negated results.

    ``moves`` declares that the op only moves elements.
    """
    if seen.op.moves is None or not all(map(is_array, (*seen.inputs, *seen.outputs))):
        return
    which = seen.positions(seen.op.moves)
    kinds = {seen.inputs[i].dtype for i in which} | {value.dtype for value in seen.outputs}
    if len(kinds) == 1 and next(iter(kinds)).kind in "uifc":
        # of an array without dimensions NumPy makes a number, which is not compared as an array
        negative = [np.asarray(np.negative(value)) for value in seen.outputs]
        yield from _compared(
            seen, seen.replaced(which, np.negative), negative, "for the negatives of its elements"
        )


def _by_parts(seen: Seen) -> _Contradictions:
    which = seen.op.numbers()
    if which is None or not all(map(is_array, (*seen.inputs, *seen.outputs))):
        return
    numbers = seen.positions(which)
    if not numbers or not all(seen.inputs[i].dtype.kind == "c" for i in numbers):
        return
    for what, of in (("for the real parts", np.real), ("for the imaginary parts", np.imag)):
        results = _results(seen, seen.replaced(numbers, of), what)
        if isinstance(results, str):
            yield results
            continue
        for k, (whole, own) in enumerate(zip(seen.outputs, results, strict=True)):
            expected = of(whole).astype(own.dtype) if own.dtype.kind == "c" else whole
            if (own.dtype.kind == "c" or of is np.real) and not agree(
                seen.node.outputs[k].type, expected, own
            ):
                yield f"{what} output {k} is {short(own)}, not {short(expected)}"


def _of_shapes(seen: Seen) -> _Contradictions:
    if seen.op.of_shapes and all(map(is_array, seen.inputs)):
        for function, what in (
            (np.zeros_like, "for zeros of the same shapes"),
            (np.ones_like, "for ones of the same shapes"),
        ):
            inputs = seen.replaced(range(len(seen.inputs)), function)
            yield from _compared(seen, inputs, seen.outputs, what)


def _linear_in(seen: Seen) -> _Contradictions:
    if not all(map(is_array, (*seen.inputs, *seen.outputs))):
        return
    for group in seen.op.linear_in(seen.node):
        which = seen.positions(group)
        if not which or not all(seen.inputs[i].dtype.kind in "fc" for i in which):
            continue
        if not all(value.dtype.kind in "fc" and np.isfinite(value).all() for value in seen.outputs):
            continue
        names = f"inputs {', '.join(map(str, which))}"
        yield from _linear(seen, which, names)


def _largest(array: Any) -> float:
    """Return the largest absolute value of the finite elements, or 0 if there are none."""
    return float(np.abs(array[np.isfinite(array)]).max(initial=0))


def _linear(seen: Seen, which: Sequence[int], names: str) -> _Contradictions:
    # rounding errors are relative to the inputs and to their products, not to the results, since terms may cancel
    factor = max(
        (_largest(a) for i, a in enumerate(seen.inputs) if i not in which and a.dtype.kind in "fc"),
        default=1.0,
    )
    size = max(
        *(_largest(v) for v in seen.outputs),
        *(_largest(seen.inputs[i]) * max(1.0, factor) for i in which),
    )

    # other inputs have elements of about 1, however small these are
    others = 16.0 * max(1.0, factor) * max(seen.inputs[i].size for i in which)

    def near(found: Any, expected: Any) -> bool:
        if found.shape != expected.shape:
            return False
        if not (np.isfinite(found).all() and np.isfinite(expected).all()):
            return True
        largest = size + max(map(_largest, (found, expected)))
        eps = float(np.finfo(found.dtype).eps)
        rounded = eps**0.5 * largest + eps * others
        return np.allclose(found, expected, rtol=0, atol=rounded)

    def other(array: Any) -> Any:
        return np.roll(array, 1) * 0.5 + np.linspace(-1.0, 1.0, array.size).reshape(array.shape)

    twice = _results(seen, seen.replaced(which, lambda a: a * -2), f"for {names} times -2")
    rest = _results(seen, seen.replaced(which, other), f"for other {names}")
    total = _results(
        seen, seen.replaced(which, lambda a: a + other(a)), f"for the sum of other {names}"
    )
    if isinstance(twice, str) or isinstance(rest, str) or isinstance(total, str):
        yield next(text for text in (twice, rest, total) if isinstance(text, str))
        return
    for k, value in enumerate(seen.outputs):
        if not near(twice[k], value * -2):
            yield f"for {names} times -2 output {k} is {short(twice[k])}, not {short(value * -2)}"
        if not near(total[k], value + rest[k]):
            yield (
                f"for a sum of {names} output {k} is {short(total[k])}, "
                f"and the sum of the results {short(value + rest[k])}"
            )


def _types_follow_values(seen: Seen) -> _Contradictions:
    op, rest = seen.op.specialized(seen.node.inputs)
    if op is seen.op:
        return
    by_variable = dict(zip(seen.node.inputs, seen.inputs, strict=True))
    values = [v.data if isinstance(v, Constant) else by_variable[v] for v in rest]
    narrow = Seen(op.make_node(*rest), values, seen.outputs)
    yield from _compared(narrow, values, seen.outputs, f"{op}, to which it specializes, differs:")


def _decompose(seen: Seen) -> _Contradictions:
    if not seen.op.has_decompose or not seen.op.external_code:
        return
    kernel = decomposed_kernel(seen.node)
    if kernel is None:
        return
    copies = [copied(v.type, a) for v, a in zip(seen.node.inputs, seen.inputs, strict=True)]
    with np.errstate(all="ignore"):
        results = kernel(*copies)
    for k, (variable, value) in enumerate(zip(seen.node.outputs, seen.outputs, strict=True)):
        if not agree(variable.type, value, results[k], stable=True):
            yield f"by it output {k} is {short(results[k])}, not {short(value)}"


_READ: dict[str, Callable[[Seen], _Contradictions]] = {
    "infer_shape": _infer_shape,
    "gufunc_signature": _gufunc_signature,
    "identity_at_runtime": _identity_at_runtime,
    "observes": _observes,
    "outputs_are_results": _outputs_are_results,
    "plain_nodes": _plain_nodes,
    "moves": _elements_moved,
    "": _scalar_traits,
}
"""Maps a trait to the function that looks for contradictions in the values of a call, without running the op again.

The key "" stands for several traits, which one function checks. Its texts begin with the name of the trait.
"""
_RUN: dict[str, Callable[[Seen], _Contradictions]] = {
    "pure": _pure,
    "commutative": _commutative,
    "of_shapes": _of_shapes,
    "moves": _only_moves,
    "linear_in": _linear_in,
    "by_parts": _by_parts,
    "types_follow_values": _types_follow_values,
    "decompose": _decompose,
}
"""Maps a trait to the function that runs the op again on other values.

Only pure ops are run again, and only if they are not lazy, run no loop, observe nothing and overwrite nothing.
"""
