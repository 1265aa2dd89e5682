"""`pull_nodes`: computes the cotangents of all variables of a graph, node by node, from the outputs to the inputs.

`reverse` calls `pull_nodes` for every gradient. `reverse` and the derivatives of `Scan` call `cotangent_dtype`.

Most nodes are differentiated by the pullback of their op. A node with regions, such as `IfElse`, is differentiated
region by region. Each branch of the `IfElse` has cotangents of its own. A new `IfElse` with the same condition chooses
among the cotangents of the branches. So the derivative of a branch that does not run is not computed. It takes no time
and cannot fail. If it is infinite, it is not multiplied by zero, which would be NaN.

Several `IfElse` nodes may have the same condition, for example an `IfElse` and its derivative. They are differentiated
together: their branches for the same value of the condition count as one region.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from heapq import heapify, heappop, heappush
from typing import Any, Self

from occelo_graph.config import FLOAT_X
from occelo_graph.errors import at_node
from occelo_graph.gradient.cotangents import from_rule
from occelo_graph.gradient.forms import differentiable_form, use_forms
from occelo_graph.ir.nodes import Apply, Variable
from occelo_graph.ir.op import ZERO, Cotangent, Zero
from occelo_graph.ir.regions import Nested, operands_of
from occelo_graph.ir.taken_constants import derived
from occelo_graph.ir.types import NullType
from occelo_graph.narrowing import is_list_or_tuple
from occelo_graph.ops.cast import cast
from occelo_graph.ops.create import zeros_like
from occelo_graph.ops.elemwise.arithmetic import add
from occelo_graph.provenance import at_line
from occelo_graph.tensors.type import TensorType, is_discrete

_DEEPEST = 10
"""The largest depth of nested regions that are differentiated one by one. Deeper ones are differentiated by the
pullback of the op that owns them.

A cotangent that leaves several nested regions needs a new node for each of them. So without a limit, the gradient with
respect to a value that is read at every depth would take quadratic time.
"""


class _Accumulator:
    """Collects the cotangents of each variable, and adds all cotangents of one variable by a single node."""

    def __init__(self) -> None:
        self._terms: dict[Variable, list[Variable]] = {}
        self._zero: dict[Variable, None] = {}

    def add(self, variable: Variable, cotangent: Cotangent) -> None:
        if cotangent is None:
            return
        if isinstance(cotangent, Zero):
            self._zero[variable] = None
        else:
            self._terms.setdefault(variable, []).append(cotangent)

    def total(self, variable: Variable) -> Cotangent:
        terms = self._terms.get(variable)
        if not terms:
            return ZERO if variable in self._zero else None
        if len(terms) == 1:
            return terms[0]
        null = next((t for t in terms if isinstance(t.type, NullType)), None)
        if null is not None:
            return null
        terms[:] = [add(*terms)]
        return terms[0]

    def take(self, variable: Variable) -> Cotangent:
        """Remove the cotangents of a variable and return their sum."""
        total = self.total(variable)
        self._terms.pop(variable, None)
        self._zero.pop(variable, None)
        return total


class _Choice:
    """The alternative regions of a node ``owner``, such as the branches of an `IfElse`.

    The operands of the node, that is, its inputs except the results of its regions, choose which region runs. For an
    `IfElse` this is the condition. Nodes of the same class of ops with the same operands share one `_Choice`.
    """

    def __init__(self, owner: Apply, place: _Place) -> None:
        self.owner = owner
        self.places = [_Place(place, self) for _ in owner.op.regions(owner)]


class _Place(Nested):
    """A region, and the cotangents that its nodes have. Regions form a tree. The root contains the nodes in no region.

    - ``leaving``: variables that are computed outside of the region, but have a cotangent in it.
    - ``waiting``: for each variable, the choices in this region that have cotangents of the variable. These cotangents
      are not yet added to the variable's total in this region.
    - ``homes``: the region of each node of the whole graph; all regions share this mapping.
    """

    __slots__ = ("_found", "choice", "choices", "homes", "leaving", "waiting")

    def __init__(self, parent: Self | None, choice: _Choice | None) -> None:
        super().__init__(parent)
        self.choice = choice
        self.homes: dict[Apply, _Place] = {} if parent is None else parent.homes
        self.choices: dict[Any, _Choice] = {}
        self.leaving: dict[Variable, None] = {}
        self.waiting: dict[Variable, dict[_Choice, None]] = {}
        self._found = _Accumulator()

    def has_regions_of(self, node: Apply) -> bool:
        """Whether a node of this region has regions that are differentiated one by one."""
        return node.op.outputs_are_results and self.depth < _DEEPEST

    def choice_of(self, node: Apply) -> _Choice:
        """The `_Choice` among the regions of ``node``, which is a node of this region."""
        key = (node.op.__class__, *operands_of(node))
        if key not in self.choices:
            self.choices[key] = _Choice(node, self)
        return self.choices[key]

    def add(self, variable: Variable, cotangent: Cotangent) -> None:
        if cotangent is None:
            return
        self._found.add(variable, cotangent)
        if self.choice is None:
            return
        owner = variable.owner
        home = None if owner is None else self.homes.get(owner)
        place = self
        while place is not home and place.choice is not None:
            place.leaving[variable] = None
            place.parent.waiting.setdefault(variable, {})[place.choice] = None
            place = place.parent

    def total(self, variable: Variable) -> Cotangent:
        if self.waiting:
            for choice in self.waiting.pop(variable, ()):
                self._collect(choice)
        return self._found.total(variable)

    def take(self, variable: Variable) -> Cotangent:
        """Remove the cotangents of a variable and return their sum."""
        self.total(variable)
        return self._found.take(variable)

    def _collect(self, choice: _Choice) -> None:
        """Move cotangents out of the regions of a choice, for the variables that are computed outside of them.

        Each region has its own cotangent of such a variable. A new node chooses among these cotangents: it is like
        ``choice.owner``, but has the cotangents in place of the results of the regions. Its result is added to this
        region.
        """
        live: dict[Variable, list[Cotangent]] = {}
        for variable in {v: None for place in choice.places for v in place.leaving}:
            self.waiting.get(variable, {}).pop(choice, None)
            totals = [place.take(variable) for place in choice.places]
            null = next((t for t in totals if _is_null(t)), None)
            if null is not None:
                self.add(variable, null)
            elif any(isinstance(t, Variable) for t in totals):
                live[variable] = totals
            else:
                self.add(variable, ZERO)
        for place in choice.places:
            place.leaving.clear()
        if live:
            owner = choice.owner
            values = [
                [_as_tensor(totals[k], v) for v, totals in live.items()]
                for k in range(len(choice.places))
            ]
            for v, chosen in zip(live, owner.op.chosen_of(owner, values), strict=True):
                self.add(v, chosen)


def _divided(order: Sequence[Apply], outputs: Sequence[Variable]) -> _Place:
    """Build the tree of regions of a graph, and return its root. ``homes`` of the root has the region of each node."""
    top = _Place(None, None)
    needed: dict[Variable, _Place] = dict.fromkeys(outputs, top)

    def need(variable: Variable, place: _Place) -> None:
        former = needed.get(variable)
        needed[variable] = place if former is None or former is place else former.common(place)

    for node in reversed(order):
        places = [needed[v] for v in node.outputs if v in needed] or [top]
        place = reduce(_Place.common, places)
        top.homes[node] = place
        if not place.has_regions_of(node):
            for variable in node.inputs:
                need(variable, place)
            continue
        for variable in operands_of(node):
            need(variable, place)
        regions = node.op.regions(node)
        for region, inner in zip(regions, place.choice_of(node).places, strict=True):
            for position in region.results:
                need(node.inputs[position], inner)
    return top


def _innermost_first(order: Sequence[Apply], homes: Mapping[Apply, _Place]) -> Iterator[Apply]:
    """The nodes in reverse topological order: each node comes after all users of its outputs.

    If several nodes could be next, the node in the deepest region is next.
    """
    users = dict.fromkeys(order, 0)
    position = {node: i for i, node in enumerate(order)}
    for node in order:
        for variable in node.inputs:
            if variable.owner in users:
                users[variable.owner] += 1
    ready = [(-homes[n].depth, -position[n]) for n in order if not users[n]]
    heapify(ready)
    while ready:
        node = order[-heappop(ready)[1]]
        yield node
        for variable in node.inputs:
            owner = variable.owner
            if owner is not None and owner in users:
                users[owner] -= 1
                if not users[owner]:
                    heappush(ready, (-homes[owner].depth, -position[owner]))


def pull_nodes(
    order: Sequence[Apply],
    starts: Mapping[Variable, Cotangent],
    wrt: Sequence[Variable],
    blocked: set[Variable],
) -> list[Cotangent]:
    """Pull cotangents back through the nodes of a graph, and return the cotangents of ``wrt``.

    ``starts`` maps variables to their cotangents. ``order`` has the nodes in topological order. It must contain every
    node on a path from ``wrt`` to ``starts``. No cotangent is pulled back through a variable in ``blocked``.
    """
    derived(order)
    dependent = set(wrt)
    for node in order:
        dependent.update(node.outputs)
    keep = frozenset((*wrt, *blocked))
    lazy = any(node.op.outputs_are_results for node in order)
    top = _divided(order, [*starts, *wrt]) if lazy else _Place(None, None)
    for variable, cotangent in starts.items():
        top.add(variable, cotangent)
    nodes = _innermost_first(order, top.homes) if lazy else reversed(order)
    for node in nodes:
        place = top.homes[node] if lazy else top
        if place.has_regions_of(node):
            _pull_choice(node, place, dependent, blocked)
            continue
        cotangents = _cotangents(node, place, blocked)
        first = cotangents[0]
        form, new = (None, []) if first is None else differentiable_form(node, keep)
        if form is None or first is None:
            _pull_node(node, cotangents, place, dependent)
        else:
            place.add(form, first)
            _pull_form(new, place, dependent, blocked)
    return [top.total(v) for v in wrt]


def _cotangents(node: Apply, place: _Place, blocked: set[Variable]) -> list[Cotangent]:
    """The cotangents of a node's outputs; None for those in ``blocked``."""
    return [None if v in blocked else place.total(v) for v in node.outputs]


def _pull_choice(
    node: Apply, place: _Place, dependent: set[Variable], blocked: set[Variable]
) -> None:
    """Pass the cotangents of a node's outputs on to the results of each region of the node."""
    cotangents = _cotangents(node, place, blocked)
    regions = node.op.regions(node)
    for region, inner in zip(regions, place.choice_of(node).places, strict=True):
        for position, cotangent in zip(region.results, cotangents, strict=True):
            result = node.inputs[position]
            if result not in dependent or cotangent is None:
                continue
            inner.add(result, ZERO if result.type.is_discrete else cotangent)


def _as_tensor(cotangent: Cotangent, variable: Variable) -> Variable:
    """The cotangent of a variable as a tensor with the dtype `cotangent_dtype`. `ZERO` and None become zeros."""
    if isinstance(cotangent, Variable) and not isinstance(variable.type, TensorType):
        return cotangent
    dtype = cotangent_dtype(variable)
    if cotangent is None or isinstance(cotangent, Zero):
        return zeros_like(variable, dtype=dtype)
    return cotangent if cotangent.type.dtype == dtype else cast(cotangent, dtype)


def _pull_node(
    node: Apply, cotangents: Sequence[Cotangent], place: _Place, dependent: set[Variable]
) -> None:
    """Add what the pullback of a node gives to the cotangents of its inputs."""
    if cotangents.count(None) == len(cotangents):
        return
    wanted = [v in dependent for v in node.inputs]
    if node.op.has_connection_pattern:
        live = [j for j, c in enumerate(cotangents) if c is not None]
        pattern = node.op.connection_pattern(node)
        connected = [any(row[j] for j in live) for row in pattern]
        wanted = [use and met for use, met in zip(wanted, connected, strict=True)]
    if True not in wanted:
        return
    terms = _pulled_terms(node, cotangents, wanted)
    for variable, term, use in zip(node.inputs, terms, wanted, strict=True):
        if use:
            place.add(variable, from_rule(term, variable, node, "pullback", "input"))


def _is_null(cotangent: Cotangent) -> bool:
    return isinstance(cotangent, Variable) and isinstance(cotangent.type, NullType)


def _pulled_terms(
    node: Apply, cotangents: Sequence[Cotangent], wanted: Sequence[bool]
) -> Sequence[Any]:
    """A cotangent for each input of a node. The cotangent of an input that is not ``wanted`` may have any value.

    ``cotangents`` are the cotangents of the outputs.
    """
    count = len(node.inputs)
    if node.op.no_derivative:
        return [NullType(node.op.no_derivative)() for _ in range(count)]
    # an undefined cotangent of an output is passed on only to the inputs on which the output depends
    null: list[Any] = [None] * count
    only = cotangents[0] if len(cotangents) == 1 else None
    if isinstance(only, Variable) and only.type.is_array and not node.outputs[0].type.is_discrete:
        return _terms_of_rule(node, cotangents, wanted)
    if any([_is_null(c) for c in cotangents]):
        for i, row in enumerate(node.op.connection_pattern(node)):
            null[i] = next(
                (c for c, use in zip(cotangents, row, strict=True) if use and _is_null(c)), None
            )
        cotangents = [None if _is_null(c) else c for c in cotangents]
        wanted = [use and n is None for use, n in zip(wanted, null, strict=True)]
        if not any(wanted):
            return null
    live = [
        c is not None and c is not ZERO and not v.type.is_discrete
        for c, v in zip(cotangents, node.outputs, strict=True)
    ]
    if not any(live):
        return [ZERO if n is None else n for n in null]
    filled = [
        None if c is None else zeros_like(v, dtype=cotangent_dtype(v)) if isinstance(c, Zero) else c
        for c, v in zip(cotangents, node.outputs, strict=True)
    ]
    terms = _terms_of_rule(node, filled, wanted)
    if null.count(None) == count:
        return terms
    return [t if n is None else n for t, n in zip(terms, null, strict=True)]


def _terms_of_rule(node: Apply, cotangents: Sequence[Any], wanted: Sequence[bool]) -> Sequence[Any]:
    """The cotangents that the op of a node returns, one for each input."""
    op = node.op
    try:
        if op.external_code:
            with at_line(None):
                terms = op.pull(node.inputs, node.outputs, cotangents, wanted)
        else:
            terms = op.pull(node.inputs, node.outputs, cotangents, wanted)
    except Exception as error:
        raise at_node(error, "differentiating", node) from error
    count = len(node.inputs)
    if not is_list_or_tuple(terms) or len(terms) != count:
        got = len(terms) if is_list_or_tuple(terms) else repr(terms)
        raise ValueError(
            f"The pullback of {node.op} must give {count} cotangents, one for each input, and gave {got}"
        )
    return terms


def _pull_form(
    new: Sequence[Apply], place: _Place, dependent: set[Variable], blocked: set[Variable]
) -> None:
    """Pull the cotangent of a stable form back through ``new``, the nodes that compute the form."""
    for each in new:
        if any(v in dependent for v in each.inputs):
            dependent.update(each.outputs)
    for each in reversed(new):
        _pull_node(each, _cotangents(each, place, blocked), place, dependent)


def cotangent_dtype(variable: Variable) -> str:
    """The dtype of the cotangent of a variable: floatX for integers and truth values, else the variable's dtype."""
    assert isinstance(variable.type, TensorType)
    return FLOAT_X.get() if is_discrete(variable.type.dtype) else variable.type.dtype


use_forms()
