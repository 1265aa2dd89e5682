"""The rule that removes unused parts from a scan: traces, carried values, sequences and constants.

`pipeline` puts it into the stage canonicalize.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from occelo_graph import Apply, FunctionGraph, Variable, ancestors, freeze
from occelo_graph.tensors.nodes import tensors
from occelo_loops.ops.expansion import checked_steps
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter


@node_rewriter([Scan])
def unused_of_scan(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """A scan = the scan without traces that nothing reads, and without carried values and inputs that no result needs.

    Equal traces are computed once. If two sequences or two constants are the same variable, the scan reads it once. A
    dropped sequence must still have an element for each step, so a check of its length remains.
    """
    plan = _Plan(fgraph, node)
    return plan.replacement() if plan.changes else None


class _Plan:
    """The carried values, inputs and traces that a scan needs, and the smaller scan that has only these."""

    def __init__(self, fgraph: FunctionGraph, node: Apply[Scan]) -> None:
        self.node = node
        op_ = self.op = node.op
        self.arguments = op_.body.inputs
        results = op_.body.outputs
        used = [bool(fgraph.clients.get(v)) for v in node.outputs]
        first = op_.carried
        self.traces = self._first_of_equal([k for k in range(op_.traces) if used[first + k]])
        carried = {j for j in range(first) if used[j]}
        roots: list[Variable] = [results[first + k] for k in self.traces]
        roots += results[first + op_.traces :]
        needed = self._needed(roots, carried, results)
        self.carried = sorted(carried)
        inputs = node.inputs
        self.first_of: dict[int, int] = {}
        read: list[int] = []
        seen: dict[tuple[bool, Variable], int] = {}
        for i in range(first, len(self.arguments)):
            if self.arguments[i] not in needed:
                continue
            key = (i < first + op_.sequences, inputs[1 + i])
            if key in seen and self.arguments[seen[key]].type == self.arguments[i].type:
                self.first_of[i] = seen[key]
            else:
                seen[key] = i
                read.append(i)
        self.read = read

    def _first_of_equal(self, positions: Sequence[int]) -> list[int]:
        """The positions of the first trace in each set of equal traces."""
        read: dict[Variable, int] = {}
        self.same_trace: dict[int, int] = {}
        for k in positions:
            result = self.op.body.outputs[self.op.carried + k]
            self.same_trace[k] = read.setdefault(result, k)
        return sorted(set(self.same_trace.values()))

    def _needed(
        self, roots: list[Variable], carried: set[int], results: Sequence[Variable]
    ) -> set[Variable]:
        """The variables of the body that ``roots`` and the needed carried values depend on.

        The positions of all needed carried values are added to ``carried``.
        """
        while True:
            needed = set(ancestors([*roots, *(results[j] for j in carried)]))
            more = {j for j in range(self.op.carried) if self.arguments[j] in needed} - carried
            if not more:
                return needed
            carried |= more

    @property
    def changes(self) -> bool:
        """Whether the scan has a part that is not needed."""
        op_ = self.op
        return (
            len(self.carried) < op_.carried
            or len(self.traces) < op_.traces
            or len(self.read) < len(self.arguments) - op_.carried
        )

    def replacement(self) -> dict[Variable, Variable]:
        """A dict from the needed outputs of the scan to the outputs of the smaller scan."""
        op_, node = self.op, self.node
        inner = [v.type.make_variable() for v in self.arguments]
        for i, j in self.first_of.items():
            inner[i] = inner[j]
        bound = op_.body.bind(inner)
        first = op_.carried
        chosen = [*self.carried, *self.read]
        traced = [first + k for k in self.traces]
        body = freeze(
            [inner[i] for i in chosen],
            [
                *(bound[j] for j in (*self.carried, *traced)),
                *bound[first + op_.traces :],
            ],
        )
        sequences = sum(i < first + op_.sequences for i in self.read)
        smaller = replace(op_, body=body, carried=len(self.carried), sequences=sequences)
        outputs = smaller(self._steps(), *(node.inputs[1 + i] for i in chosen), return_list=True)
        replaced = dict(zip((node.outputs[j] for j in self.carried), outputs, strict=False))
        by_trace = dict(zip(self.traces, outputs[len(self.carried) :], strict=False))
        for k, same in self.same_trace.items():
            replaced[node.outputs[first + k]] = by_trace[same]
        if op_.stops:
            replaced[node.outputs[-1]] = outputs[-1]
        return replaced

    def _steps(self) -> Variable:
        """The number of steps, with a check that the dropped sequences have as many elements."""
        op_, inputs = self.op, self.node.inputs
        middle = range(op_.carried, op_.carried + op_.sequences)
        read = {inputs[1 + i] for i in self.read}
        dropped = [inputs[1 + i] for i in middle if i not in self.read]
        (steps,) = tensors(inputs[:1])
        unread = tensors([s for s in dropped if s not in read])
        return checked_steps(op_, steps, unread) if unread else steps


CANONICALIZE = RuleSet((unused_of_scan,), "looping unused")
