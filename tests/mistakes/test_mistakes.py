"""Messages about mistakes of users: one golden file, with the same text on every linker.

Set ``OCCELO_WRITE_GOLDEN=1`` to write the file again; read the difference before committing it.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_arrays import functions as arrays
from occelo_graph import tensor as ot
from occelo_graph.config import config
from occelo_graph.inner_graph import OpFromGraph
from occelo_graph.ops.control import Assert, CheckAndRaise
from occelo_graph.ops.control.python_function import wrap_py
from occelo_graph.ops.elemwise.op import Elemwise
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.associative import associative_scan
from occelo_loops.ops.building.classic import foldl, scan, until
from occelo_loops.ops.building.classic import map as mapped
from occelo_loops.ops.building.loops import fori_loop, loop, while_loop
from occelo_loops.ops.building.switching import switch_case
from occelo_networks import functions as nn
from occelo_networks import initializers, updates
from occelo_networks.minimizing import minimize
from occelo_random import functions as random
from occelo_signal import functions as signal
from occelo_signal import numpy_functions as fourier
from occelo_signal.ops import polynomials
from occelo_sorting import functions as sorting
from occelo_special import functions as special

GOLDEN = Path(__file__).parent / "mistakes.txt"
Make = Callable[..., Any]


class World:
    """The variables that mistakes are made with, and `function` in the mode under test."""

    def __init__(self, mode: str) -> None:
        self.x = ot.dvector("x")
        self.y = ot.dvector("y")
        self.s = ot.dscalar("s")
        self.i = ot.lscalar("i")
        self.m = ot.dmatrix("m")
        self.w = oc.shared(np.ones(2), "w")
        self.mode = mode

    def f(self, inputs: Any, outputs: Any = None, **options: Any) -> Any:
        return oc.function(inputs, outputs, **{"mode": self.mode, **options})


@wrap_py([ot.dvector], [ot.dvector])
def failing(x: Any) -> Any:
    raise RuntimeError("the pump is broken")


@wrap_py([ot.dvector], [ot.dvector])
def of_wrong_shape(x: Any) -> Any:
    return x[None]


# fmt: off
MISTAKES: dict[str, Callable[[World], Any]] = {
    # building graphs
    "two known lengths that differ": lambda u: ot.tensor("a", dtype="float64", shape=(2,)) + ot.tensor("b", dtype="float64", shape=(3,)),
    "product of matrices that do not fit": lambda u: ot.dot(ot.tensor("a", dtype="float64", shape=(2, 3)), ot.tensor("b", dtype="float64", shape=(2, 3))),
    "an axis that does not exist": lambda u: u.x.sum(axis=1),
    "more indices than dimensions": lambda u: u.x[0, 0],
    "an index that is no index": lambda u: u.x["a"],
    "a reshape to another size": lambda u: ot.tensor("a", dtype="float64", shape=(6,)).reshape((4, 2)),
    "a dtype that does not exist": lambda u: ot.tensor("a", dtype="float65", shape=(2,)),
    "a dimension that dimshuffle has not": lambda u: u.x.dimshuffle(1),
    "joining tensors of different dimensions": lambda u: ot.concatenate([u.x, u.m]),
    "where with one value": lambda u: ot.where(u.x > 0, u.x),
    "a value for a name": lambda u: og.evaluate(u.x + 1, {"x": np.ones(2)}),
    "a value of other dimensions": lambda u: og.evaluate(u.x + 1, {u.x: 1.0}),
    "an array of Python objects": lambda u: u.f([u.x], u.x * 2)(np.array([1, None])),
    "lengths of a named function": lambda u: u.f([u.x, u.y], u.x + u.y, name="total")(
        np.ones(2), np.ones(3)
    ),
    "truth of a variable": lambda u: bool(u.x > 0),
    "the larger of a variable and a number, as Python's": lambda u: max(u.x, 0),
    "two comparisons at once": lambda u: 0 < u.s < 1,
    "iterating over a vector of unknown length": lambda u: list(u.x),
    "a variable where a number is needed": lambda u: float(u.s),
    "a condition made with !=": lambda u: ot.switch(u.x != 0, 1 / u.x, 0.0),
    "a name that is no string": lambda u: ot.dvector(3),
    "an array of strings": lambda u: ot.constant(np.array(["a"])),
    "a shared variable of a variable": lambda u: oc.shared(u.x),
    "a shared value of another type": lambda u: u.w.set_value(np.ones((2, 2))),
    "branches of different types": lambda u: ot.ifelse(u.s > 0, u.x, u.m),
    "a condition that is a vector": lambda u: ot.ifelse(u.x > 0, u.x, u.x),
    # gradients
    "gradient of a vector": lambda u: og.grad(u.x * 2, u.x),
    "gradient with respect to what does not matter": lambda u: og.grad(u.x.sum(), u.y),
    "gradient by a number": lambda u: og.grad(u.s, 2.0),
    "gradient by nothing": lambda u: og.grad(u.s, None),
    "gradient through an op without one": lambda u: og.grad(failing(u.x).sum(), u.x),
    "gradient that is not defined": lambda u: og.grad(og.undefined_grad(u.x).sum(), u.x),
    # compiling
    "inputs that are no list": lambda u: u.f(u.x, u.x),
    "a constant as an input": lambda u: u.f([ot.constant(1.0)], u.x),
    "a shared variable as an input": lambda u: u.f([u.w], u.w),
    "a number as an input": lambda u: u.f([3], u.x),
    "an input twice": lambda u: u.f([u.x, u.x], u.x),
    "an unused input": lambda u: u.f([u.x, u.y], u.x),
    "an input that is missing": lambda u: u.f([u.x], u.x + u.y),
    "an output that is no variable": lambda u: u.f([u.x], object()),
    "a keyword that function lacks": lambda u: u.f([u.x], u.x, updtes=[]),
    "a graph to save that is a number": lambda u: og.save("graph.occelo", 3.0),
    "a graph to save whose input is missing": lambda u: og.save("graph.occelo", u.x + u.y, [u.x]),
    "a key of outputs that is no string": lambda u: u.f([u.x], {1: u.x}),
    "an update of what is not shared": lambda u: u.f([u.x], u.x, updates={u.x: u.x}),
    "two updates of one variable": lambda u: u.f([], u.w, updates=[(u.w, u.w), (u.w, u.w)]),
    "an update of another dtype": lambda u: u.f([], u.w, updates={u.w: u.w.astype("float32")}),
    "an update of other dimensions": lambda u: u.f([], u.w, updates={u.w: u.w.sum()}),
    "a given of another type": lambda u: u.f([u.i], u.x.sum(), givens={u.x: u.i}),
    "a given for an input": lambda u: u.f([u.x], u.x, givens={u.x: u.w}),
    "a key of givens that is no variable": lambda u: u.f([], u.x, givens={"x": u.w}),
    "no_default_updates of no list": lambda u: u.f([u.x], u.x, no_default_updates="w"),
    "a mode that does not exist": lambda u: oc.function([u.x], u.x, mode="FAST_WALK"),
    "an in-place op": lambda u: u.f([u.x], Elemwise(ot.exp.scalar_op, ((0, 0),))(u.x)),
    "an implicit input without a value": lambda u: oc.In(u.x, implicit=True),
    "a mutable input that is not borrowed": lambda u: oc.In(u.x, mutable=True, borrow=False),
    "an inner graph that lacks an input": lambda u: OpFromGraph([u.x], [u.x + u.y]),
    "a profile of no kind": lambda u: u.f([u.x], u.x, profile=3),
    # calling
    "too many arguments": lambda u: u.f([u.x], u.x)([1.0], [2.0]),
    "too few arguments": lambda u: u.f([u.x, u.y], u.x + u.y)([1.0]),
    "a keyword that does not exist": lambda u: u.f([u.x], u.x)(z=1),
    "an argument given twice": lambda u: u.f([u.x], u.x)([1.0], x=[1.0]),
    "an argument with too few dimensions": lambda u: u.f([u.x], u.x, name="named")(1.0),
    "an argument of strings": lambda u: u.f([u.x], u.x)(["a"]),
    "an argument that is a variable": lambda u: u.f([u.x], u.x)(u.x),
    "None as an argument": lambda u: u.f([u.x], u.x)(None),
    "an argument that loses precision": lambda u: u.f([u.i], u.i)(1.5),
    "an argument of another length than is known": lambda u: u.f([v := ot.tensor("v", dtype="float64", shape=(3,))], v * 2)([1.0]),
    "an argument that strict refuses": lambda u: u.f([oc.In(u.x, strict=True)], u.x)([1.0]),
    "an output that does not exist": lambda u: u.f([u.x], {"a": u.x})([1.0], output_subset=["b"]),
    "an input that is looked up and does not exist": lambda u: u.f([u.x], u.x)["q"],
    # running
    "lengths that differ": lambda u: u.f([u.x, u.y], ot.exp(u.x) * u.y)([1.0, 2.0], [1.0, 2.0, 3.0]),
    "a product of matrices that does not fit": lambda u: u.f([u.m], ot.dot(u.m, u.m))(np.ones((2, 3))),
    "an index out of range": lambda u: u.f([u.x, u.i], u.x[u.i] + 1)([1.0, 2.0], 5),
    "an index array out of range": lambda u: u.f([u.x], u.x[np.array([0, 7])] * 2)([1.0, 2.0]),
    "a reshape that does not fit": lambda u: u.f([u.x], u.x.reshape((2, 2)) * 2)([1.0, 2.0, 3.0]),
    "a shape that is not as specified": lambda u: u.f([u.x], ot.specify_shape(u.x, (3,)) * 2)([1.0, 2.0]),
    "an assertion": lambda u: u.f([u.x], Assert("x must be positive")(u.x, ot.gt(u.x, 0).all()) * 2)([-1.0]),
    "a check of one's own": lambda u: u.f([u.s], CheckAndRaise(ZeroDivisionError, "s is 0")(u.s, ot.neq(u.s, 0)) * 2)(0.0),
    "the largest of nothing": lambda u: u.f([u.x], ot.max(u.x) * 2)([]),
    "lengths that cannot be joined": lambda u: u.f([u.m, u.x], ot.concatenate([u.m, u.x[None, :]]) * 2)(np.ones((1, 2)), [1.0]),
    "a negative length": lambda u: u.f([u.i], ot.zeros((u.i,)) + 1)(-2),
    "a step of 0": lambda u: u.f([u.x, u.i], u.x[:: u.i] * 2)([1.0], 0),
    "writing what does not fit": lambda u: u.f([u.x, u.y], ot.set_subtensor(u.x[:2], u.y) * 2)([1.0, 2.0, 3.0], [1.0, 2.0, 3.0]),
    "a wrapped function that fails": lambda u: u.f([u.x], failing(u.x) * 2)([1.0]),
    "a wrapped function of the wrong shape": lambda u: u.f([u.x], of_wrong_shape(u.x) * 2)([1.0]),
    "squeezing a dimension that is not 1": lambda u: u.f([u.m], ot.specify_shape(u.m, (None, 1)).squeeze(1) * 2)(np.ones((2, 3))),
    # loops, while they are built
    "a state that changes its dtype": lambda u: loop(lambda s: (s > 0.5, None), u.s, length=3),
    "a state that starts with too small a dtype": lambda u: loop(lambda k: (k * 0.5, None), u.i, length=3),
    "a number that cannot have the dtype of the steps": lambda u: loop(lambda k, e: (e, None), 0.5, xs=ot.lvector("k")),
    "a state that changes its number of dimensions": lambda u: loop(lambda s, e: (s + u.x, None), u.s, xs=u.x),
    "a state that changes a static length": lambda u: loop(lambda v: (v[1:], None), ot.tensor("a", dtype="float64", shape=(4,)), length=2),
    "a state that changes its structure": lambda u: loop(lambda t: ((t[0], t[1], t[1]), None), (u.s, u.s), length=2),
    "a state that loses a key": lambda u: loop(lambda t: ({"a": t["a"]}, None), {"a": u.s, "b": u.s}, length=2),
    "a state that becomes None": lambda u: loop(lambda v: (None, v), u.s, length=2),
    "a step that returns one value": lambda u: loop(lambda v: v + 1, u.s, length=2),
    "a step that returns None": lambda u: loop(lambda v: None, u.s, length=2),
    "a loop without xs and length": lambda u: loop(lambda v: (v, None), u.s),
    "a loop over a scalar": lambda u: loop(lambda v, e: (v + e, None), u.s, xs=u.s),
    "sequences of different static lengths": lambda u: loop(lambda v, e: (v + e[0] * e[1], None), u.s, xs=(ot.tensor("a", dtype="float64", shape=(3,)), ot.tensor("b", dtype="float64", shape=(2,)))),
    "a static length that is less than the steps": lambda u: loop(lambda v, e: (v + e, None), u.s, xs=ot.tensor("a", dtype="float64", shape=(3,)), length=5),
    "a negative number of steps": lambda u: loop(lambda v: (v, None), u.s, length=-1),
    "a number of steps that is no integer": lambda u: loop(lambda v: (v, None), u.s, length=u.s),
    "a condition of a loop that is a vector": lambda u: loop(lambda v: (v * 2, None), u.x, length=9, until=lambda v: v > 3),
    "a condition of while_loop that is None": lambda u: while_loop(lambda v: None, lambda v: v, u.s),
    "bounds of fori_loop that are no integers": lambda u: fori_loop(0.0, 1.5, lambda i, v: v, u.s),
    "a body of fori_loop that is no state": lambda u: fori_loop(0, 3, lambda i, v: (v, v), u.s),
    "an associative_scan that returns something else": lambda u: associative_scan(lambda a, b: (a, b), u.x),
    "branches of switch_case that differ in structure": lambda u: switch_case(u.i, [lambda: u.s, lambda: (u.s, u.s)]),
    "branches of switch_case of different types": lambda u: switch_case(u.i, [lambda: u.s, lambda: u.x]),
    "switch_case by a float": lambda u: switch_case(u.s, [lambda: u.s, lambda: u.x]),
    "switch_case without branches": lambda u: switch_case(u.i, []),
    # the classic form
    "outputs_info for more outputs than there are": lambda u: scan(lambda e, s, r: s + e + r, u.x, [u.s, u.s], return_updates=False),
    "a function of scan that returns None": lambda u: scan(lambda e: None, u.x, return_updates=False),
    "a scan without sequences and n_steps": lambda u: scan(lambda s: s * 2, outputs_info=u.s),
    "an n_steps that is no integer": lambda u: scan(lambda s: s * 2, outputs_info=u.s, n_steps=2.5),
    "taps into the future of an output": lambda u: scan(lambda s: s, outputs_info={"initial": u.x, "taps": [1]}, n_steps=3),
    "taps that need more initial values": lambda u: scan(lambda a, b: a + b, outputs_info={"initial": ot.tensor("a", dtype="float64", shape=(2,)), "taps": [-3, -1]}, n_steps=3),
    "taps of a scalar": lambda u: scan(lambda a, b: a + b, outputs_info={"initial": u.s, "taps": [-2, -1]}, n_steps=3),
    "the same tap twice": lambda u: scan(lambda a, b: a + b, sequences={"input": u.x, "taps": [0, 0]}),
    "a key of outputs_info that does not exist": lambda u: scan(lambda s: s, outputs_info={"init": u.s}, n_steps=3),
    "a key of sequences that does not exist": lambda u: scan(lambda s: s, sequences={"input": u.x, "tap": [0]}),
    "taps without an initial value": lambda u: scan(lambda s: s, outputs_info={"taps": [-1]}, n_steps=3),
    "a strict scan that reads a variable": lambda u: scan(lambda e: e * ot.exp(u.s), u.x, strict=True, return_updates=False),
    "until of a vector": lambda u: scan(lambda e: (e, until(u.x > e)), u.x),
    "until twice": lambda u: scan(lambda e: (e, until(e > 1), until(e > 2)), u.x),
    "updates that are not asked for": lambda u: scan(lambda e: (e, {u.w: u.w + e}), u.x, return_updates=False),
    "a map over a scalar": lambda u: mapped(lambda e: e, u.s, return_updates=False),
    "a fold that changes the dtype": lambda u: foldl(lambda e, s: s + e, u.x, ot.constant(np.int64(0)), return_updates=False),
    "a shared variable whose update changes the dtype": lambda u: scan(lambda e: (e, {u.w: ot.cast(u.w, "int8")}), u.x),
    # loops in gradients, and when they run
    "a gradient through while_loop without max_steps": lambda u: og.grad(while_loop(lambda v: v < 9, lambda v: v * 2, u.s), u.s),
    "a number of steps that is negative at run time": lambda u: u.f([u.s, u.i], loop(lambda v: (v * 2, None), u.s, length=u.i)[0])(1.0, -2),
    "a sequence that is too short": lambda u: u.f([u.x, u.i], loop(lambda v, e: (v + e, None), 0.0, xs=u.x, length=u.i)[0])([1.0, 2.0], 3),
    "a step that fails": lambda u: u.f([u.x, u.m], loop(lambda v, e: (u.m[ot.cast(e, "int64")].sum() + v, None), 0.0, xs=u.x)[0])([0.0, 1.0, 5.0], np.ones((2, 2))),
    "a loop in a loop that fails": lambda u: u.f([u.m, u.x], loop(lambda v, r: (loop(lambda w, e: (w + u.x[ot.cast(e, "int64")], None), v, xs=r, name="inner")[0], None), 0.0, xs=u.m, name="outer")[0])([[0.0, 1.0], [1.0, 7.0]], [1.0, 2.0]),
    "a trace of changing shapes": lambda u: u.f([u.x], loop(lambda k: (k + 1, u.x[:k] * 2), 2, length=3)[1])([1.0, 2.0, 3.0]),
    # trees
    "a leaf of a tree that is no variable": lambda u: u.f([{"w": u.x, "b": [3.0]}], u.x),
    "a leaf of a tree with a default": lambda u: u.f([{"x": oc.In(u.x, value=[1.0])}], u.x),
    "a leaf with another number of dimensions": lambda u: u.f([{"w": u.x, "b": [u.s]}], u.x * u.s)({"w": [1.0], "b": [[2.0]]}),
    "a tree of another structure": lambda u: u.f([{"w": u.x, "b": [u.s]}], u.x * u.s)({"w": [1.0]}),
    "a tree where None is": lambda u: u.f([{"w": u.x, "b": None}], u.x)({"w": [1.0], "b": 1.0}),
    "a gradient by a tree with a number": lambda u: og.grad(u.x.sum(), {"w": [u.x, 1.0]}),
    "keys that cannot be sorted": lambda u: og.grad(u.x.sum(), {1: u.x, "a": u.y}),
    "a leaf that is no result": lambda u: u.f([u.x], {"x": [u.x, "a"]}),
    "an update of another structure": lambda u: u.f([], updates=[([u.w], [u.w, u.w])]),
    # networks
    "gated halves of an odd length": lambda u: nn.glu(np.ones(3)),
    "one-hot vectors of floats": lambda u: nn.one_hot(u.x, 3),
    "rows of an embedding by floats": lambda u: nn.embedding(u.x, u.m),
    "a rate of dropout above 1": lambda u: nn.dropout(random.key(1), u.x, 1.5),
    "labels that are no numbers of classes": lambda u: nn.softmax_cross_entropy_with_integer_labels(u.m, u.x),
    "another reduction of losses": lambda u: nn.cross_entropy(u.m, [0, 1], reduction="avg"),
    "features that make no groups": lambda u: nn.group_norm(np.ones((2, 3, 4)), 2),
    "attention of vectors": lambda u: nn.scaled_dot_product_attention(u.x, u.m, u.m),
    "dropout of attention without a key": lambda u: nn.scaled_dot_product_attention(u.m, u.m, u.m, dropout_rate=0.5),
    "updating what is not shared": lambda u: updates.sgd(u.x.sum(), {"w": u.w, "x": u.x}, 0.1),
    "gradients of other parameters": lambda u: updates.adam([u.x, u.x], [u.w], 0.1),
    "a schedule of no steps": lambda u: updates.cosine_decay_schedule(1.0, 0),
    "a search without a start": lambda u: minimize((u.x**2).sum(), [u.x]),
    # sorting
    "sorting a scalar": lambda u: sorting.sort(u.s),
    "searching in a matrix": lambda u: sorting.searchsorted(u.m, 1.0),
    "the largest no elements": lambda u: sorting.topk(u.x, 0),
    "a quantile above 1": lambda u: sorting.quantile(u.x, 1.5),
    "a quantile above 1 at run time": lambda u: u.f([u.x, u.s], sorting.quantile(u.x, u.s))([1.0, 2.0], 1.5),
    "a method of quantiles that does not exist": lambda u: sorting.quantile(u.m, 0.5, method="cubic"),
    "a rule for the number of bins": lambda u: sorting.histogram(u.x, "auto"),
    "counting negative numbers": lambda u: u.f([u.x], sorting.bincount(u.x.astype("int64")))([1.0, -1.0]),
    "a mode of pad that does not exist": lambda u: arrays.pad(u.x, 1, "mirror"),
    "an option of another mode of pad": lambda u: arrays.pad(u.x, 1, "edge", constant_values=2),
    "padding by a negative number at run time": lambda u: u.f([u.x, u.i], arrays.pad(u.x, u.i))([1.0], -1),
    "the largest of selected elements": lambda u: ot.max(u.x, where=u.x > 0),
    "a weight of 0 alone": lambda u: u.f([u.x, u.y], arrays.average(u.x, weights=u.y))([1.0], [0.0]),
    "weights of another shape": lambda u: arrays.average(u.m, weights=u.x),
    "rows of an unknown number": lambda u: arrays.hstack(u.m),
    "blocks nested to different depths": lambda u: arrays.block([[u.m], u.m]),
    "an index beyond the end to insert at": lambda u: u.f([u.x], arrays.insert(u.x, 3, 0.0))([1.0]),
    "a float as an index to delete": lambda u: arrays.delete(u.x, [0.5]),
    "unequal parts": lambda u: u.f([u.x], arrays.hsplit(u.x, 2))([1.0, 2.0, 3.0]),
    "a turn about one axis": lambda u: arrays.rot90(u.m, axes=(1, 1)),
    "one sample for a difference": lambda u: u.f([u.x], arrays.gradient(u.x))([1.0]),
    "coefficients in a matrix": lambda u: arrays.polyval(u.m, u.x),
    "a shift by a float": lambda u: arrays.left_shift(u.i, u.x),
    "points of different numbers": lambda u: sorting.interp(u.s, [1.0, 2.0], [1.0]),
    "the position of no number": lambda u: u.f([u.x], sorting.nanargmax(u.x))([np.nan]),
    # options
    "an option that does not exist": lambda u: setattr(config, "florX", "float32"),
    "a value that an option does not take": lambda u: setattr(config, "floatX", "float65"),
    # choosing, putting, joining by subscripts
    "a choice without conditions": lambda u: arrays.select([], []),
    "conditions that are numbers": lambda u: arrays.select([u.x], [u.y]),
    "functions for other pieces": lambda u: arrays.piecewise(u.x, [u.x > 0], [1, 2, 3]),
    "putting into a tensor": lambda u: arrays.put(u.x, [0], 1.0),
    "no values to put": lambda u: arrays.place(u.x, u.x > 0, [], inplace=False),
    "positions of values that are floats": lambda u: arrays.put(u.x, u.y, 1.0, inplace=False),
    "an axis along which there are no rows": lambda u: arrays.apply_along_axis(ot.sum, 2, u.m),
    "a function that removes all axes": lambda u: arrays.apply_over_axes(lambda v, axis: v.sum(), ot.dtensor3("t"), [0]),
    "blocks that do not divide": lambda u: arrays.view_as_blocks(ot.tensor("a", dtype="float64", shape=(4, 5)), (2, 2)),
    "a window longer than its axis": lambda u: arrays.sliding_window_view(ot.tensor("a", dtype="float64", shape=(3,)), 4),
    "bits of floats": lambda u: arrays.packbits(u.x),
    "bytes that are no bytes": lambda u: arrays.unpackbits(u.i),
    "text that joins matrices": lambda u: arrays.r_["r", u.x],
    "segments by floats": lambda u: arrays.segment_sum(u.x, u.y),
    "a product of indices that einsum lacks": lambda u: arrays.einsum("ij,jk->il", u.m, u.m),
    "packing nothing": lambda u: arrays.pack(),
    "a degree below 0": lambda u: polynomials.polyfit(u.x, u.y, -1),
    "points of a polynomial in a matrix": lambda u: polynomials.polyfit(u.m, u.y, 1),
    "roots of a matrix": lambda u: polynomials.roots(u.m),
    # parts of tensors
    "a mode of x.at that does not exist": lambda u: u.x.at[[5]].set(1.0, mode="wrap"),
    "a method of x.at that does not exist": lambda u: u.x.at[[5]].substract(1.0),
    "a part of another shape": lambda u: u.x.at[[0, 1]].max(np.ones(3)),
    "complex numbers compared": lambda u: ot.zvector("z").at[[0]].max(1.0),
    "a position beyond the end at run time": lambda u: u.f([u.x], u.x.at[[5]].get())(np.ones(2)),
    "what is no part set": lambda u: ot.set_subtensor(u.x + 1, 2.0),
    # signals
    "a convolution of nothing": lambda u: signal.convolve(ot.tensor("a", dtype="float64", shape=(0,)), u.y),
    "a mode of convolve that does not exist": lambda u: signal.convolve(u.x, u.y, mode="half"),
    "a convolution of other dimensions": lambda u: signal.convolve(u.x, u.m),
    "a transform of a scalar": lambda u: fourier.fft(u.s),
    "a transform of no length": lambda u: fourier.fft(u.x, n=0),
    "a norm of transforms that does not exist": lambda u: fourier.fft(u.x, norm="unitary"),
    # special functions
    "a derivative that is not known": lambda u: og.grad(special.jv(u.s, u.x).sum(), u.s),
    "a negative number of Bernoulli": lambda u: special.bernoulli(-1),
    "a special function of complex numbers": lambda u: special.gammaln(ot.zvector("z")),
    # matrices
    "a matrix that is not square": lambda u: linalg.inv(ot.tensor("a", dtype="float64", shape=(2, 3))),
    "a vector for a matrix": lambda u: linalg.cholesky(u.x),
    "a keyword that cholesky lacks": lambda u: linalg.cholesky(u.m, overwrite=True),
    "a routine that LAPACK lacks": lambda u: linalg.svd(u.m, lapack_driver="gesv"),
    "a matrix with NaN": lambda u: u.f([u.m], linalg.inv(u.m, check_finite=True))(np.full((2, 2), np.nan)),
    "a singular matrix": lambda u: u.f([u.m], linalg.inv(u.m))(np.zeros((2, 2))),
    "a triangle that does not exist": lambda u: linalg.eigh(u.m, "X"),
    # first values, and graphs as ops
    "a mode of variances that does not exist": lambda u: initializers.variance_scaling(1.0, "fan", "normal"),
    "a vector without inputs and outputs": lambda u: initializers.he_normal()(random.key(0), (3,)),
    "an op from a graph with other inputs": lambda u: OpFromGraph([u.x], [u.x * u.w.sum()])(u.x, u.y),
    "a batch of a scalar": lambda u: og.vectorize_graph(u.x * 2, {u.x: u.s}),
    "a map over axes that differ": lambda u: og.vmap(lambda a, b: a + b)(ot.tensor("a", dtype="float64", shape=(2,)), ot.tensor("b", dtype="float64", shape=(3,))),
}
# fmt: on


def told(name: str, mode: str) -> str:
    """Class and text of what a mistake raises, without what depends on the machine."""
    with warnings.catch_warnings():
        # backends that must know lengths say which inputs decide them
        warnings.filterwarnings("ignore", "Shapes in the graph depend on values")
        warnings.filterwarnings("ignore", ".* it runs in Python")
        warnings.filterwarnings("ignore", "== and != compare variables by identity")
        warnings.filterwarnings("ignore", "scan will return", DeprecationWarning)
        with pytest.raises(Exception) as caught:  # noqa: PT011 the golden file has the text
            MISTAKES[name](World(mode))
    text = str(caught.value)
    if isinstance(caught.value, KeyError):
        text = caught.value.args[0]
    notes = getattr(caught.value, "__notes__", [])
    text = "\n".join([text, *(note for note in notes if not note.startswith("See docs/"))])
    text = re.sub(re.escape(__file__) + r":\d+", "FILE:LINE", text)
    text = re.sub(r"there are [^\n]*FAST_RUN[^\n]*", "there are ...", text)
    text = re.sub(r"\n    (?=\S*.*\n)    *\"[^\n]*lambda u[^\n]*", "", text)
    text = re.sub(r"object at 0x[0-9a-f]+", "object at ...", text)
    return f"{type(caught.value).__name__}: {text}"


def golden() -> dict[str, str]:
    found: dict[str, str] = {}
    for part in GOLDEN.read_text().split("\n## ")[1:]:
        name, _, text = part.partition("\n")
        found[name] = text.strip("\n")
    return found


def test_the_golden_file_is_complete() -> None:
    if os.environ.get("OCCELO_WRITE_GOLDEN"):
        parts = [f"## {name}\n{told(name, 'vm')}\n" for name in MISTAKES]
        GOLDEN.write_text("What users are told of their mistakes.\n\n" + "\n".join(parts))
    assert list(golden()) == list(MISTAKES)
    assert len(MISTAKES) >= 100


@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_is_told_alike_on_every_linker(name: str, mode: str) -> None:
    assert told(name, mode) == golden()[name]


def test_the_last_line_is_the_cause_and_the_text_fits_on_a_screen() -> None:
    for name, text in golden().items():
        lines = text.splitlines()
        assert len(lines) <= 24, name
        assert len(lines[-1]) > 3, name
        assert "occelo_" not in text, name
