"""Scripts as PyTensor's users write them, of which only the imports differ, compared with NumPy."""

from __future__ import annotations

import runpy
import textwrap
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.linalg
import scipy.special

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
V = np.array([1.0, -2.0, 3.0])
DATA = np.random.default_rng(0).normal(size=(40, 3))
LABELS = (DATA @ V > 0).astype("float64")


def _trained(steps: int) -> np.ndarray[Any, Any]:
    w, b = np.zeros(3), 0.0
    for _ in range(steps):
        p = 1 / (1 + np.exp(-(DATA @ w + b)))
        error = (p - LABELS) / len(LABELS)
        w, b = w - 0.1 * (DATA.T @ error + 0.02 * w), b - 0.1 * error.sum()
    return w


def _powers() -> list[float]:
    values = [1.0]
    while values[-1] < 45:
        values.append(values[-1] * 2)
    return values[1:]


SCRIPTS: dict[str, tuple[str, Any]] = {
    "adding two matrices": (
        """
        x = pt.dmatrix("x")
        y = pt.dmatrix("y")
        z = x + y
        f = pytensor.function([x, y], z)
        result = f([[1, 2], [3, 4]], [[10, 20], [30, 40]])
        """,
        [[11.0, 22.0], [33.0, 44.0]],
    ),
    "several outputs and a default": (
        """
        from pytensor import function
        from pytensor.compile.io import In
        x, y = pt.dscalars("x", "y")
        f = function([x, In(y, value=3), In(pt.dscalar("w"), value=2, name="w")], [x + y, abs(x - y), (x - y) ** 2], on_unused_input="ignore")
        result = f(33)
        """,
        [36.0, 30.0, 900.0],
    ),
    "an accumulator": (
        """
        from pytensor import shared
        state = shared(0)
        inc = pt.iscalar("inc")
        accumulator = pytensor.function([inc], state, updates=[(state, state + inc)])
        accumulator(1)
        accumulator(300)
        foo = pt.scalar(dtype=state.dtype)
        skip = pytensor.function([inc, foo], state * 2 + inc, givens=[(state, foo)])
        decrement = accumulator.copy(swap={state: shared(100)})
        result = [state.get_value(), skip(1, 3), decrement(2)]
        """,
        [301, 7, 100],
    ),
    "logistic regression": (
        """
        x = pt.matrix("x")
        y = pt.vector("y")
        w = pytensor.shared(np.zeros(3), name="w")
        b = pytensor.shared(0.0, name="b")
        p_1 = 1 / (1 + pt.exp(-pt.dot(x, w) - b))
        prediction = p_1 > 0.5
        xent = -y * pt.log(p_1) - (1 - y) * pt.log(1 - p_1)
        cost = xent.mean() + 0.01 * (w**2).sum()
        gw, gb = pt.grad(cost, [w, b])
        train = pytensor.function(
            inputs=[x, y], outputs=[prediction, xent], updates=((w, w - 0.1 * gw), (b, b - 0.1 * gb)))
        for i in range(20):
            pred, err = train(DATA, LABELS)
        result = w.get_value()
        """,
        _trained(20),
    ),
    "gradient of a logistic function": (
        """
        from pytensor.gradient import grad
        x = pt.dmatrix("x")
        s = pt.sum(1 / (1 + pt.exp(-x)))
        dlogistic = pytensor.function([x], grad(s, x))
        result = dlogistic([[0, 1], [-1, -2]])
        """,
        scipy.special.expit([[0, 1], [-1, -2]]) * scipy.special.expit([[0, -1], [1, 2]]),
    ),
    "jacobian by scan": (
        """
        x = pt.dvector("x")
        y = x**2
        J = pytensor.scan(
            lambda i, y, x: pytensor.gradient.grad(y[i], x),
            sequences=pt.arange(y.shape[0]), non_sequences=[y, x], return_updates=False)
        result = pytensor.function([x], J)([4, 4, 1])
        """,
        np.diag([8.0, 8.0, 2.0]),
    ),
    "jacobian and hessian": (
        """
        from pytensor.gradient import hessian, jacobian
        x = pt.dvector("x")
        cost = (x**3).sum() + x[0] * x[1]
        f = pytensor.function([x], [jacobian(x**2, x), hessian(cost, x)])
        result = f(V)
        """,
        [
            np.diag(2 * V),
            np.diag(6 * V) + np.eye(3, k=1) * [[1], [0], [0]] + np.eye(3, k=-1) * [[0], [1], [0]],
        ],
    ),
    "forward and backward products": (
        """
        from pytensor.gradient import pullback, pushforward
        W, v, x = pt.dmatrix("W"), pt.dvector("v"), pt.dvector("x")
        y = pt.dot(x, W)
        f = pytensor.function([W, v, x], [pushforward(y, W, W), pullback(y, W, v)])
        result = f(A, V, [1.0, 0.0, 2.0])
        """,
        [np.array([1.0, 0.0, 2.0]) @ A, np.outer([1.0, 0.0, 2.0], V)],
    ),
    "a power by scan": (
        """
        k = pt.iscalar("k")
        B = pt.vector("B")
        outputs = pytensor.scan(
            fn=lambda prior, B: prior * B, outputs_info=pt.ones_like(B), non_sequences=B, n_steps=k,
            return_updates=False)
        power = pytensor.function(inputs=[B, k], outputs=outputs[-1])
        result = power(np.arange(5.0), 4)
        """,
        np.arange(5.0) ** 4,
    ),
    "a scan with its updates": (
        """
        k = pt.iscalar("k")
        outputs, updates = pytensor.scan(fn=lambda prior: prior * 2, outputs_info=pt.as_tensor(1.0), n_steps=k)
        result = pytensor.function([k], outputs, updates=updates)(4)
        """,
        [2.0, 4.0, 8.0, 16.0],
    ),
    "a polynomial by scan": (
        """
        coefficients = pt.vector("coefficients")
        x = pt.scalar("x")
        components = pytensor.scan(
            fn=lambda c, power, x: c * (x**power), outputs_info=None,
            sequences=[coefficients, pt.arange(10000)], non_sequences=x, return_updates=False)
        result = pytensor.function(inputs=[coefficients, x], outputs=components.sum())([1.0, 0.0, 2.0], 3.0)
        """,
        19.0,
    ),
    "a scan that stops": (
        """
        from pytensor.scan import until
        def power_of_2(previous, maximum):
            return previous * 2, until(previous * 2 > maximum)
        maximum = pt.scalar()
        values = pytensor.scan(
            power_of_2, outputs_info=pt.constant(1.0), non_sequences=maximum, n_steps=1024, return_updates=False)
        result = pytensor.function([maximum], values)(45)
        """,
        _powers(),
    ),
    "until from its older place": (
        """
        from pytensor.scan.utils import until
        x = pt.dvector("x")
        values = pytensor.scan(lambda v: (v, until(v > 2)), sequences=x, return_updates=False)
        result = pytensor.function([x], values)([1.0, 2.0, 3.0, 4.0])
        """,
        [1.0, 2.0, 3.0],
    ),
    "taps": (
        """
        from pytensor.scan.basic import scan
        u = pt.dvector("u")
        x0 = pt.dvector("x0")
        out = scan(lambda u_now, u_before, x2, x1: u_now - u_before + 0.5 * x1 + 0.25 * x2,
            sequences=dict(input=u, taps=[0, -1]), outputs_info=dict(initial=x0, taps=[-2, -1]), strict=True,
            return_updates=False)
        result = pytensor.function([u, x0], out)([1.0, 3.0, 2.0], [4.0, 8.0])
        """,
        [2.0 + 4.0 + 1.0, -1.0 + 3.5 + 2.0],
    ),
    "views of scan": (
        """
        from pytensor.scan.views import foldl, map, reduce
        x = pt.dvector("x")
        squares = map(lambda v: v**2, x, return_updates=False)
        total = reduce(lambda v, s: s + v, x, pt.constant(0.0), return_updates=False)
        horner = foldl(lambda v, s: s * 2 + v, x, pt.constant(0.0), return_updates=False)
        result = pytensor.function([x], [squares, total, horner])(V)
        """,
        [V**2, 2.0, 3.0],
    ),
    "lazy conditions": (
        """
        from pytensor.ifelse import ifelse
        a, b = pt.scalars("a", "b")
        x, y = pt.matrices("x", "y")
        z_switch = pt.switch(pt.lt(a, b), pt.mean(x), pt.mean(y))
        z_lazy = ifelse(pt.lt(a, b), pt.mean(x), pt.mean(y))
        f = pytensor.function([a, b, x, y], [z_switch, z_lazy], mode=pytensor.compile.mode.Mode(linker="vm"))
        result = f(0.0, 1.0, A, A * 2)
        """,
        [A.mean(), A.mean()],
    ),
    "printing": (
        """
        from pytensor.printing import Print, debugprint, pp
        x = pt.dvector("x")
        y = Print("x is", attrs=("shape",))(x) * 2
        text = debugprint(y, file="str")
        assert "Print" in text and "id A" in text
        assert pp(pt.dscalar("a") + 1)
        result = pytensor.function([x], y)(V)
        """,
        2 * V,
    ),
    "an assertion": (
        """
        from pytensor.raise_op import Assert, CheckAndRaise
        x = pt.dvector("x")
        y = Assert("all positive")(x, pt.all(x > 0))
        f = pytensor.function([x], y.sum())
        try:
            f(V)
        except AssertionError as error:
            assert "all positive" in str(error)
            result = f(np.abs(V))
        """,
        6.0,
    ),
    "linear algebra": (
        """
        from pytensor.tensor.linalg import solve
        from pytensor.tensor.nlinalg import det, inv, pinv, slogdet
        from pytensor.tensor.slinalg import cholesky, expm, solve_triangular
        x, b = pt.dmatrix("x"), pt.dvector("b")
        L = cholesky(x)
        f = pytensor.function([x, b], [L, solve_triangular(L, b, lower=True), solve(x, b), det(x), inv(x), expm(x)])
        result = f(A, V)
        """,
        [
            np.linalg.cholesky(A),
            scipy.linalg.solve_triangular(np.linalg.cholesky(A), V, lower=True),
            np.linalg.solve(A, V),
            np.linalg.det(A),
            np.linalg.inv(A),
            scipy.linalg.expm(A),
        ],
    ),
    "indexing": (
        """
        x = pt.dmatrix("x")
        i = pt.lvector("i")
        f = pytensor.function([x, i], [x[1], x[:, ::-1], x[i, i], x[x > 1], x[..., None].shape, x[-1, 1:]])
        result = f(A, [0, 2])
        """,
        [A[1], A[:, ::-1], A[[0, 2], [0, 2]], A[A > 1], (3, 3, 1), A[-1, 1:]],
    ),
    "writing parts": (
        """
        from pytensor.tensor.subtensor import inc_subtensor, set_subtensor
        x = pt.dvector("x")
        y = set_subtensor(x[1:], 7.0)
        z = inc_subtensor(x[pt.as_tensor([0, 0, 1])], 1.0)
        g = pytensor.grad((y * x).sum(), x)
        result = pytensor.function([x], [y, z, x[0].set(5.0), g])(V)
        """,
        [[1.0, 7.0, 7.0], [3.0, -1.0, 3.0], [5.0, -2.0, 3.0], [2.0, 7.0, 7.0]],
    ),
    "shapes": (
        """
        from pytensor.tensor.basic import as_tensor_variable, concatenate, stack, zeros_like
        from pytensor.tensor.shape import reshape, shape_padleft, specify_shape
        x = pt.dmatrix("x")
        y = specify_shape(x, (3, 3))
        assert y.type.shape == (3, 3)
        f = pytensor.function([x], [
            reshape(x, (9,)), x.dimshuffle(1, "x", 0), shape_padleft(x).shape, concatenate([x, zeros_like(x)], axis=1),
            stack([x, x]), x.flatten(), as_tensor_variable(V) + x[0], pt.shape(x)])
        result = f(A)
        """,
        [
            A.reshape(9),
            A.T[:, None, :],
            (1, 3, 3),
            np.concatenate([A, 0 * A], axis=1),
            np.stack([A, A]),
            A.ravel(),
            V + A[0],
            (3, 3),
        ],
    ),
    "functions of their modules": (
        """
        from pytensor.tensor.extra_ops import bincount, cumsum, diff, repeat, searchsorted, unique
        from pytensor.tensor.math import clip, exp, gammaln, log1pexp, maximum, sigmoid, sqr
        from pytensor.tensor.sort import argsort, sort
        from pytensor.tensor.special import log_softmax, softmax
        x, i = pt.dvector("x"), pt.lvector("i")
        f = pytensor.function([x, i], [
            sort(x), argsort(x), cumsum(x), diff(x), repeat(x, 2), unique(i), bincount(i), searchsorted(sort(x), 0.0),
            gammaln(sqr(x)), softmax(x), log_softmax(x), clip(x, -1, 1), maximum(exp(x), sigmoid(x)), log1pexp(x)])
        result = f(V, [2, 0, 2])
        """,
        [
            np.sort(V),
            np.argsort(V),
            np.cumsum(V),
            np.diff(V),
            np.repeat(V, 2),
            [0, 2],
            [1, 0, 2],
            1,
            scipy.special.gammaln(V**2),
            scipy.special.softmax(V),
            scipy.special.log_softmax(V),
            np.clip(V, -1, 1),
            np.maximum(np.exp(V), scipy.special.expit(V)),
            np.log1p(np.exp(V)),
        ],
    ),
    "types": (
        """
        from pytensor.tensor.type import TensorType, dmatrix, iscalar, tensor3, vector
        mytype = TensorType("float64", shape=(None, 3))
        x = mytype("x")
        assert x.type == TensorType("float64", (None, 3)) and dmatrix("m").type.ndim == 2
        assert vector("v").dtype == pytensor.config.floatX and tensor3("t").broadcastable == (False,) * 3
        n = iscalar("n")
        result = pytensor.function([x, n], x * n)(A, 2)
        """,
        A * 2,
    ),
    "an op": (
        """
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        class DoubleOp(Op):
            __props__ = ()
            def make_node(self, x):
                x = pt.as_tensor_variable(x)
                return Apply(self, [x], [x.type()])
            def perform(self, node, inputs, output_storage):
                (x,) = inputs
                output_storage[0][0] = x * 2
            def infer_shape(self, fgraph, node, i0_shapes):
                return i0_shapes
            def pullback(self, inputs, outputs, output_grads):
                return [output_grads[0] * 2]
        x = pt.dmatrix("x")
        y = DoubleOp()(x)
        result = pytensor.function([x], [y, pytensor.grad((y**2).sum(), x)])(A)
        """,
        [2 * A, 8 * A],
    ),
    "an op of a Python function": (
        """
        from pytensor.compile.ops import as_op
        @as_op(itypes=[pt.dmatrix, pt.dmatrix], otypes=[pt.dmatrix])
        def numpy_dot(a, b):
            return np.dot(a, b)
        x = pt.dmatrix("x")
        result = pytensor.function([x], numpy_dot(x, x))(A)
        """,
        A @ A,
    ),
    "a graph as an op": (
        """
        from pytensor.compile.builders import OpFromGraph
        x, y, z = pt.scalars("x", "y", "z")
        op = OpFromGraph([x, y, z], [x + y * z])
        e = op(x, y, z) + op(z, y, x)
        result = pytensor.function([x, y, z], [e, pytensor.grad(e, y)])(2.0, 3.0, 5.0)
        """,
        [28.0, 7.0],
    ),
    "a function graph and features": (
        """
        from pytensor.graph.features import Feature, History
        from pytensor.graph.fg import FunctionGraph
        class Counter(Feature):
            imported = 0
            changed = 0
            def on_import(self, fgraph, node, reason):
                self.imported += 1
            def on_change_input(self, fgraph, node, i, r, new_r, reason=None):
                self.changed += 1
        x, y = pt.dvector("x"), pt.dvector("y")
        fg = FunctionGraph([x, y], [pt.exp(x) + y], clone=False)
        counter = Counter()
        fg.attach_feature(counter)
        fg.replace(fg.outputs[0].owner.inputs[0], pt.log(x), reason="test")
        assert counter.imported >= 1 and counter.changed == 1
        assert len(fg.toposort()) == 2
        result = pytensor.function(fg.inputs, fg.outputs[0])([1.0, 2.0], [3.0, 4.0])
        """,
        np.log([1.0, 2.0]) + [3.0, 4.0],
    ),
    "a rewrite": (
        """
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.rewriting.basic import in2out, node_rewriter
        from pytensor.tensor.math import add, mul
        @node_rewriter([pt.add])
        def local_double(fgraph, node):
            a, b = node.inputs
            if a is b:
                return [2 * a]
        x = pt.dvector("x")
        fg = FunctionGraph([x], [x + x], clone=False)
        in2out(local_double).rewrite(fg)
        assert fg.outputs[0].owner.op == mul
        result = pytensor.function([x], fg.outputs[0])(V)
        """,
        2 * V,
    ),
    "a rewrite in the database": (
        """
        from pytensor.compile.mode import get_default_mode, optdb
        from pytensor.graph.rewriting.db import RewriteDatabaseQuery
        from pytensor.graph.rewriting.utils import rewrite_graph
        x = pt.dvector("x")
        y = rewrite_graph(pt.log(pt.exp(x)), include=("canonicalize", "stabilize", "specialize"))
        assert y is x
        mode = get_default_mode().including("fast_run").excluding("inplace")
        result = pytensor.function([x], pt.log(pt.exp(x)), mode=mode)(V)
        """,
        V,
    ),
    "a pattern": (
        """
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.rewriting.basic import PatternNodeRewriter, WalkingGraphRewriter
        x, y = pt.dvector("x"), pt.dvector("y")
        rewrite = PatternNodeRewriter((pt.true_div, (pt.mul, "x", "y"), "y"), "x")
        fg = FunctionGraph([x, y], [(x * y) / y], clone=False)
        WalkingGraphRewriter(rewrite).rewrite(fg)
        assert fg.outputs[0] is x
        result = pytensor.function([x], fg.outputs[0])(V)
        """,
        V,
    ),
    "walks over graphs": (
        """
        from pytensor.graph.basic import Constant, Variable, equal_computations
        from pytensor.graph.replace import clone_replace, graph_replace, vectorize_graph
        from pytensor.graph.traversal import ancestors, applys_between, explicit_graph_inputs, graph_inputs
        x, y = pt.dvector("x"), pt.dvector("y")
        z = pt.exp(x) + 1
        assert set(explicit_graph_inputs([z])) == {x} and x in ancestors([z])
        assert len(list(applys_between([x], [z]))) in (2, 3)
        w = clone_replace(z, {x: y})
        assert equal_computations([w], [pt.exp(y) + 1])
        X = pt.dmatrix("X")
        result = pytensor.function([X], vectorize_graph(z, {x: X}))(A)
        """,
        np.exp(A) + 1,
    ),
    "a stream of random numbers": (
        """
        from pytensor.tensor.random.utils import RandomStream
        srng = RandomStream(seed=234)
        rv_u = srng.uniform(0, 1, size=(2, 2))
        f = pytensor.function([], rv_u)
        nearly_zeros = pytensor.function([], rv_u + rv_u - 2 * rv_u)
        first, second = f(), f()
        assert (first != second).all() and (0 <= first).all() and (first < 1).all()
        result = nearly_zeros()
        """,
        np.zeros((2, 2)),
    ),
    "a shared generator": (
        """
        rng = pt.random.shared_rng(seed=123)
        next_rng, draw = rng.normal(1.0, 2.0, size=(3,))
        f = pytensor.function([], draw, updates={rng: next_rng})
        result = np.concatenate([f(), f()])
        """,
        np.random.default_rng(123).normal(1.0, 2.0, size=6),
    ),
    "vectorize": (
        """
        from pytensor.tensor.functional import vectorize
        x, y = pt.dmatrix("x"), pt.dmatrix("y")
        f = vectorize(lambda a, b: a @ b, signature="(n),(n)->()")
        result = pytensor.function([x, y], f(x, y))(A, 2 * A)
        """,
        (A * 2 * A).sum(axis=1),
    ),
    "barriers": (
        """
        from pytensor.gradient import disconnected_grad, grad_clip, grad_scale, zero_grad
        x = pt.dvector("x")
        cost = (disconnected_grad(x) * x + grad_clip(x, -1, 1) * 3 + grad_scale(x, 2.0) + zero_grad(x**2)).sum()
        result = pytensor.function([x], pytensor.grad(cost, x))(V)
        """,
        V + 1 + 2,
    ),
    "checking a gradient": (
        """
        from pytensor.gradient import verify_grad
        rng = np.random.default_rng(1)
        verify_grad(lambda x: pt.tanh(x).sum(), [V], rng=rng)
        result = pt.tanh(V).eval()
        """,
        np.tanh(V),
    ),
    "options": (
        """
        from pytensor.configdefaults import config
        assert config is pytensor.config
        with pytensor.config.change_flags(floatX="float32"):
            x = pt.vector("x")
        result = pytensor.function([x], x.dtype == "float32" and x * 2)(V.astype("float32"))
        """,
        2 * V,
    ),
    "looking for NaN": (
        """
        from pytensor.compile.debug.nanguardmode import NanGuardMode
        x = pt.dvector("x")
        f = pytensor.function([x], pt.log(x), mode=NanGuardMode(nan_is_error=True, inf_is_error=True, big_is_error=False))
        try:
            f(V)
        except AssertionError:
            result = f(np.abs(V))
        """,
        np.log(np.abs(V)),
    ),
    "lists": (
        """
        import pytensor.typed_list
        l = pytensor.typed_list.TypedListType(pt.TensorType("float64", (None,)))()
        v = pt.dvector("v")
        o = pytensor.typed_list.append(l, v)
        result = pytensor.function([l, v], o)([V], 2 * V)
        """,
        [V, 2 * V],
    ),
    "debugging with a step of its own": (
        """
        from pytensor.compile.debug.monitormode import MonitorMode
        seen = []
        def inspect_inputs(fgraph, i, node, fn):
            seen.append(node)
        x = pt.dscalar("x")
        f = pytensor.function([x], [5 * x], mode=MonitorMode(pre_func=inspect_inputs))
        result = f(3)
        assert seen
        """,
        [15.0],
    ),
}


FURTHER = [
    runpy.run_path(str(Path(__file__).with_name(f"scripts_of_{kind}.py")))
    for kind in ("algorithms", "galleries", "libraries", "models", "networks", "tutorials")
]
ALL: dict[str, tuple[str, Any]] = dict(
    pair for scripts in (SCRIPTS, *(f["SCRIPTS"] for f in FURTHER)) for pair in scripts.items()
)
ARRAYS = {k: v for f in FURTHER for k, v in f.items() if isinstance(v, np.ndarray)}


def test_there_are_more_than_a_hundred() -> None:
    assert len(ALL) == len(SCRIPTS) + sum(len(f["SCRIPTS"]) for f in FURTHER) > 100
    for scripts in FURTHER:  # which see the arrays of all files
        assert all(
            np.array_equal(scripts[name], ARRAYS[name]) for name in ARRAYS if name in scripts
        )


@pytest.mark.sampled(12)
@pytest.mark.filterwarnings("ignore:scan will return its outputs alone:DeprecationWarning")
@pytest.mark.filterwarnings(
    "ignore:Functions are not kept in the cache"
)  # their errors are in no module
@pytest.mark.filterwarnings("ignore:.* encountered in (sqrt|log):RuntimeWarning")
@pytest.mark.filterwarnings("ignore:normal got no key")  # PyTensor warns of such draws, too
@pytest.mark.parametrize("name", ALL)
def test_a_script_runs_with_other_imports(name: str) -> None:
    text, expected = ALL[name]
    script = "import pytensor\nimport pytensor.tensor as pt\n" + textwrap.dedent(text)
    names = {**ARRAYS, "np": np, "A": A, "V": V, "DATA": DATA, "LABELS": LABELS}
    exec(compile(script.replace("pytensor", "occelo"), name, "exec"), names)
    _compare(names["result"], expected)


def _compare(result: Any, expected: Any) -> None:
    if isinstance(result, list):
        assert len(result) == len(expected)
        for one, other in zip(result, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-9, atol=1e-12)
    else:
        np.testing.assert_allclose(result, expected, rtol=1e-6, atol=1e-12)
