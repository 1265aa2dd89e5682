"""The products of `sparse_products.py` by PyTensor, in a process of a Python that has it.

It reads pickled requests from its standard input and writes pickled answers: first the arguments, then names of workloads, each
answered with its result once, and then with times in milliseconds. Its argument is the name of a clock of `time`.
"""

from __future__ import annotations

import pickle
import sys
import time
from collections.abc import Callable
from typing import Any


def workloads(value: Any, x: Any, X: Any) -> dict[str, Callable[[], Any]]:
    """The compiled functions by name. PyTensor has no `spsolve` of sparse matrices."""
    import pytensor
    from pytensor import sparse
    from pytensor import tensor as pt

    A, v, V = sparse.csr_matrix("A", dtype="float64"), pt.dvector("v"), pt.dmatrix("V")
    cost = (pt.tanh(sparse.structured_dot(A, v.dimshuffle(0, "x"))) ** 2).sum()
    slope, of_vector = pytensor.grad(cost, [A, v])
    vector = pytensor.function([A, v], sparse.structured_dot(A, v.dimshuffle(0, "x"))[:, 0])
    turned = pytensor.function([A, v], sparse.structured_dot(A.T, v.dimshuffle(0, "x"))[:, 0])
    matrix = pytensor.function([A, V], sparse.structured_dot(A, V))
    gradient = pytensor.function([A, v], [sparse.csm_data(slope), of_vector])
    return {
        "A x": lambda: vector(value, x),
        "A' x": lambda: turned(value, x),
        "A X, 8 columns": lambda: matrix(value, X),
        "gradient of sum(tanh(A x)^2)": lambda: gradient(value, x),
    }


def serve() -> None:
    """Answer requests until the input ends."""
    clock: Callable[[], float] = getattr(time, sys.argv[1])
    source, target = sys.stdin.buffer, sys.stdout.buffer
    sys.stdout = sys.stderr  # what libraries print is no answer
    functions = workloads(*pickle.load(source))
    seen = set[str]()
    while True:
        try:
            name: str = pickle.load(source)
        except EOFError:
            return
        each = functions.get(name)
        answer: Any = None
        if each is not None and name not in seen:
            seen.add(name)
            answer = each()
        elif each is not None:
            each()
            start = clock()
            each()
            answer = 1e3 * (clock() - start)
        pickle.dump(answer, target)
        target.flush()


if __name__ == "__main__":
    serve()
