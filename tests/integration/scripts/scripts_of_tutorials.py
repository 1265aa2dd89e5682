"""Scripts of tutorials, documentation and libraries: functions, scans, ops, printing, random numbers, rewriting."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

SPECIAL: Any = importlib.import_module("scipy.special")
LINALG: Any = importlib.import_module("scipy.linalg")
STATS: Any = importlib.import_module("scipy.stats")

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
V = np.array([1.0, -2.0, 3.0])


def _draw(seed: int) -> Any:
    return np.random.default_rng(seed)


def _euler(steps: int, h: float) -> Any:
    y = np.array([1.0, 0.0])
    rows = []
    for _ in range(steps):
        y = y + h * np.array([y[1], -y[0]])
        rows.append(y)
    return np.array(rows)


def _newton() -> float:
    x = 1.0
    for _ in range(8):
        x = x - (x**2 - 2) / (2 * x)
    return x


def _adam(steps: int) -> float:
    x, m, v = 5.0, 0.0, 0.0
    for t in range(1, steps + 1):
        g = 2 * (x - 1)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        x = x - 0.1 * (m / (1 - 0.9**t)) / (np.sqrt(v / (1 - 0.999**t)) + 1e-8)
    return x


SCRIPTS: dict[str, tuple[str, Any]] = {
    "an ordinary differential equation by scan": (
        """
        y0, h = pt.dvector("y0"), pt.dscalar("h")
        def step(y, h):
            return y + h * pt.stack([y[1], -y[0]])
        ys = pytensor.scan(step, outputs_info=[y0], non_sequences=[h], n_steps=5, strict=True, return_updates=False)
        result = pytensor.function([y0, h], ys)([1.0, 0.0], 0.1)
        """,
        _euler(5, 0.1),
    ),
    "Newton's method by scan": (
        """
        f = lambda x: x**2 - 2
        x0 = pt.dscalar("x0")
        def step(x):
            return x - f(x) / pytensor.grad(f(x), x)
        out = pytensor.scan(step, outputs_info=x0, n_steps=8, return_updates=False)
        result = pytensor.function([x0], out[-1])(1.0)
        """,
        _newton(),
    ),
    "a nested scan": (
        """
        n = pt.iscalar("n")
        rows = pytensor.scan(
            lambda i: pytensor.scan(lambda j, i: i * 10 + j, sequences=pt.arange(3), non_sequences=i, return_updates=False),
            sequences=pt.arange(n), return_updates=False)
        result = pytensor.function([n], rows)(2)
        """,
        [[0, 1, 2], [10, 11, 12]],
    ),
    "a scan of a Markov chain with draws": (
        """
        rng = pytensor.shared(np.random.default_rng(11), name="rng")
        def step(x, rng):
            next_rng, e = pt.random.normal(0, 1, rng=rng, return_next_rng=True)
            return 0.5 * x + e, next_rng
        xs, rngs = pytensor.scan(step, outputs_info=[pt.zeros(()), rng], n_steps=4, return_updates=False)
        f = pytensor.function([], xs[-1])
        result = f()
        """,
        (lambda e: ((e[0] * 0.5 + e[1]) * 0.5 + e[2]) * 0.5 + e[3])(_draw(11).normal(0, 1, 4)),
    ),
    "a hessian by hand": (
        """
        x = pt.dvector("x")
        cost = (x**2).sum() * x[0]
        gy = pytensor.grad(cost, x)
        H = pytensor.scan(lambda i, gy, x: pytensor.grad(gy[i], x), sequences=pt.arange(gy.shape[0]),
            non_sequences=[gy, x], return_updates=False)
        result = pytensor.function([x], H)([4.0, 2.0])
        """,
        [[24.0, 4.0], [4.0, 8.0]],
    ),
    "a Hessian times a vector": (
        """
        x, v = pt.dvector("x"), pt.dvector("v")
        y = pt.sum(x**3)
        gy = pytensor.grad(y, x)
        vH = pytensor.grad(pt.sum(gy * v), x)
        Hv = pytensor.gradient.Rop(gy, x, v)
        result = pytensor.function([x, v], [vH, Hv])(V, [1.0, 1.0, 2.0])
        """,
        [6 * V * [1.0, 1.0, 2.0]] * 2,
    ),
    "a gradient with known gradients": (
        """
        x = pt.dvector("x")
        h = pt.tanh(x)
        cost = (h**2).sum()
        by_h = pytensor.grad(cost, h)
        result = pytensor.function([x], pytensor.grad(None, x, known_grads={h: by_h}))(V)
        """,
        2 * np.tanh(V) * (1 - np.tanh(V) ** 2),
    ),
    "a gradient that considers something constant": (
        """
        x, y = pt.dscalars("x", "y")
        z = x**2
        result = pytensor.function([x, y], pytensor.grad(z * y + x, x, consider_constant=[z]))(3.0, 4.0)
        """,
        1.0,
    ),
    "a gradient of a subgraph": (
        """
        x, w = pt.dvector("x"), pt.dvector("w")
        a = x * w
        cost = (a**2).sum()
        of_w, of_a = pytensor.gradient.subgraph_grad([w], [a], cost=cost)
        result = pytensor.function([x, w], [of_w[0], of_a[0]])(V, [1.0, 1.0, 1.0])
        """,
        [np.zeros(3), 2 * V],  # the way to w over a is left out
    ),
    "Adam by hand": (
        """
        x = pytensor.shared(5.0, name="x")
        m, v, t = pytensor.shared(0.0), pytensor.shared(0.0), pytensor.shared(0.0)
        g = pt.grad((x - 1) ** 2, x)
        t1 = t + 1
        m1, v1 = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g**2
        step = 0.1 * (m1 / (1 - 0.9**t1)) / (pt.sqrt(v1 / (1 - 0.999**t1)) + 1e-8)
        train = pytensor.function([], [], updates=[(x, x - step), (m, m1), (v, v1), (t, t1)])
        for _ in range(25):
            train()
        result = x.get_value()
        """,
        _adam(25),
    ),
    "minibatches of shared data by givens": (
        """
        data = pytensor.shared(np.arange(12.0).reshape(6, 2), name="data", borrow=True)
        index = pt.lscalar("index")
        x = pt.dmatrix("x")
        f = pytensor.function([index], x.sum(axis=1), givens={x: data[index * 2 : (index + 1) * 2]})
        result = [f(0), f(2)]
        """,
        [[1.0, 5.0], [17.0, 21.0]],
    ),
    "a copy of a function with other shared variables": (
        """
        a, b = pytensor.shared(1.0, name="a"), pytensor.shared(10.0, name="b")
        f = pytensor.function([], a * 2, updates={a: a + 1})
        g = f.copy(swap={a: b}, name="g")
        f(); g(); g()
        result = [a.get_value(), b.get_value(), f.get_shared()[0].get_value() if f.get_shared() else a.get_value()]
        """,
        [2.0, 12.0, 2.0],
    ),
    "a function that trusts its input": (
        """
        x = pt.dvector("x")
        f = pytensor.function([x], x + 1, trust_input=True)
        assert f.trust_input
        f.trust_input = False
        result = f([1.0, 2.0])
        """,
        [2.0, 3.0],
    ),
    "the graph of a compiled function": (
        """
        x = pt.dvector("x")
        f = pytensor.function([x], pt.exp(x) * 2, mode="FAST_COMPILE")
        nodes = f.maker.fgraph.toposort()
        assert nodes and all(hasattr(node, "op") for node in nodes)
        assert len(f.maker.fgraph.inputs) == 1 and len(f.maker.fgraph.outputs) == 1
        pytensor.dprint(f, file="str", print_type=True)
        result = f(V)
        """,
        2 * np.exp(V),
    ),
    "printing a graph with its types": (
        """
        x = pt.dmatrix("x")
        y = pt.dot(x, x.T).sum(axis=0)
        text = pytensor.printing.debugprint(y, depth=2, print_type=True, file="str", id_type="int", stop_on_name=True)
        assert "Sum" in text and "Vector" in text or "float64" in text
        assert pytensor.printing.pp(pt.dscalar("a") ** 2)
        result = pytensor.function([x], y)(A)
        """,
        (A @ A.T).sum(axis=0),
    ),
    "an op with infer_shape and do_constant_folding": (
        """
        from pytensor.graph.op import Op
        from pytensor.graph.basic import Apply
        class Tile2(Op):
            __props__ = ()
            def make_node(self, x):
                x = pt.as_tensor(x)
                return Apply(self, [x], [pt.TensorType(x.type.dtype, shape=(None,))()])
            def perform(self, node, inputs, output_storage):
                output_storage[0][0] = np.concatenate([inputs[0], inputs[0]])
            def infer_shape(self, fgraph, node, shapes):
                return [(shapes[0][0] * 2,)]
            def do_constant_folding(self, fgraph, node):
                return False
            def connection_pattern(self, node):
                return [[True]]
            def pullback(self, inputs, outputs, cotangents):
                (g,) = cotangents
                n = inputs[0].shape[0]
                return [g[:n] + g[n:]]
        x = pt.dvector("x")
        y = Tile2()(x)
        f = pytensor.function([x], [y.shape[0], y, pytensor.grad((y**2).sum(), x)])
        result = f(V)
        """,
        [6, np.concatenate([V, V]), 4 * V],
    ),
    "an op that works in place": (
        """
        from pytensor.graph.op import Op
        from pytensor.graph.basic import Apply
        class AddOneInplace(Op):
            __props__ = ()
            destroy_map = {0: [0]}
            def make_node(self, x):
                x = pt.as_tensor(x)
                return Apply(self, [x], [x.type()])
            def perform(self, node, inputs, output_storage):
                x = inputs[0]
                x += 1
                output_storage[0][0] = x
        x = pt.dvector("x")
        v = V.copy()
        f = pytensor.function([pytensor.In(x, mutable=False)], AddOneInplace()(x * 1.0 + 0.0), accept_inplace=True)
        result = [f(v), v]
        """,
        [V + 1, V],
    ),
    "an op of SciPy": (
        """
        from pytensor.compile.ops import wrap_py
        @wrap_py(itypes=[pt.dmatrix], otypes=[pt.dvector])
        def row_norms(m):
            return np.linalg.norm(m, axis=1)
        x = pt.dmatrix("x")
        result = pytensor.function([x], row_norms(x))(A)
        """,
        np.linalg.norm(A, axis=1),
    ),
    "an op whose second output is not used": (
        """
        from pytensor.tensor.linalg import eigh, svd
        x = pt.dmatrix("x")
        w, q = eigh(x)
        u, s, vt = svd(x, full_matrices=False, compute_uv=True)
        f = pytensor.function([x], [w, s, pytensor.grad(w.sum(), x)])
        result = f(A)
        """,
        [np.linalg.eigvalsh(A), np.linalg.svd(A)[1], np.eye(3)],
    ),
    "a rewrite that is registered": (
        """
        from pytensor.graph.rewriting.basic import node_rewriter
        from pytensor.tensor.rewriting.basic import register_specialize
        from pytensor.tensor.math import sqr
        @register_specialize
        @node_rewriter([pt.sin])
        def local_none_of_sin(fgraph, node):
            return None
        x = pt.dvector("x")
        result = pytensor.function([x], pt.sin(x))(V)
        """,
        np.sin(V),
    ),
    "a sequence of rewrites": (
        """
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.rewriting.basic import EquilibriumGraphRewriter, SequentialGraphRewriter, in2out, node_rewriter
        @node_rewriter([pt.log])
        def local_log_exp(fgraph, node):
            (x,) = node.inputs
            if x.owner and x.owner.op == pt.exp:
                return [x.owner.inputs[0]]
        x = pt.dvector("x")
        fg = FunctionGraph([x], [pt.log(pt.exp(pt.log(pt.exp(x))))], clone=False)
        SequentialGraphRewriter([EquilibriumGraphRewriter([local_log_exp], max_use_ratio=10)]).rewrite(fg)
        assert fg.outputs[0] is x
        result = pytensor.function([x], fg.outputs[0])(V)
        """,
        V,
    ),
    "clients and replacements of a graph": (
        """
        from pytensor.graph.fg import FunctionGraph
        from pytensor.graph.features import ReplaceValidate
        x, y = pt.dvectors("x", "y")
        a = pt.exp(x)
        fg = FunctionGraph([x, y], [a + y, a * y], clone=False, features=[ReplaceValidate()])
        assert len(fg.clients[a]) == 2 and len(fg.get_clients(x)) == 1
        fg.replace_all_validate([(a, pt.sin(x))], reason="test")
        fg.check_integrity()
        result = pytensor.function(fg.inputs, fg.outputs)(V, V)
        """,
        [np.sin(V) + V, np.sin(V) * V],
    ),
    "cloning with other inputs": (
        """
        from pytensor.graph.basic import clone, clone_get_equiv
        x = pt.dvector("x")
        y = pt.exp(x) + 1.0
        ins, outs = clone([x], [y], copy_inputs=True, copy_orphans=False)
        equiv = clone_get_equiv([x], [y], copy_inputs=False, copy_orphans=False)
        assert equiv[x] is x and equiv[y] is not y and ins[0] is not x
        result = pytensor.function(ins, outs[0])(V)
        """,
        np.exp(V) + 1,
    ),
    "types and filters": (
        """
        from pytensor.tensor.type import TensorType, scalar, tensor
        t = TensorType("float32", shape=(2, None))
        assert t.filter(np.zeros((2, 3), "float32")).shape == (2, 3) and t.ndim == 2
        assert t.is_super(TensorType("float32", (2, 3)))
        assert t.clone(dtype="float64", shape=(2, 1)).broadcastable == (False, True)
        try:
            t.filter(np.zeros((3, 3), "float32"), strict=True)
        except (TypeError, ValueError):
            x = tensor("x", dtype="float32", shape=(2, None))
            result = pytensor.function([x], x.sum())(np.ones((2, 3), "float32"))
        """,
        6.0,
    ),
    "several streams and their seeds": (
        """
        from pytensor.tensor.random.utils import RandomStream
        srng = RandomStream(seed=902340)
        a, b = srng.normal(0, 1, size=(2,)), srng.gamma(2.0, 1.0, size=2)
        c = srng.gen(pt.random.poisson, 3.0, size=2)
        f = pytensor.function([], [a, b, c])
        one = f()
        srng.seed(902340)
        two = f()
        g = pytensor.function([], a, no_default_updates=True)
        assert (g() == g()).all() and len(srng.state_updates) == 3
        result = [x - y for x, y in zip(one, two)]
        """,
        [np.zeros(2)] * 3,
    ),
    "draws of a mixture": (
        """
        rng = pt.random.shared_rng(seed=5)
        rng1, k = pt.random.categorical([0.25, 0.75], size=(4,), rng=rng, return_next_rng=True)
        mu = pt.constant([-10.0, 10.0])
        _, x = pt.random.normal(mu[k], 0.001, rng=rng1, return_next_rng=True)
        ks, xs = pytensor.function([], [k, x])()
        result = np.sign(xs) - (2 * ks - 1)
        """,
        np.zeros(4),
    ),
    "a log density of an ordered vector": (
        """
        v = pt.dvector("v")
        x = pt.concatenate([v[:1], v[0] + pt.cumsum(pt.exp(v[1:]))])
        jac = pt.log(pt.abs(pt.linalg.det(pytensor.gradient.jacobian(x, v))))
        result = pytensor.function([v], [x, jac])([1.0, 0.5, -0.3])
        """,
        [1.0 + np.array([0.0, np.exp(0.5), np.exp(0.5) + np.exp(-0.3)]), 0.2],
    ),
    "a stick-breaking transform": (
        """
        z = pt.dvector("z")
        k = z.shape[0]
        t = z - pt.log(k - pt.arange(k))
        b = pt.sigmoid(t)
        rest = pt.concatenate([pt.ones(1), pt.cumprod(1 - b)])
        p = pt.concatenate([b, pt.ones(1)]) * rest
        f = pytensor.function([z], [p.sum(), p])
        result = f(np.zeros(3))
        """,
        [1.0, np.full(4, 0.25)],
    ),
    "a packed triangle": (
        """
        packed = pt.dvector("packed")
        n = 3
        L = pt.set_subtensor(pt.zeros((n, n))[np.tril_indices(n)], packed)
        d = pt.arange(n)
        L = pt.set_subtensor(L[d, d], pt.exp(pt.diagonal(L)))
        result = pytensor.function([packed], [L, pt.log(pt.diagonal(L)).sum()])(np.arange(6.0) / 10)
        """,
        (lambda L: [L - np.diag(np.diag(L)) + np.diag(np.exp(np.diag(L))), np.trace(L)])(
            np.array([[0, 0, 0], [0.1, 0.2, 0], [0.3, 0.4, 0.5]])
        ),
    ),
    "missing values by a mask": (
        """
        y, mu = pt.dvector("y"), pt.dscalar("mu")
        observed = pt.invert(pt.isnan(y))
        ll = pt.switch(observed, -0.5 * (pt.switch(observed, y, 0.0) - mu) ** 2, 0.0).sum()
        result = pytensor.function([y, mu], [ll, pytensor.grad(ll, mu), observed.sum()])([1.0, np.nan, 3.0], 1.0)
        """,
        [-2.0, 2.0, 2],
    ),
    "a state space filter": (
        """
        y, F, q, r = pt.dvector("y"), pt.dscalar("F"), pt.dscalar("q"), pt.dscalar("r")
        def step(y, m, P, F, q, r):
            m, P = F * m, F * P * F + q
            K = P / (P + r)
            ll = -0.5 * (pt.log(2 * np.pi * (P + r)) + (y - m) ** 2 / (P + r))
            return m + K * (y - m), (1 - K) * P, ll
        m, P, ll = pytensor.scan(step, sequences=[y], outputs_info=[pt.zeros(()), pt.ones(()), None],
            non_sequences=[F, q, r], return_updates=False)
        f = pytensor.function([y, F, q, r], [m[-1], P[-1], ll.sum()])
        result = f([0.5, 1.0], 1.0, 0.0, 1.0)
        """,
        [
            0.5,
            1 / 3,
            STATS.multivariate_normal(np.zeros(2), np.eye(2) + 1).logpdf([0.5, 1.0]),
        ],
    ),
    "dimensions that are joined and broadcast": (
        """
        x, y = pt.tensor3("x"), pt.row("y")
        assert y.type.broadcastable == (True, False)
        z = x + y
        f = pytensor.function([x, y], [z.shape, pt.shape_padright(z[0, 0], 2).shape, z.dimshuffle(2, 0, 1)[..., 0],
            pt.broadcast_to(y, (2, 3)), pt.atleast_Nd(y[0], n=3).shape])
        result = f(np.ones((1, 2, 3)), [[1.0, 2.0, 3.0]])
        """,
        [(1, 2, 3), (3, 1, 1), [[2.0], [3.0], [4.0]], [[1.0, 2.0, 3.0]] * 2, (1, 1, 3)],
    ),
    "blocks and Kronecker products": (
        """
        from pytensor.tensor.linalg import block_diag, kron, solve_discrete_lyapunov
        x = pt.dmatrix("x")
        f = pytensor.function([x], [block_diag(x, x[:2, :2]), kron(x, pt.eye(2)), solve_discrete_lyapunov(x / 10, pt.eye(3))])
        result = f(A)
        """,
        [
            LINALG.block_diag(A, A[:2, :2]),
            np.kron(A, np.eye(2)),
            LINALG.solve_discrete_lyapunov(A / 10, np.eye(3)),
        ],
    ),
    "a lazy branch that would fail": (
        """
        from pytensor.ifelse import ifelse
        from pytensor.raise_op import Assert
        x = pt.dscalar("x")
        bad = Assert("never")(x, pt.lt(x, 0))
        f = pytensor.function([x], ifelse(x > 0, pt.sqrt(x), bad))
        result = f(4.0)
        """,
        2.0,
    ),
    "saving a function": (
        """
        import pickle
        x = pt.dvector("x")
        s = pytensor.shared(2.0, name="s")
        f = pytensor.function([x], x * s, updates={s: s + 1})
        g = pickle.loads(pickle.dumps(f))
        result = [f(V), f(V), g(V)]
        """,
        [2 * V, 3 * V, 2 * V],
    ),
    "a softmax regression by rows": (
        """
        x, t = pt.dmatrix("x"), pt.lvector("t")
        W = pytensor.shared(np.zeros((3, 3)), name="W")
        p = pt.special.softmax(pt.dot(x, W), axis=1)
        nll = -pt.mean(pt.log(p)[pt.arange(t.shape[0]), t])
        g = pt.grad(nll, wrt=W)
        train = pytensor.function([x, t], nll, updates={W: W - 0.5 * g}, name="train")
        first = train(A, [0, 1, 2])
        result = [first, W.get_value()]
        """,
        [np.log(3), 0.5 * A.T @ (np.eye(3) - 1 / 3) / 3],
    ),
    "a test of an error by its message": (
        """
        x, y = pt.dvectors("x", "y")
        f = pytensor.function([x, y], x + y)
        try:
            f([1.0, 2.0], [1.0, 2.0, 3.0])
        except ValueError as error:
            assert "shape" in str(error) or "length" in str(error) or "dim" in str(error).lower()
            result = 1.0
        """,
        1.0,
    ),
    "an elementwise function of one's own": (
        """
        from pytensor.tensor.elemwise import DimShuffle, Elemwise
        x = pt.dmatrix("x")
        y = Elemwise(pt.exp.scalar_op)(x)
        z = DimShuffle(input_ndim=2, new_order=(1, 0))(y)
        assert isinstance(z.owner.op, DimShuffle) and isinstance(y.owner.op, Elemwise)
        result = pytensor.function([x], z)(A)
        """,
        np.exp(A).T,
    ),
    "sums over axes as ops": (
        """
        from pytensor.tensor.elemwise import CAReduce
        x = pt.dmatrix("x")
        s, m = pt.sum(x, axis=0), pt.max(x, axis=1)
        for y, axes, name in ((s, (0,), "add"), (m, (1,), "max")):
            assert isinstance(y.owner.op, CAReduce) and tuple(y.owner.op.axis) == axes
            assert name in str(y.owner.op.scalar_op).lower()
        result = pytensor.function([x], [s, m])(A)
        """,
        [A.sum(0), A.max(1)],
    ),
}
