"""Inference of the signs of reductions and of softmax.

`assumptions.inference` calls these functions when a rule looks up a fact about the result of a `CAReduce` or `Softmax`
node.
"""

from __future__ import annotations

from occelo_graph import Apply, TensorApply
from occelo_graph.ops.reduce import CAReduce, Softmax
from occelo_rewrite.assumptions.facts import UNSIGNED
from occelo_rewrite.assumptions.inference import Ask, infers


@infers(UNSIGNED, Softmax)
@infers("nonnegative", Softmax)
def _softmax(node: Apply, ask: Ask) -> bool | None:
    return True


def _reduced(fact: str) -> None:
    @infers(fact, CAReduce)
    def reduced(node: TensorApply[CAReduce], ask: Ask) -> bool | None:
        """Whether the sign of a reduction follows from the signs of the elements.

        A fact about all elements holds for their maximum and minimum. Sums and products of integers may wrap around, so
        nothing is inferred for them.
        """
        row = node.op.scalar_op
        kind = node.inputs[0].type
        chosen = row.name in ("maximum", "minimum")
        fits = chosen or (fact in row.keeps_sign and kind.dtype.startswith("float"))
        return True if fits and ask(node.inputs[0], fact) else None


for _fact in ("nonnegative", UNSIGNED):
    _reduced(_fact)
