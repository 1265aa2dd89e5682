"""The derivatives of `Scan`, which the methods of `Scan` call: `pulled`, `pushed` and `connections`.

The pushforward is a scan that also carries tangents. The pullback is a scan in the opposite direction that carries
cotangents.

The pullback of a step reads the carried values before the step, and perhaps results of the step. A second scan keeps
these values as traces. It has the same steps as the differentiated scan, so rewriting merges the two. All other
intermediate values of a step are computed again, unless rules keep them (`rules.sharing`, `rules.keeping`). So a gradient needs memory for the values that are kept of one step,
times the number of steps.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from occelo_graph.fgraph.frozen import FrozenFunctionGraph, freeze
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.gradient.forward import pushforward
from occelo_graph.gradient.pulling import cotangent_dtype
from occelo_graph.gradient.reverse import pullback
from occelo_graph.ir.clone import clone_replace
from occelo_graph.ir.known_values import known_integer
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangent
from occelo_graph.ir.traversal import ancestors, toposort
from occelo_graph.ir.types import NullType
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.elemwise.arithmetic import add, le, minimum, switch
from occelo_graph.ops.index.subtensor import set_fitting
from occelo_graph.ops.shape.asserting import specify_shape
from occelo_graph.ops.shape.reading import length_read
from occelo_graph.tensors.nodes import is_tensor, tensors
from occelo_loops.ops.building.bodies import Step, scan_node
from occelo_loops.ops.state_rows import lengths_of_cotangents, rows_instead_of_states

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable
    from occelo_loops.ops.scan_op import Scan

# dependence of outputs on inputs


def _reaches(body: FrozenFunctionGraph) -> list[set[int]]:
    """For each output of a body, the positions of the inputs on which it depends, for gradients."""
    reached: dict[Variable, set[int]] = {v: {i} for i, v in enumerate(body.inputs)}
    for node in body.nodes:
        pattern = node.op.connection_pattern(node)
        for k, out in enumerate(node.outputs):
            sets = (
                reached.get(v, set[int]())
                for v, row in zip(node.inputs, pattern, strict=True)
                if row[k]
            )
            reached[out] = set[int]().union(*sets)
    return [reached.get(v, set[int]()) for v in body.outputs]


def connections(op_: Scan, node: Apply) -> list[list[bool]]:
    """The result of `Op.connection_pattern` for a node of `Scan`. It does not depend on the number of steps."""
    direct = _reaches(op_.body)[: op_.carried + op_.traces]
    closed = [{*r, j} if j < op_.carried else set(r) for j, r in enumerate(direct)]
    changed = True
    while changed:
        changed = False
        for reached in closed:
            more = set[int]().union(*(closed[i] for i in reached if i < op_.carried)) - reached
            if more:
                reached |= more
                changed = True
    rows = [[False] * len(node.outputs)]
    for i in range(len(node.inputs) - 1):
        row = [i in reached for reached in closed]
        rows.append([*row, False] if op_.stops else row)
    return rows


# reverse mode


@frozen_dataclass(eq=False)
class _Step:
    """A copy of the body, and the cotangents of its inputs.

    ``seeds_of_carried`` and ``seeds_of_traces`` map positions of outputs to variables for the cotangents of these
    outputs.
    """

    arguments: list[Variable]
    results: list[Variable]
    seeds_of_carried: dict[int, Variable]
    seeds_of_traces: dict[int, Variable]
    cts: list[Any]
    """The cotangent of each input, as a graph of the inputs and the seeds. None if the input is not connected."""

    @property
    def seeds(self) -> set[Variable]:
        """The variables for all cotangents of outputs."""
        return {*self.seeds_of_carried.values(), *self.seeds_of_traces.values()}


def _is_null(cotangent: Any) -> bool:
    return isinstance(cotangent, Variable) and isinstance(cotangent.type, NullType)


def _with_lengths_of(like: Variable, value: Variable) -> Variable:
    """``value`` with a check that it has the static lengths of ``like``, if its own type lacks them.

    The result of a step may have static lengths that its initial value, and so the carried cotangent, has not.
    """
    return specify_shape(value, like.type.shape) if is_tensor(like) else value


def _seed(variable: Variable) -> Variable:
    """A new variable for the cotangent of the tensor ``variable``."""
    (tensor,) = tensors([variable])
    return tensor.type.clone(dtype=cotangent_dtype(tensor)).make_variable()


def _live_carried(op_: Scan, carried: set[int], traces: set[int]) -> set[int]:
    """The positions of the carried values that may have a cotangent other than zero before some step.

    ``carried`` and ``traces`` are the positions of the final carried values, and of the traces, that have a cotangent.
    """
    reaches = _reaches(op_.body)
    usable = {
        i
        for i, v in enumerate(op_.body.inputs[: op_.carried])
        if is_tensor(v) and not v.type.is_discrete
    }
    live = carried & usable
    for k in traces:
        live |= reaches[op_.carried + k] & usable
    while True:
        more = set[int]().union(*(reaches[j] for j in live)) & usable if live else set[int]()
        if more <= live:
            return live
        live |= more


def _one_step(op_: Scan, inputs: Sequence[Variable], carried: set[int], traces: set[int]) -> _Step:
    arguments = [v.type.make_variable() for v in op_.body.inputs]
    results = op_.body.bind(arguments)
    of_carried = {j: _seed(results[j]) for j in sorted(carried)}
    of_traces = {k: _seed(results[op_.carried + k]) for k in sorted(traces)}
    outputs = [results[j] for j in of_carried] + [results[op_.carried + k] for k in of_traces]
    cts: list[Any] = pullback(
        outputs,
        arguments,
        [*of_carried.values(), *of_traces.values()],
        disconnected_inputs="ignore",
        return_disconnected="none",
        null_gradients="return",
    )
    cts = lengths_of_cotangents(op_, inputs, arguments, of_carried, cts)
    return _Step(arguments, results, of_carried, of_traces, cts)


def pulled(
    op_: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable], cotangents: Sequence[Any]
) -> list[Any]:
    """The pullback of a node of `Scan`: the cotangents of its inputs, from the cotangents of its outputs."""
    carried_cts = list(cotangents[: op_.carried])
    trace_cts = list(cotangents[op_.carried : op_.carried + op_.traces])
    live_cts = {j for j, c in enumerate(carried_cts) if c is not None and c is not ZERO}
    traced = {k for k, c in enumerate(trace_cts) if c is not None and c is not ZERO}
    live = _live_carried(op_, live_cts, traced)
    if not op_.bounded and (live or traced):
        raise NotImplementedError(
            "A while_loop without max_steps has no gradient in reverse mode, which keeps the states of all steps: give "
            "max_steps, or use pushforward"
        )
    step = _one_step(op_, inputs, live, traced)
    return _Backwards(op_, inputs, outputs, step).run(carried_cts, trace_cts)


class _Backwards:
    """Makes the scan that carries cotangents, for a node of `Scan`.

    It goes through the steps in the opposite direction. It carries the cotangents of carried values, and for each
    constant the sum of its cotangents. The cotangents of elements of sequences are traces.
    """

    def __init__(
        self, op_: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable], step: _Step
    ) -> None:
        self.op = op_
        self.inputs = inputs
        self.outputs = outputs
        self.step = step
        first, last = op_.carried, op_.carried + op_.sequences
        usable = [
            i
            for i, g in enumerate(step.cts)
            if isinstance(g, Variable) and not isinstance(g.type, NullType)
        ]
        self.of_elements = [i for i in usable if first <= i < last]
        self.of_constants = [i for i in usable if i >= last]
        cts = [step.cts[i] for i in usable if i in step.seeds_of_carried or i >= first]
        self.results = self._results_read(cts)
        stops = [step.results[j] for j in self.results]
        self.drawn = self._computed_from_states(cts, stops)
        needed = set(ancestors(cts, [*stops, *self.drawn]))
        self.drawn = [v for v in self.drawn if v in needed]
        states = tensors(step.arguments[:first])
        self.rows = rows_instead_of_states(states, cts, [*stops, *self.drawn], step.seeds)
        needed = set(ancestors(cts, [*stops, *self.drawn, *self.rows]))
        self.kept = [i for i in range(first) if step.arguments[i] in needed]
        self.read = [i for i in range(first, last) if step.arguments[i] in needed]

    def _results_read(self, cts: Sequence[Variable]) -> list[int]:
        """The positions of the body's outputs that the cotangents ``cts`` read. They are kept in traces."""
        op_, results = self.op, self.step.results
        needed = set(ancestors(cts))
        positions: dict[Variable, int] = {}
        # traces first: if a variable is both a trace and a carried value, it is kept anyway
        order = [*range(op_.carried, op_.carried + op_.traces), *range(op_.carried)]
        for j in order:
            result = results[j]
            if result in needed and result.owner is not None and is_tensor(result):
                positions.setdefault(result, j)
        return sorted(positions.values())

    def _computed_from_states(
        self, cts: Sequence[Variable], stops: Sequence[Variable]
    ) -> list[Variable]:
        """The tensors that derivatives of a step read, and that the step computes from carried values that are not
        tensors.

        Draws with a generator are such tensors. They cannot be computed again, since the states of the generator are
        not tensors and so are not kept in traces. Therefore the draws themselves are kept in traces. ``stops`` are
        variables that are kept already.
        """
        op_, step = self.op, self.step
        states = {v for v in step.arguments[: op_.carried] if not is_tensor(v)}
        if not states:
            return []
        computed: list[Variable] = []
        seeds = step.seeds
        for node in toposort([*step.results, *cts]):
            if not seeds.isdisjoint(node.inputs):
                seeds.update(node.outputs)
            elif not states.isdisjoint(node.inputs):
                states.update(v for v in node.outputs if not is_tensor(v))
                computed += [v for v in node.outputs if is_tensor(v)]
        needed = set(ancestors(cts, [*stops, *computed]))
        return [v for v in computed if v in needed and v not in stops]

    # the steps that are differentiated

    def _window(self) -> tuple[Any, Any, Any]:
        """The number of steps to differentiate, and the slices of traces and of sequences for these steps."""
        op_, steps = self.op, self.inputs[0]
        done: Any = self.outputs[-1] if op_.stops else steps
        number = done if op_.truncate is None else minimum(done, op_.truncate)
        whole = op_.truncate is None
        if op_.reverse:
            # the last steps read the first elements
            of_traces = slice(None) if whole else slice(number)
            start = steps - done
            of_sequences = slice(start, start + number) if op_.stops else slice(number)
        else:
            of_traces = slice(None) if whole else slice(done - number, done)
            of_sequences = slice(None if whole else done - number, done)
        return number, of_traces, of_sequences

    def _elements(self, position: int, at: slice) -> TensorVariable:
        """The elements ``at`` of the sequence at ``position``, perhaps followed by elements that no step reads."""
        (sequence,) = tensors([self.inputs[1 + position]])
        from_start = at.start is None or (isinstance(at.start, int) and at.start == 0)
        return sequence if from_start else sequence[at]

    def _is_whole(self, sequence: Variable) -> bool:
        """Whether a sequence is known to have exactly as many elements as there are steps to differentiate."""
        if self.op.stops or self.op.truncate is not None:
            return False
        read, (tensor,) = length_read(self.inputs[0]), tensors([sequence])
        number = known_integer(self.inputs[0])
        if number is not None and number == tensor.type.shape[0]:
            return True
        return read is not None and read[0] is sequence and read[1] == 0

    # the scan

    def _kept_values(self) -> list[Variable]:
        """Traces of the values that derivatives of a step read, from a scan with the same steps and further traces."""
        op_, step = self.op, self.step
        more = [step.arguments[i] for i in self.kept] + [step.results[j] for j in self.results]
        more += [*self.drawn, *self.rows]
        if not more:
            return []
        middle = op_.carried + op_.traces
        results = [*step.results[:middle], *more, *step.results[middle:]]
        keeping = replace(op_, body=freeze(step.arguments, results))
        outputs: list[Variable] = keeping(*self.inputs, return_list=True)
        return outputs[middle : middle + len(more)]

    def run(self, carried_cts: Sequence[Any], trace_cts: Sequence[Any]) -> list[Any]:
        op_, step = self.op, self.step
        number, of_traces, of_sequences = self._window()
        first, last = op_.carried, op_.carried + op_.sequences
        live = list(step.seeds_of_carried)
        start = [_filled(carried_cts[j], self.outputs[j]) for j in live]
        sums = [
            zeros_like(self.inputs[1 + i], dtype=step.cts[i].type.dtype) for i in self.of_constants
        ]
        traced = list(step.seeds_of_traces)
        values = tensors(self._kept_values())
        sequences: list[Any] = [
            *(v if op_.truncate is None else v[of_traces] for v in values),
            *(self._elements(i, of_sequences) for i in self.read),
            *(trace_cts[k] if op_.truncate is None else trace_cts[k][of_traces] for k in traced),
        ]
        constants = list(self.inputs[1 + last :])
        _, outputs = scan_node(
            self._back,
            number,
            [*start, *sums],
            sequences,
            constants,
            reverse=not op_.reverse,
            name=f"gradient of {op_.name}" if op_.name else None,
            names=[
                *(f"The cotangent of carried value {j}" for j in live),
                *("A sum of cotangents" for _ in sums),
            ],
        )
        pulled_carried = dict(zip(live, outputs, strict=False))
        pulled_sums = dict(zip(self.of_constants, outputs[len(live) :], strict=False))
        pulled_elements = dict(
            zip(self.of_elements, outputs[len(live) + len(sums) :], strict=False)
        )
        return [
            None,
            *(self._of_initial(i, pulled_carried, carried_cts, number) for i in range(first)),
            *(
                self._of_sequence(i, pulled_elements[i], of_sequences)
                if i in pulled_elements
                else self._other(i)
                for i in range(first, last)
            ),
            *(
                pulled_sums[i] if i in pulled_sums else self._other(i)
                for i in range(last, len(step.arguments))
            ),
        ]

    def _other(self, position: int) -> Any:
        """The cotangent of an input for which the scan computes none: an undefined cotangent, or None."""
        ct = self.step.cts[position]
        return ct if _is_null(ct) else None

    def _back(
        self, carried: list[Variable], elements: list[Variable], constants: list[Variable]
    ) -> Step:
        """A step of the scan that carries cotangents: the function that `scan_node` calls."""
        step = self.step
        live = list(step.seeds_of_carried)
        traced = list(step.seeds_of_traces)
        values = [step.arguments[i] for i in self.kept] + [step.results[j] for j in self.results]
        values += [*self.drawn, *self.rows]
        count, read = len(values), len(self.read)
        last = self.op.carried + self.op.sequences
        pairs: dict[Variable, Variable] = {
            **{step.seeds_of_carried[j]: v for j, v in zip(live, carried, strict=False)},
            **dict(zip(values, elements, strict=False)),
            **{step.arguments[i]: v for i, v in zip(self.read, elements[count:], strict=False)},
            **{
                step.seeds_of_traces[k]: v
                for k, v in zip(traced, elements[count + read :], strict=True)
            },
            **dict(zip(step.arguments[last:], constants, strict=True)),
        }
        positions = [
            *(j for j in live if isinstance(step.cts[j], Variable)),
            *self.of_constants,
            *self.of_elements,
        ]
        bound: list[Any] = clone_replace(
            [step.cts[i] for i in positions],
            [(old, _with_lengths_of(old, new)) for old, new in pairs.items()],
            rebuild_strict=False,
        )
        by_position = dict(zip(positions, bound, strict=True))
        following: list[Any] = [
            by_position[j] if j in by_position else zeros_like(v)
            for j, v in zip(live, carried, strict=False)
        ]
        sums = [
            add(total, by_position[i])
            for i, total in zip(self.of_constants, carried[len(live) :], strict=True)
        ]
        return Step([*following, *sums], [by_position[i] for i in self.of_elements])

    # cotangents of the inputs

    def _of_initial(
        self, position: int, pulled: dict[int, Any], carried_cts: Sequence[Any], number: Any
    ) -> Cotangent:
        if position not in pulled:
            null = self._other(position)
            if null is not None:
                return null
            return ZERO if carried_cts[position] is not None else None
        if self.op.truncate is None:
            return pulled[position]
        # values before the differentiated steps count as constants, and so do the initial values
        done: Any = self.outputs[-1] if self.op.stops else self.inputs[0]
        value = pulled[position]
        whole: Variable = switch(le(done, number), value, zeros_like(value))
        return whole

    def _of_sequence(self, position: int, ct: Any, at: slice) -> Variable:
        (sequence,) = tensors([self.inputs[1 + position]])
        if self._is_whole(sequence):
            return ct
        return set_fitting(zeros_like(sequence, dtype=ct.dtype)[at], ct)


def _filled(cotangent: Any, variable: Variable) -> Any:
    if cotangent is None or cotangent is ZERO:
        return zeros_like(variable, dtype=cotangent_dtype(variable))
    return cotangent


# forward mode


def pushed(
    op_: Scan, inputs: Sequence[Variable], outputs: Sequence[Variable], tangents: Sequence[Any]
) -> list[Any]:
    """The pushforward of a node of `Scan`: the tangents of its outputs, from the tangents of its inputs."""
    moving = {i for i, t in enumerate(tangents[1:]) if t is not None and t is not ZERO}
    reaches = _reaches(op_.body)
    usable = {i for i, v in enumerate(op_.body.inputs) if is_tensor(v) and not v.type.is_discrete}
    live = moving & usable
    while True:
        more = {j for j in range(op_.carried) if reaches[j] & live} & usable
        if more <= live:
            break
        live |= more
    if not live:
        return [None] * len(outputs)
    return _Forwards(op_, inputs, sorted(live)).run(list(tangents[1:]), reaches)


class _Forwards:
    """Makes the scan that carries values and tangents, for a node of `Scan`.

    ``live`` are the positions of the body's inputs that have tangents.
    """

    def __init__(self, op_: Scan, inputs: Sequence[Variable], live: Sequence[int]) -> None:
        self.op = op_
        self.inputs = inputs
        first, last = op_.carried, op_.carried + op_.sequences
        self.carried = [i for i in live if i < first]
        self.elements = [i for i in live if first <= i < last]
        self.constants = [i for i in live if i >= last]

    def run(self, tangents: Sequence[Any], reaches: Sequence[set[int]]) -> list[Any]:
        op_, inputs = self.op, self.inputs
        live = {*self.carried, *self.elements, *self.constants}
        self.traces = [k for k in range(op_.traces) if reaches[op_.carried + k] & live]
        parts = op_.parts(inputs[1:])

        def of(positions: Sequence[int]) -> list[Any]:
            return [_filled(tangents[i], inputs[1 + i]) for i in positions]

        _, outputs = scan_node(
            self._step,
            inputs[0],
            [*parts.carried, *of(self.carried)],
            [*parts.sequences, *of(self.elements)],
            [*parts.constants, *of(self.constants)],
            reverse=op_.reverse,
            truncate=op_.truncate,
            bounded=op_.bounded,
            name=op_.name,
        )
        first = op_.carried
        by_carried = dict(zip(self.carried, outputs[first:], strict=False))
        by_trace = dict(zip(self.traces, outputs[first + len(self.carried) :], strict=False))
        results = [by_carried.get(j) for j in range(first)]
        results += [by_trace.get(k) for k in range(op_.traces)]
        return [*results, None] if op_.stops else results

    def _step(
        self, carried: list[Variable], elements: list[Variable], constants: list[Variable]
    ) -> Step:
        op_ = self.op
        arguments = [
            *carried[: op_.carried],
            *elements[: op_.sequences],
            *constants[: len(op_.body.inputs) - op_.carried - op_.sequences],
        ]
        tangents = [
            *carried[op_.carried :],
            *elements[op_.sequences :],
            *constants[len(arguments) - op_.carried - op_.sequences :],
        ]
        # differentiates with respect to new variables, since an input of the body may also be an output
        inner = [v.type.make_variable() for v in op_.body.inputs]
        results = op_.body.bind(inner)
        wrt = [inner[i] for i in (*self.carried, *self.elements, *self.constants)]
        seeds = [v.type.make_variable() for v in tangents]
        outputs = [results[j] for j in self.carried]
        outputs += [results[op_.carried + k] for k in self.traces]
        moved = pushforward(outputs, wrt, seeds, disconnected_outputs="ignore")
        pairs = [*zip(inner, arguments, strict=True), *zip(seeds, tangents, strict=True)]
        copies: list[Any] = clone_replace([*results, *moved], pairs)
        values, pushed_values = copies[: len(results)], copies[len(results) :]
        count = len(self.carried)
        return Step(
            [*values[: op_.carried], *pushed_values[:count]],
            pushed_values[count:],
            values[-1] if op_.stops else None,
        )
