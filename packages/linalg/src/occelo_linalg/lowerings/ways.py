"""Which way small matrices are computed: unrolled code, lanes, loops, or calls of LAPACK and BLAS.

The table of `Ways` says up to which sizes each way is the fastest, for each kind of algorithm, and `choose` picks one for a
node. If lengths are dynamic, `Choice.write` writes the code for small and for large matrices, and a branch.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial, reduce
from typing import Any

from occelo_arrays.lowerings.lanes import for_lanes
from occelo_graph import TensorApply
from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_graph.tensors.type import is_complex
from occelo_link.loops.ir.program import Value
from occelo_link.loops.lowering import Context
from occelo_link.loops.tensors import Tensor, is_unit

_ONE_MATRIX_AT_A_TIME = 16
"""Above this number of rows, lanes are faster than LAPACK only if most of them are in use."""


@frozen_dataclass
class Ways:
    """The largest numbers of rows for which a result is computed each way; 0 if it never is."""

    unrolled: int = 0
    """Of a single matrix of static length. For larger matrices, loops over the rows are less code."""
    lanes: int = 0
    """Of the matrices of a batch, with one matrix per lane."""
    fewest: int = 5
    """From this number of matrices on, lanes are faster than LAPACK with 32 rows, according to measurements."""
    batch_of_matrices: bool = False
    """Whether lanes need a batch of matrices. Otherwise a batch of right-hand sides suffices."""
    loops: int = 0
    """Of matrices one after the other."""


CHOLESKY = Ways(unrolled=4, lanes=32, loops=16)
CHOLESKY_PULLBACK = Ways(unrolled=4)
ELIMINATION = Ways(lanes=32, loops=16)
"""Of determinants, LU factors, inverses, and solutions of equations."""
LU_SOLVING = Ways(lanes=16, loops=16, batch_of_matrices=True)
TRIANGULAR = Ways(unrolled=4, lanes=16)
ROTATIONS = Ways(lanes=32, fewest=17)
"""Of eigenvalues. With 32 rows, lanes take about 0.7 of LAPACK's time for each matrix, if all lanes are in use. From 17
matrices on, they are faster although some lanes of the last group may be idle.
"""


def maybe_small(*lengths: Value, most: int) -> bool:
    """Whether all lengths may be at most ``most``. A dynamic length always may."""
    return all(n.op != "const" or n.args[0] <= most for n in lengths)


@frozen_dataclass(eq=False)
class Choice:
    """The way that was chosen for a node: "unrolled", "lanes", "loops" or "library"."""

    context: Context
    way: str = "library"
    lengths: Sequence[Value] = ()
    """The lengths that must be small."""
    most: int = 0
    batch: Sequence[Value] = ()
    fewest: int = 0

    def operand(self, tensor: Tensor) -> Tensor:
        """An operand as the chosen way reads it: lanes read contiguous memory."""
        return self.context.contiguous_copy(tensor) if self.way == "lanes" else tensor

    def write(self, library: Callable[[], object], **small: Callable[[], object]) -> None:
        """Write the chosen code, or a branch between it and a call of a library if lengths are dynamic.

        Lanes of matrices of more than 16 rows are used only if the batch has enough of them.
        """
        context, builder = self.context, self.context.builder
        if self.way == "library":
            library()
            return
        dynamic = [n for n in self.lengths if n.op != "const"]
        conditions = [builder.op("le", n, context.i64(self.most)) for n in dynamic]
        if self.way == "lanes" and not maybe_small(*self.lengths, most=_ONE_MATRIX_AT_A_TIME):
            conditions.append(builder.lt(context.i64(self.fewest - 1), builder.product(self.batch)))
        conditions = [c for c in conditions if c.op != "const" or not c.args[0]]
        if any(c.op == "const" for c in conditions):
            library()
        elif conditions:
            both = reduce(partial(builder.op, "and"), conditions)
            builder.branch(both, _block(small[self.way]), _block(library))
        else:
            small[self.way]()


def _block(write: Callable[[], object]) -> Callable[[], Sequence[Value]]:
    def block() -> Sequence[Value]:
        write()
        return ()

    return block


def choose(
    context: Context,
    ways: Ways,
    node: TensorApply[Any],
    operands: Sequence[Tensor],
    batch: Sequence[Value],
    n: Value,
    columns: Value | None = None,
) -> Choice:
    """Choose how to compute a node for matrices of ``n`` rows. Complex matrices are always computed by a library.

    ``operands`` are what lanes would read, the matrices first. Loops are worth compiling if ``n`` may be small, and if
    ``n`` is static or there may be many matrices. For a single matrix of dynamic size, they would save a microsecond,
    but take longer to compile than a call of LAPACK.
    """
    alone = all(map(is_unit, batch))
    if any(is_complex(v.type.dtype) for v in node.inputs):
        return Choice(context)
    if alone and n.op == "const" and 1 <= n.args[0] <= ways.unrolled:
        return Choice(context, "unrolled")
    lengths = [n] if columns is None else [n, columns]
    if (
        maybe_small(*lengths, most=ways.lanes)
        and for_lanes(context, operands)
        and (not ways.batch_of_matrices or for_lanes(context, operands[:1]))
    ):
        return Choice(context, "lanes", lengths, ways.lanes, batch, ways.fewest)
    if ways.loops and maybe_small(n, most=ways.loops) and (n.op == "const" or not alone):
        return Choice(context, "loops", [n], ways.loops)
    return Choice(context)
