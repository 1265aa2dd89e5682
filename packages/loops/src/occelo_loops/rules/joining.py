"""The rule that joins two scans with the same number of steps, if neither of them depends on the other.

`pipeline` puts it into the stage join_scans, which comes after the rules that make scans smaller.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from occelo_graph import Apply, FrozenFunctionGraph, FunctionGraph, Variable, freeze
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_graph.ops.index.subtensor import Subtensor
from occelo_graph.ops.shape.dimensions import DimShuffle
from occelo_graph.ops.shape.reading import Shape_i
from occelo_loops.ops.scan_op import Scan
from occelo_rewrite.demands import note_merged, run_together
from occelo_rewrite.patterns.node_rule import Replacements, RuleSet, node_rewriter
from occelo_rewrite.rewriter import MergeOptimizer

MOST_NODES = 500
"""The most nodes in both bodies together. (The time to compile a body grows faster than its size.)"""
_EVERYWHERE = (Elemwise, Subtensor, DimShuffle, Shape_i)
"""Classes of ops that all linkers compile."""


@node_rewriter([Scan])
def joined_scans(fgraph: FunctionGraph, node: Apply[Scan]) -> Replacements:
    """Two scans of the same number of steps = one scan, if neither reads results of the other.

    Each iteration of the joined scan computes a step of both scans. The two steps do not depend on each other, so the
    processor can overlap them. Common carried values and common computations are computed only once; gradients of a
    loop with respect to different variables often have some in common.

    Both scans must be pure and have the same direction. Their bodies must have the same classes of ops, apart from
    classes that all linkers compile: otherwise a linker might compile one scan, but not the joined one. The rule does
    not apply to scans that a condition may end, scans in different branches, and scans with large bodies.
    """
    peers = _over_the_same_steps(fgraph, node.inputs[0])
    bit, before = peers[node]
    for other, (its_bit, before_it) in peers.items():
        if other is node or before & its_bit or before_it & bit:
            continue
        if _fit(node.op, other.op) and run_together(fgraph, node, other):
            break
    else:
        return None
    replaced = _Join(node, other).replacement()
    owner = next(iter(replaced.values())).owner
    assert owner is not None
    note_merged(fgraph, node, owner)
    return replaced


def _over_the_same_steps(
    fgraph: FunctionGraph, steps: Variable
) -> dict[Apply[Scan], tuple[int, int]]:
    """The scans of a graph over some steps: for each its bit, and the bits of all scans on which it depends."""
    key = "scans over", steps
    if key not in fgraph.derived:
        before = _before(fgraph)
        fgraph.derived[key] = {
            u: before[u] for u, i in fgraph.clients[steps] if i == 0 and u in before
        }
    return fgraph.derived[key]


def _fit(one: Scan, other: Scan) -> bool:
    if one.stops or other.stops or one.reverse != other.reverse:
        return False
    size = len(one.body.nodes) + len(other.body.nodes)
    return size <= MOST_NODES and one.pure and other.pure and _kinds(one.body) == _kinds(other.body)


def _kinds(body: FrozenFunctionGraph) -> set[type]:
    """The classes of ops in a body and in inner bodies, except classes that all linkers compile."""
    kinds: set[type] = set()
    for node in body.nodes:
        if not isinstance(node.op, _EVERYWHERE):
            kinds.add(type(node.op))
        inner = getattr(node.op, "body", None)
        if isinstance(inner, FrozenFunctionGraph):
            kinds |= _kinds(inner)
    return kinds


def _before(fgraph: FunctionGraph) -> dict[Apply, tuple[int, int]]:
    """For each scan of a graph its bit, and the bits of all scans on which it depends.

    One pass finds them for the graph as it is, since a search for each scan would take a quadratic time.
    """
    key = "scans before scans"
    if key not in fgraph.derived:
        before: dict[Apply, tuple[int, int]] = {}
        reached: dict[Variable, int] = {}
        for node in fgraph.toposort():
            bits = 0
            for variable in node.inputs:
                bits |= reached.get(variable, 0)
            if isinstance(node.op, Scan):
                bit = 1 << len(before)
                before[node] = bit, bits
                bits |= bit
            if bits:
                reached.update(dict.fromkeys(node.outputs, bits))
        fgraph.derived[key] = before
    return fgraph.derived[key]


@frozen_dataclass
class _Shared:
    """Both bodies as one graph in which equal computations are merged.

    ``first`` and ``second`` are the outputs of the two bodies, and ``inputs`` are the inputs of the graph.
    """

    first: list[Variable]
    second: list[Variable]
    inputs: list[Variable]


class _Join:
    """The scan that results from joining two scans."""

    def __init__(self, node: Apply[Scan], other: Apply[Scan]) -> None:
        self.node, self.other = node, other
        a, b = node.op, other.op
        self.mine, self.its = a.parts(node.inputs[1:]), b.parts(other.inputs[1:])
        self.inner = a.parts([v.type.make_variable() for v in a.body.inputs])
        self.inner_of_other = b.parts([v.type.make_variable() for v in b.body.inputs])
        self.more_sequences = self._shared(
            self.mine.sequences,
            self.inner.sequences,
            self.its.sequences,
            self.inner_of_other.sequences,
        )
        self.more_constants = self._shared(
            self.mine.constants,
            self.inner.constants,
            self.its.constants,
            self.inner_of_other.constants,
        )

    @staticmethod
    def _shared(
        mine: Sequence[Variable],
        inner: Sequence[Variable],
        its: Sequence[Variable],
        own: list[Variable],
    ) -> list[int]:
        """Let both bodies use the same variable for each input that both scans have.

        ``mine`` are inputs of the first scan, and ``inner`` are the variables for them in the first body. ``its`` are
        inputs of the second scan, and ``own`` are the variables for them in the second body. For each input that is in
        ``mine`` and in ``its``, the variable in ``inner`` replaces the one in ``own``. Returns the positions in ``its``
        of all other inputs.
        """
        variables = {(v, x.type): x for v, x in zip(mine, inner, strict=True)}
        rest: list[int] = []
        for i, outer in enumerate(its):
            same = variables.get((outer, own[i].type))
            if same is None:
                rest.append(i)
            else:
                own[i] = same
        return rest

    def _merged(self, same: dict[int, int]) -> _Shared:
        """Both bodies as one graph.

        ``same`` maps carried values of the second scan to equal carried values of the first scan. The second body reads
        the values of the first scan instead of its own.
        """
        inner, its = self.inner, self.inner_of_other
        carried = [inner.carried[same[k]] if k in same else v for k, v in enumerate(its.carried)]
        first = self.node.op.body.bind([*inner.carried, *inner.sequences, *inner.constants])
        second = self.other.op.body.bind([*carried, *its.sequences, *its.constants])
        inputs = dict.fromkeys([*inner.carried, *its.carried, *inner.sequences, *its.sequences])
        inputs.update(dict.fromkeys([*inner.constants, *its.constants]))
        whole = FunctionGraph(list(inputs), [*first, *second], clone=True, copy_inputs=False)
        MergeOptimizer("both bodies").rewrite(whole)
        return _Shared(whole.outputs[: len(first)], whole.outputs[len(first) :], list(inputs))

    def _equal_carried(self) -> tuple[dict[int, int], _Shared]:
        """The carried values that both scans have in common, and both bodies as one graph.

        The carried values are a dict from positions in the second scan to positions in the first scan.
        """
        # By induction: the two values of a pair start from the same variable. Assume that all pairs
        # are equal before a step. Merging then shows which pairs are equal after the step. Pairs
        # that are not equal are dropped, and the other pairs are tried again.
        choices: dict[int, list[int]] = {
            k: [
                j
                for j, start in enumerate(self.mine.carried)
                if start is outer
                and self.inner.carried[j].type == self.inner_of_other.carried[k].type
            ]
            for k, outer in enumerate(self.its.carried)
        }
        while True:
            same = {k: left[0] for k, left in choices.items() if left}
            merged = self._merged(same)
            wrong = [k for k, j in same.items() if merged.first[j] is not merged.second[k]]
            if not wrong:
                return same, merged
            for k in wrong:
                choices[k].pop(0)

    def replacement(self) -> dict[Variable, Variable]:
        """A dict from the outputs of both scans to the outputs of the joined scan."""
        a, b = self.node.op, self.other.op
        same, both = self._equal_carried()
        still = [k for k in range(b.carried) if k not in same]
        traced = list(both.first[a.carried :])
        at = {v: i for i, v in reversed(list(enumerate(traced)))}
        trace_of: list[int] = []
        for v in both.second[b.carried :]:
            if v not in at:
                at[v] = len(traced)
                traced.append(v)
            trace_of.append(at[v])
        inner, its = self.inner, self.inner_of_other
        arguments = [*inner.carried, *(its.carried[k] for k in still)]
        arguments += [*inner.sequences, *(its.sequences[i] for i in self.more_sequences)]
        arguments += [*inner.constants, *(its.constants[i] for i in self.more_constants)]
        results = [*both.first[: a.carried], *(both.second[k] for k in still), *traced]
        joined = replace(
            a,
            body=freeze(arguments, results),
            carried=a.carried + len(still),
            sequences=a.sequences + len(self.more_sequences),
            truncate=None,
            name=a.name if a.name == b.name else f"{a.name or a}, {b.name or b}",
        )
        operands = [*self.mine.carried, *(self.its.carried[k] for k in still)]
        operands += [*self.mine.sequences, *(self.its.sequences[i] for i in self.more_sequences)]
        operands += [*self.mine.constants, *(self.its.constants[i] for i in self.more_constants)]
        outputs: list[Variable] = joined(self.node.inputs[0], *operands, return_list=True)
        traces = outputs[joined.carried :]
        replaced = dict(zip(self.node.outputs, [*outputs[: a.carried], *traces], strict=False))
        for k in range(b.carried):
            j = same[k] if k in same else a.carried + still.index(k)
            replaced[self.other.outputs[k]] = outputs[j]
        replaced.update(
            zip(self.other.outputs[b.carried :], [traces[i] for i in trace_of], strict=True)
        )
        return replaced


JOIN = RuleSet((joined_scans,), "looping joining")
