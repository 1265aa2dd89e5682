"""Every op of every family consists of others, or is known not to."""

from __future__ import annotations

import importlib

from occelo_graph import Op
from occelo_graph.families import import_ops, installed

PRIMITIVE = {
    "DeferredGraph": "the graph that it stands for is built only when it is read",
    "InverseAtPlaces": "what SuperLU computes",
    "After": "is about the order in which values are computed",
    "AdvancedIncSubtensor": "positions may occur twice, of which each counts",
    "AdvancedSubtensor": "what gathers elements",
    "Alloc": "what broadcasts",
    "ARange": "what counts",
    "Blockwise": "a loop, whose length is an input",
    "ArgSort": "what sorts",
    "LexicographicOrder": "it sorts by any number of columns",
    "CAReduce": "what reduces",
    "CheckAndRaise": "has an effect: it raises",
    "CSM": "makes a sparse matrix of its parts, which are no tensor",
    "CSMProperties": "reads the parts of a sparse matrix, which is no tensor",
    "DeepCopyOp": "is about memory, not values",
    "DefaultGenerator": "what makes one of NumPy's generators",
    "DimShuffle": "what moves dimensions",
    "FFT": "what transforms",
    "FromFunctionOp": "somebody's Python",
    "IfElse": "a region is run or not",
    "InverseRealFFT": "what transforms, and the length may be an input",
    "Iterate": "a loop, whose length is an input",
    "Join": "what puts parts beside one another",
    "LinearRecurrence": "what runs along a dimension",
    "ListOp": "about lists of tensors, which are no tensors",
    "MakeSlice": "makes a slice, which is no tensor",
    "MatrixOp": "what LAPACK computes",
    "Nonzero": "the length is known from the values alone",
    "Output": "is not run",
    "PdbBreakpoint": "has an effect",
    "Print": "has an effect",
    "RandomVariable": "what NumPy's generator draws",
    "ScipySolver": "SciPy's methods, which call back",
    "SparseSLogDet": "what SuperLU computes",
    "SparseSolve": "what SuperLU computes",
    "RealFFT": "what transforms in half the time of FFT",
    "Repeat": "the length is known from the values alone, which are checked",
    "Reshape": "what gives elements another shape",
    "Shape_i": "what reads a length",
    "SearchSorted": "what searches",
    "Sort": "what sorts",
    "SortedOrder": "what sorts",
    "SpecifyShape": "has an effect: it raises",
    "SliceBounds": "what reads a slice, which is no tensor",
    "SlidingWindow": "what reads elements several times",
    "Stretch": "what repeats a length that turns out 1 when the function runs",
    "Scatter": "positions may occur twice, of which each counts",
    "Subtensor": "what reads a part",
    "SumStretched": "what sums over a length that was repeated",
}

"""Ops that other ops consist of, and such as nothing simpler has the effects of."""


def _classes(base: type) -> list[type]:
    return [c for s in base.__subclasses__() for c in (s, *_classes(s))]


def test_every_op_consists_of_others_or_is_known_not_to() -> None:
    for module in ("observing", "python_function"):  # which users load
        importlib.import_module(f"occelo_graph.ops.control.{module}")
    for family in installed():  # which are imported at their first use
        import_ops(family)
    own = [
        c
        for c in _classes(Op)
        if c.__module__.startswith("occelo_")
        # other tests may have imported these, whose ops wrap functions of other libraries
        and not c.__module__.startswith(("occelo_testing", "occelo_pytensor", "occelo_link"))
    ]
    bases = {b for c in own for b in c.__mro__[1:]}
    leaves = [c for c in own if c not in bases]
    named = {c for c in own if c.__name__ in PRIMITIVE}
    silent = {
        c
        for c in leaves
        if c.decompose is Op.decompose and not any(issubclass(c, n) for n in named)
    }  # type: ignore[attr-defined]
    assert not silent
    assert {c.__name__ for c in named} == set(PRIMITIVE)
    assert all(c.decompose is Op.decompose for c in named)  # type: ignore[attr-defined]
