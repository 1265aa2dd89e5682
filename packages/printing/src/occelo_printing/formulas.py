"""`pprint`: prints a graph as a formula, such as ``exp(x) * 2.0``.

Users call the function. Error messages show variables without names as such formulas.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from keyword import iskeyword
from typing import Any

from occelo_graph import tensor as functions
from occelo_graph.fgraph.frozen import FrozenFunctionGraph
from occelo_graph.ir.graph_like import graph_parts
from occelo_graph.ir.nodes import Apply, Constant, Variable
from occelo_graph.ir.terms import ATOM, Term, called
from occelo_graph.ir.traversal import toposort
from occelo_printing.infix import (
    MOST_ELEMENTS,
    graphs_of,
    is_tensor_constant,
    written_as_mean,
    written_constant,
    written_node,
)
from occelo_printing.values import ValueWriter

_LONGEST = 10_000
_SHARED = 200
_DEEPEST = 50
"""An expression gets a line of its own if it has more characters, more characters and several readers, or more nested
calls. Python's parser refuses 200 nested parentheses, of which a call may have three."""
_MOST_DEFINED = 1000
"""Constants with more elements are abbreviated."""


class _Formulas:
    """Writes formulas of ``outputs``, and the lines that define what the formulas name."""

    def __init__(self, outputs: Sequence[Variable]) -> None:
        order = toposort(outputs)
        listed = {*outputs, *(v for node in order for v in (*node.inputs, *node.outputs))}
        named = Counter(v.name for v in listed if v.name is not None)
        self.names = set(named)
        """Names that new definitions cannot have."""
        self.own = {name for name, n in named.items() if n == 1 and _is_name(name)}
        """Names of variables that definitions may have: those of one variable, which hide no function."""
        self.named: dict[Variable, Term] = {}
        """The variables that ``lines`` define by their own names."""
        self.defined: dict[FrozenFunctionGraph | Constant, Term] = {}
        """The names of inner graphs and of constants that have definitions."""
        self.above: list[str] = []
        """The lines that define them."""
        self.lines: list[str] = []
        """The lines that define parts of the formulas."""

    def name(self, prefix: str) -> str:
        """A new name."""
        number = 0
        while f"{prefix}{number}" in self.names:
            number += 1
        self.names.add(f"{prefix}{number}")
        return f"{prefix}{number}"

    def part(self, text: str) -> Term:
        """The name of a part of a formula. Adds its definition to ``lines``."""
        name = self.name("t")
        self.lines.append(f"{name} = {text}")
        return Term(name)

    def by_name(self, variable: Variable, term: Term) -> Term:
        """The name of a variable, which is defined unless it was before; ``term`` if it has none of its own."""
        if variable.name not in self.own:
            return term
        if variable not in self.named:
            self.lines.append(f"{variable.name} = {term.text}")
            self.named[variable] = Term(variable.name)
        return self.named[variable]

    def function(self, graph: FrozenFunctionGraph) -> Term:
        """The name of a function that computes an inner graph. Adds its definition to ``above``."""
        if graph not in self.defined:
            # the innermost first, so that graphs many levels deep take no recursion
            for each in [*graph.nested(), graph]:
                if each not in self.defined:
                    self.define(each)
        return self.defined[graph]

    def define(self, graph: FrozenFunctionGraph) -> None:
        """Add the definition of a function that computes an inner graph."""
        lines, named, self.lines, self.named = self.lines, self.named, [], {}
        results = [self.formula(v) for v in graph.outputs]
        inner, self.lines, self.named = self.lines, lines, named
        name = self.name("f")
        self.above += [
            f"def {name}({', '.join(map(str, graph.inputs))}):",
            *(f"    {line}" for line in inner),
            f"    return {', '.join(results)}",
        ]
        self.defined[graph] = Term(name)

    def leaf(self, variable: Variable) -> Term:
        """The term of a root of the graph."""
        if not isinstance(variable, Constant) or variable.name is not None:
            return Term(str(variable))
        if is_tensor_constant(variable):
            if variable.data.size <= MOST_ELEMENTS:
                return written_constant(variable)
            if variable.data.size > _MOST_DEFINED:
                return Term(str(variable))
        if variable not in self.defined:
            if is_tensor_constant(variable):
                text = written_constant(variable).text
            else:
                try:
                    text = ValueWriter().constant(variable)
                except TypeError:
                    return Term(str(variable))
            name = self.name("c")
            self.above.append(f"{name} = {text}")
            self.defined[variable] = Term(name)
        return self.defined[variable]

    def formula(self, variable: Variable) -> str:
        """The formula of a variable. Adds the definitions that it needs."""
        return _Formula(self, variable).text()


class _Formula:
    """Writes the formula of one variable. Terms are forgotten after their last use."""

    def __init__(self, formulas: _Formulas, variable: Variable) -> None:
        self.formulas = formulas
        self.variable = variable
        self.terms: dict[Variable, Term] = {}
        self.depths: dict[Variable, int] = {}
        self.order = toposort(variable)
        self.pending = Counter(v for node in self.order for v in node.inputs)
        self.means: dict[Apply, tuple[Variable, dict[str, Any]]] = {}
        for node in self.order:
            mean = written_as_mean(node)
            if mean is not None:
                self.means[node] = mean
                self.pending[mean[0]] += 1

    def term(self, v: Variable) -> Term:
        """The term of a variable that was written before, or of a root."""
        return self.terms[v] if v in self.terms else self.formulas.leaf(v)

    def text(self) -> str:
        """Write all nodes in order, and return the text of the variable."""
        for node in self.order:
            self.write(node)
        return self.term(self.variable).text

    def write(self, node: Apply) -> None:
        """Write a node, and set the terms of its outputs."""
        graphs = graphs_of(node.op)
        depth = 1 + max((self.depths.get(v, 0) for v in node.inputs), default=0)
        if node in self.means:
            x, options = self.means[node]
            term = called("mean", self.term(x).text, **options)
            self.pending[x] -= 1
        else:
            functions = [self.formulas.function(graph) for graph in graphs]
            term = written_node(node, [*map(self.term, node.inputs), *functions])
        self.pending.subtract(node.inputs)
        for used in node.inputs:
            if not self.pending[used]:
                self.terms.pop(used, None)
                self.depths.pop(used, None)
        readers = sum(self.pending[v] for v in node.outputs)
        size = len(term.text)
        shared = readers > 1 and (size > _SHARED or bool(graphs))
        if size > _LONGEST or depth > _DEEPEST or shared:
            term, depth = self.formulas.part(term.text)._replace(parts=term.parts), 0
        for i, output in enumerate(node.outputs):
            own = term
            if len(node.outputs) > 1 or term.parts:
                part = f"[{i}]" if term.parts is None else term.parts[i]
                own = Term(term.at(ATOM) + part)
            if output is not self.variable:
                own = self.formulas.by_name(output, own)
            self.terms[output] = own
            self.depths[output] = 0 if output in self.formulas.named else depth


def _is_name(text: str) -> bool:
    """Whether a line may define a name. It must hide no function that formulas call."""
    hidden = text in ("linalg", "loop", "np") or text in dir(functions)
    return text.isidentifier() and not iskeyword(text) and not hidden


def pprint(graph: Any) -> str:
    """The formula of a variable, with only the parentheses that Python's operator precedence requires.

    In the namespace of `occelo.tensor`, with the inputs by their names, the text is an expression that computes the same
    numbers in the same order. For a sequence of variables, a `FunctionGraph` or a compiled function, the result has a
    line for each output.

    What is not written in one expression has lines above the formulas, which are statements of Python:

    - ``y = ...``: a part that is a variable with a name. (A name that a function of `occelo.tensor` has is not used.)
    - ``t0 = ...``: a long or deeply nested part, or one that occurs several times.
    - ``c0 = ...``: a constant with more than 8 elements, or of another type than tensors.
    - ``def f0(i0, i1): ...``: an inner graph, such as the body of a loop.

    The text needs more names for other than usual graphs: ``loop`` (`occelo.loop`), ``np``, the classes of ops that no
    function of `occelo.tensor` makes, as in ``Gemv()(y, a, m, x, b)``, and functions of elements that only rules and
    derivatives use. What ops overwrite is not told. These do not evaluate: constants with more than 1000 elements, which
    are abbreviated, variables without a name, and ops with their fields in braces, which have no form in Python.
    (`to_python` writes source with all imports.)
    """
    outputs = graph_parts(graph)[0]
    formulas = _Formulas(outputs)
    texts = [formulas.formula(v) for v in outputs]
    return "\n".join([*formulas.above, *formulas.lines, *texts])


def pp(variable: Any) -> str:
    """Short name of `pprint`, of ``variable``."""
    return pprint(variable)
