"""Short scripts as tutorials of PyTensor and libraries on top of it have them, with what NumPy and SciPy give."""

from __future__ import annotations

import importlib
from typing import Any

import numpy as np

STATS: Any = importlib.import_module("scipy.stats")
SPECIAL: Any = importlib.import_module("scipy.special")

A = np.array([[4.0, 1.0, 0.5], [1.0, 3.0, 0.2], [0.5, 0.2, 2.0]])
V = np.array([1.0, -2.0, 3.0])
THREE_NORMAL = np.random.default_rng(3).normal(size=3)


def _fibonacci(n: int) -> list[float]:
    values = [1.0, 1.0]
    for _ in range(n):
        values.append(values[-1] + values[-2])
    return values[2:]


def _gru(steps: int) -> Any:
    h = np.zeros(3)
    for _ in range(steps):
        h = np.tanh(A @ h + V)
    return h


SCRIPTS: dict[str, tuple[str, Any]] = {
    # draws
    "a draw with a shared generator": (
        """
        rng = pt.random.shared_rng(seed=7)
        next_rng, draw = pt.random.normal(1.0, 2.0, size=(3,), rng=rng, return_next_rng=True)
        result = pytensor.function([], draw, updates={rng: next_rng})()
        """,
        np.random.default_rng(7).normal(1.0, 2.0, 3),
    ),
    "a draw with a generator of NumPy": (
        """
        rng = pytensor.shared(np.random.default_rng(3))
        result = pt.random.normal(size=3, rng=rng).eval()
        """,
        THREE_NORMAL,
    ),
    "a draw of gamma numbers by rate": (
        """
        rng = pt.random.shared_rng(seed=7)
        result = pt.random.gamma(2.0, 4.0, size=3, rng=rng).eval()
        """,
        np.random.default_rng(7).gamma(2.0, 0.25, 3),
    ),
    "draws one after another": (
        """
        rng = pt.random.shared_rng(seed=7)
        after, a = pt.random.poisson(3.0, rng=rng, return_next_rng=True)
        _, b = pt.random.uniform(0, 1, rng=after, return_next_rng=True)
        result = pytensor.function([], [a, b])()
        """,
        (lambda g: [g.poisson(3.0), g.uniform()])(np.random.default_rng(7)),
    ),
    "a normal vector": (
        """
        rng = pt.random.shared_rng(seed=7)
        result = pt.random.multivariate_normal(V, A, rng=rng).eval()
        """,
        np.random.default_rng(7).multivariate_normal(V, A, method="cholesky"),
    ),
    "what a draw says of itself": (
        """
        rng = pt.random.shared_rng(seed=7)
        x = pt.random.normal(0.0, pt.constant([1.0, 2.0]), rng=rng)
        node = x.owner
        assert node.op.ndim_supp == 0 and list(node.op.ndims_params) == [0, 0] and node.op.name == "normal"
        assert node.op.rng_param(node) is rng
        loc, scale = node.op.dist_params(node)
        result = scale.eval()
        """,
        [1.0, 2.0],
    ),
    "what linear algebra says of itself": (
        """
        x = pt.dtensor3("x")
        y = pt.linalg.inv(x)
        op = y.owner.op
        from pytensor.tensor.blockwise import Blockwise
        assert isinstance(op, Blockwise) and type(op.core_op).__name__ in ("Inv", "MatrixInverse")
        assert op.batch_ndim(y.owner) == 1
        product = pt.matmul(x, x).owner.op
        assert isinstance(product, Blockwise) and isinstance(product.core_op, pt.math.Dot)
        assert [len(dims) for dims in op.inputs_sig] == [2] and op.signature.count("(") == 2
        result = y.eval({x: A[None]})[0]
        """,
        np.linalg.inv(A),
    ),
    "a draw without a generator": (
        """
        import warnings
        from pytensor.tensor.random.op import RandomVariable
        class Laplace(RandomVariable):
            name = "laplace"
            ndim_supp = 0
            ndims_params = [0, 0]
            dtype = "floatX"
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            x = Laplace()(0.0, [1.0, 2.0, 3.0])
        rng, size, *parameters = x.owner.inputs
        result = [pytensor.function([], x)().shape, rng.get_value().laplace(0.0, [1.0, 2.0, 3.0]) - x.eval()]
        """,
        [(3,), np.zeros(3)],
    ),
    "an own distribution": (
        """
        from pytensor.tensor.random.op import RandomVariable
        class Twice(RandomVariable):
            name = "twice"
            signature = "()->()"
            dtype = "floatX"
            @classmethod
            def rng_fn(cls, rng, scale, size):
                return 2 * rng.exponential(scale, size)
        rng = pt.random.shared_rng(seed=7)
        result = Twice()(3.0, size=(2,), rng=rng, return_next_rng=True)[1].eval()
        """,
        2 * np.random.default_rng(7).exponential(3.0, 2),
    ),
    "a choice without replacement": (
        """
        rng = pt.random.shared_rng(seed=7)
        drawn = pt.random.choice(5, size=(5,), replace=False, rng=rng)
        result = pt.sort(drawn).eval()
        """,
        np.arange(5),
    ),
    "a random walk by scan": (
        """
        rng = pt.random.shared_rng(seed=7)
        _, steps = pt.random.normal(0, 1, size=(4,), rng=rng, return_next_rng=True)
        walk = pytensor.scan(lambda s, x: x + s, sequences=steps, outputs_info=pt.zeros(()), return_updates=False)
        result = walk.eval()
        """,
        np.cumsum(np.random.default_rng(7).normal(0, 1, 4)),
    ),
    # densities as PyMC writes them
    "a normal log density": (
        """
        from pytensor.graph.basic import Variable
        def logp(value, mu, sigma):
            return -0.5 * pt.pow((value - mu) / sigma, 2) - pt.log(pt.sqrt(2.0 * np.pi)) - pt.log(sigma)
        value, mu, sigma = pt.dvector("value"), pt.dscalar("mu"), pt.dscalar("sigma")
        total = logp(value, mu, sigma).sum()
        f = pytensor.function([value, mu, sigma], [total, *pytensor.grad(total, [mu, sigma])])
        result = f(V, 0.5, 2.0)
        """,
        [
            STATS.norm(0.5, 2.0).logpdf(V).sum(),
            (V - 0.5).sum() / 4,
            (-1 / 2.0 + (V - 0.5) ** 2 / 8).sum(),
        ],
    ),
    "a checked parameter": (
        """
        from pytensor.raise_op import CheckAndRaise
        class ParameterValueError(ValueError):
            pass
        sigma = pt.dscalar("sigma")
        checked = CheckAndRaise(ParameterValueError, "sigma > 0")(pt.log(sigma), sigma > 0)
        f = pytensor.function([sigma], checked)
        try:
            f(-1.0)
        except ParameterValueError as error:
            assert "sigma > 0" in str(error)
            result = f(1.0)
        """,
        0.0,
    ),
    "a binomial log density": (
        """
        n, p, k = pt.iscalar("n"), pt.dscalar("p"), pt.ivector("k")
        logp = pt.gammaln(n + 1) - pt.gammaln(k + 1) - pt.gammaln(n - k + 1) + k * pt.log(p) + (n - k) * pt.log1p(-p)
        logp = pt.switch(pt.or_(pt.lt(k, 0), pt.gt(k, n)), -np.inf, logp)
        result = pytensor.function([n, p, k], logp)(5, 0.3, [0, 2, 6])
        """,
        STATS.binom(5, 0.3).logpmf([0, 2, 6]),
    ),
    "a mixture by logsumexp": (
        """
        w, mu, x = pt.dvector("w"), pt.dvector("mu"), pt.dscalar("x")
        parts = pt.log(w) - 0.5 * (x - mu) ** 2 - 0.5 * np.log(2 * np.pi)
        result = pytensor.function([w, mu, x], pt.logsumexp(parts, axis=-1))([0.25, 0.75], [0.0, 2.0], 1.5)
        """,
        np.log(0.25 * STATS.norm.pdf(1.5) + 0.75 * STATS.norm.pdf(-0.5)),
    ),
    "a log density of normal vectors": (
        """
        from pytensor.tensor.linalg import cholesky, solve_triangular
        mu, cov, x = pt.dvector("mu"), pt.dmatrix("cov"), pt.dvector("x")
        chol = cholesky(cov)
        z = solve_triangular(chol, x - mu, lower=True)
        logp = -0.5 * (z**2).sum() - pt.log(pt.diagonal(chol)).sum() - 0.5 * x.shape[0] * np.log(2 * np.pi)
        result = pytensor.function([mu, cov, x], logp)(np.zeros(3), A, V)
        """,
        STATS.multivariate_normal(np.zeros(3), A).logpdf(V),
    ),
    "a log transform with its jacobian": (
        """
        from pytensor.graph.replace import graph_replace
        sigma, log_sigma = pt.dscalar("sigma"), pt.dscalar("log_sigma")
        logp = -sigma + pt.log(sigma)
        free = graph_replace(logp, {sigma: pt.exp(log_sigma)}) + log_sigma
        f = pytensor.function([log_sigma], [free, pytensor.grad(free, log_sigma)])
        result = f(0.5)
        """,
        [-np.exp(0.5) + 1.0, -np.exp(0.5) + 2.0],
    ),
    "parameters raveled into one vector": (
        """
        from pytensor.graph.replace import clone_replace
        a, b = pt.dscalar("a"), pt.dvector("b")
        cost = a**2 + (b * a).sum()
        joined = pt.dvector("joined")
        flat = clone_replace(cost, {a: joined[0], b: joined[1:]})
        f = pytensor.function([joined], [flat, pytensor.grad(flat, joined)])
        result = f([2.0, 3.0, 5.0])
        """,
        [20.0, np.array([12.0, 2.0, 2.0])],
    ),
    "a hidden Markov model": (
        """
        logA, logB, start = pt.dmatrix("logA"), pt.dmatrix("logB"), pt.dvector("start")
        def step(b, alpha, logA):
            return pt.logsumexp(alpha[:, None] + logA, axis=0) + b
        alphas = pytensor.scan(step, sequences=logB, outputs_info=start, non_sequences=logA, return_updates=False)
        f = pytensor.function([logA, logB, start], pt.logsumexp(alphas[-1]))
        result = f(np.log([[0.9, 0.1], [0.2, 0.8]]), np.zeros((4, 2)), np.log([0.5, 0.5]))
        """,
        0.0,
    ),
    "censoring by switch": (
        """
        x = pt.dvector("x")
        limit = 1.0
        logp = pt.switch(pt.ge(x, limit), pt.log(pt.erfc(limit / np.sqrt(2)) / 2), -0.5 * x**2 - 0.5 * np.log(2 * np.pi))
        result = pytensor.function([x], logp)([0.0, 1.0, 2.0])
        """,
        [STATS.norm.logpdf(0.0), *[STATS.norm.logsf(1.0)] * 2],
    ),
    "an ordinal model": (
        """
        eta, cut, y = pt.dvector("eta"), pt.dvector("cut"), pt.lvector("y")
        p = pt.sigmoid(cut - pt.shape_padright(eta))
        p = pt.concatenate([pt.zeros_like(p[:, :1]), p, pt.ones_like(p[:, :1])], axis=1)
        result = pytensor.function([eta, cut, y], pt.log(p[pt.arange(2), y + 1] - p[pt.arange(2), y]))([0.0, 1.0], [-1.0, 1.0], [0, 2])
        """,
        np.log([SPECIAL.expit(-1.0), 1 - SPECIAL.expit(0.0)]),
    ),
    # scans
    "Fibonacci numbers": (
        """
        start = pt.dvector("start")
        out = pytensor.scan(lambda a, b: a + b, outputs_info=[dict(initial=start, taps=[-2, -1])], n_steps=6, return_updates=False)
        result = pytensor.function([start], out)([1.0, 1.0])
        """,
        _fibonacci(6),
    ),
    "a recurrent network": (
        """
        W, x = pt.dmatrix("W"), pt.dvector("x")
        h = pytensor.scan(lambda h, W, x: pt.tanh(pt.dot(W, h) + x), outputs_info=pt.zeros(3), non_sequences=[W, x],
            n_steps=5, return_updates=False)
        result = pytensor.function([W, x], h[-1])(A, V)
        """,
        _gru(5),
    ),
    "a gradient through time": (
        """
        a, x0 = pt.dscalar("a"), pt.dscalar("x0")
        xs = pytensor.scan(lambda x, a: a * x, outputs_info=x0, non_sequences=a, n_steps=4, return_updates=False)
        result = pytensor.function([a, x0], pytensor.grad(xs[-1], [a, x0]))(2.0, 3.0)
        """,
        [4 * 2.0**3 * 3.0, 16.0],
    ),
    "a scan over rows": (
        """
        x = pt.dmatrix("x")
        norms = pytensor.map(lambda row: pt.sqrt((row**2).sum()), x, return_updates=False)
        result = pytensor.function([x], norms)(A)
        """,
        np.linalg.norm(A, axis=1),
    ),
    "a scan with two outputs": (
        """
        x = pt.dvector("x")
        total, product = pytensor.scan(lambda v, s, p: [s + v, p * v], sequences=x,
            outputs_info=[pt.zeros(()), pt.ones(())], return_updates=False)
        result = pytensor.function([x], [total[-1], product[-1]])(V)
        """,
        [2.0, -6.0],
    ),
    "a scan backwards": (
        """
        x = pt.dvector("x")
        out = pytensor.scan(lambda v, s: s * 0.5 + v, sequences=x, outputs_info=pt.zeros(()), go_backwards=True, return_updates=False)
        result = pytensor.function([x], out)(V)
        """,
        [3.0, -0.5, 0.75],
    ),
    "a scan that updates a shared counter": (
        """
        counter = pytensor.shared(0)
        x = pt.dvector("x")
        out, updates = pytensor.scan(lambda v: (v + counter, {counter: counter + 1}), sequences=x)
        f = pytensor.function([x], out, updates=updates)
        first = f([0.0, 0.0, 0.0])
        result = [first, counter.get_value()]
        """,
        [np.array([0.0, 1.0, 2.0]), 3],
    ),
    "scan from its module": (
        """
        import pytensor.scan.basic
        from pytensor.scan.basic import scan
        x = pt.dvector("x")
        out = scan(lambda v: v + 1, sequences=x, return_updates=False)
        result = pytensor.function([x], out)(V)
        """,
        V + 1,
    ),
    # functions
    "givens": (
        """
        x, y = pt.dscalars("x", "y")
        result = pytensor.function([x], x * y, givens={y: x + 1})(3.0)
        """,
        12.0,
    ),
    "inputs by name": (
        """
        x, y = pt.dscalars("x", "y")
        f = pytensor.function([x, y], [x + y, x * y])
        result = f(x=3.0, y=3.0)
        """,
        [6.0, 9.0],
    ),
    "a shared matrix in place": (
        """
        m = pytensor.shared(np.zeros((2, 2)), name="m", borrow=True)
        v = pt.dvector("v")
        f = pytensor.function([v], [], updates=[(m, pt.set_subtensor(m[0], v))])
        f([1.0, 2.0])
        result = m.get_value(borrow=True)
        """,
        [[1.0, 2.0], [0.0, 0.0]],
    ),
    "a mode by name": (
        """
        from pytensor.compile.mode import FAST_COMPILE, get_mode
        x = pt.dvector("x")
        f = pytensor.function([x], pt.exp(x).sum(), mode=FAST_COMPILE)
        g = pytensor.function([x], pt.exp(x).sum(), mode=get_mode("FAST_COMPILE").including("canonicalize"))
        result = [f(V), g(V)]
        """,
        [np.exp(V).sum()] * 2,
    ),
    "a mode from a linker and an optimizer": (
        """
        from pytensor.compile.mode import OPT_FAST_RUN, Mode, predefined_modes
        assert "FAST_COMPILE" in predefined_modes
        x = pt.dvector("x")
        result = pytensor.function([x], pt.log1p(x**2), mode=Mode("py", OPT_FAST_RUN))(V)
        """,
        np.log1p(V**2),
    ),
    "evaluating a variable": (
        """
        x = pt.dvector("x")
        result = (x.sum() * 2).eval({x: V})
        """,
        4.0,
    ),
    "an input that may be changed": (
        """
        from pytensor.compile.io import In, Out
        x = pt.dvector("x")
        f = pytensor.function([In(x, borrow=True, mutable=True)], Out(x + 1, borrow=True))
        result = f(V.copy())
        """,
        V + 1,
    ),
    "downcast inputs": (
        """
        x = pt.fscalar("x")
        result = pytensor.function([x], x * 2, allow_input_downcast=True)(0.5)
        """,
        1.0,
    ),
    "an unused input": (
        """
        from pytensor.compile import UnusedInputError
        x, y = pt.dscalars("x", "y")
        try:
            pytensor.function([x, y], x)
        except UnusedInputError:
            result = pytensor.function([x, y], x, on_unused_input="ignore")(1.0, 2.0)
        """,
        1.0,
    ),
    "a profile": (
        """
        x = pt.dvector("x")
        f = pytensor.function([x], pt.exp(x), profile=True)
        result = f(V)
        assert f.profile is not None
        """,
        np.exp(V),
    ),
    # graphs
    "constants that are known": (
        """
        from pytensor.tensor.basic import get_underlying_scalar_constant_value
        from pytensor.tensor.exceptions import NotScalarConstantError
        six = pt.constant(3.0) * 2
        try:
            get_underlying_scalar_constant_value(pt.dscalar("x"))
        except NotScalarConstantError:
            result = get_underlying_scalar_constant_value(six)
        """,
        6.0,
    ),
    "a static shape": (
        """
        from pytensor.tensor.basic import infer_static_shape
        n = pt.iscalar("n")
        _, static = infer_static_shape((3, n, 4))
        result = [3 if each is None else each for each in static]
        """,
        [3, 3, 4],
    ),
    "types that are compared": (
        """
        from pytensor.tensor.type import TensorType, discrete_dtypes, float_dtypes
        x = pt.dvector("x")
        assert x.type == pt.dvector and x.dtype in float_dtypes and "int64" in discrete_dtypes
        assert isinstance(pt.dvector, TensorType)
        kind = TensorType("float64", shape=(None, 1))
        result = pytensor.function([x], x * 2)(V)
        """,
        2 * V,
    ),
    "parents and walks": (
        """
        from pytensor.graph.traversal import walk
        x = pt.dvector("x")
        y = pt.exp(x) * 2
        pairs = list(walk([y], lambda v: v.owner.inputs if v.owner else None, return_children=True))
        assert pairs[0][0] is y and y.get_parents() == [y.owner]
        result = len([p for p in pairs if p[0] is x])
        """,
        1,
    ),
    "a graph as a string": (
        """
        from pytensor.graph.basic import as_string
        x, y = pt.dvectors("x", "y")
        z = pt.exp(x)
        (text,) = as_string([x, y], [(z + y) * z])
        result = [text.count("*1"), text.lower().count("exp")]
        """,
        [2, 1],
    ),
    "replacing with validation": (
        """
        from pytensor.graph.fg import FunctionGraph
        x = pt.dvector("x")
        fg = FunctionGraph([x], [pt.exp(x) * 2], clone=False)
        before = fg.outputs[0]
        token = fg.checkpoint()
        fg.replace(before, x * 3)
        fg.revert(token)
        fg.replace_validate(before, x * 4)
        fg.replace_validate(fg.outputs[0], before)
        assert fg.outputs[0] is before and len(fg.get_clients(x)) == 1
        fg.replace(before, x * 3)
        result = pytensor.function(fg.inputs, fg.outputs)(V)
        """,
        [3 * V],
    ),
    "patterns of ops": (
        """
        from pytensor.graph.rewriting.basic import in2out, node_rewriter
        from pytensor.graph.rewriting.unify import OpPattern
        from pytensor.graph.fg import FunctionGraph
        from pytensor.tensor.elemwise import Elemwise
        seen = []
        @node_rewriter([OpPattern(Elemwise, scalar_op=pt.exp.scalar_op)])
        def found(fgraph, node):
            seen.append(node)
        x = pt.dvector("x")
        in2out(found).rewrite(FunctionGraph([x], [pt.exp(x) + pt.sin(x)], clone=False))
        result = len(seen)
        """,
        1,
    ),
    "a rewrite of canonical form": (
        """
        from pytensor.graph.rewriting.basic import node_rewriter
        from pytensor.graph.rewriting.utils import rewrite_graph
        from pytensor.tensor.rewriting.basic import register_canonicalize, register_specialize
        x = pt.dvector("x")
        y = rewrite_graph(pt.exp(pt.log(x)) * 1.0, include=("canonicalize", "stabilize", "specialize"))
        result = pytensor.function([x], y)(np.abs(V))
        """,
        np.abs(V),
    ),
    "equal computations": (
        """
        from pytensor.graph.basic import equal_computations
        x, y = pt.dvectors("x", "y")
        assert equal_computations([x + y], [x + y]) and not equal_computations([x + y], [x * y])
        result = pytensor.function([x, y], x + y)(V, V)
        """,
        2 * V,
    ),
    "inputs and constants of a graph": (
        """
        from pytensor.graph.basic import Constant
        from pytensor.graph.traversal import explicit_graph_inputs, graph_inputs
        from pytensor.compile.sharedvalue import SharedVariable
        x, s = pt.dscalar("x"), pytensor.shared(2.0)
        y = x * s + 1.0
        kinds = [sum(isinstance(v, k) for v in graph_inputs([y])) for k in (Constant, SharedVariable)]
        assert list(explicit_graph_inputs([y])) == [x]
        result = kinds
        """,
        [1, 1],
    ),
    "vectorizing a graph": (
        """
        from pytensor.graph import vectorize_graph
        x, X = pt.dvector("x"), pt.dmatrix("X")
        y = pt.dot(x, x) + x.sum()
        result = pytensor.function([X], vectorize_graph(y, {x: X}))(A)
        """,
        (A**2).sum(axis=1) + A.sum(axis=1),
    ),
    "an op with two outputs and a gradient": (
        """
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        class SumAndDifference(Op):
            __props__ = ()
            def make_node(self, x, y):
                x, y = pt.as_tensor_variable(x), pt.as_tensor_variable(y)
                return Apply(self, [x, y], [x.type(), x.type()])
            def perform(self, node, inputs, outputs):
                outputs[0][0], outputs[1][0] = inputs[0] + inputs[1], inputs[0] - inputs[1]
            def pullback(self, inputs, outputs, gradients):
                a, b = gradients
                return [a + b, a - b]
        x, y = pt.dvectors("x", "y")
        s, d = SumAndDifference()(x, y)
        gx, gy = pytensor.grad((s * d).sum(), [x, y])
        result = pytensor.function([x, y], [gx, gy])(V, [1.0, 1.0, 1.0])
        """,
        [2 * V, -2 * np.ones(3)],
    ),
    "an op with parameters": (
        """
        from pytensor.graph.basic import Apply
        from pytensor.graph.op import Op
        class Affine(Op):
            __props__ = ("a", "b")
            def __init__(self, a, b):
                self.a, self.b = a, b
            def make_node(self, x):
                x = pt.as_tensor_variable(x)
                return Apply(self, [x], [x.type()])
            def perform(self, node, inputs, outputs):
                outputs[0][0] = self.a * inputs[0] + self.b
        assert Affine(2, 3) == Affine(2, 3) and Affine(2, 3) != Affine(1, 3)
        x = pt.dvector("x")
        result = pytensor.function([x], Affine(2, 3)(x))(V)
        """,
        2 * V + 3,
    ),
    "a graph with a gradient of its own as an op": (
        """
        from pytensor.compile.builders import OpFromGraph
        x = pt.dscalar("x")
        op = OpFromGraph([x], [pt.exp(x)], pullback=lambda inputs, outputs, gradients: [gradients[0] * 10.0])
        y = op(x)
        result = pytensor.function([x], [y, pytensor.grad(y, x)])(0.0)
        """,
        [1.0, 10.0],
    ),
    # tensors
    "linear regression by the normal equations": (
        """
        from pytensor.tensor.linalg import solve
        X, y = pt.dmatrix("X"), pt.dvector("y")
        beta = solve(X.T @ X, X.T @ y)
        result = pytensor.function([X, y], beta)(A, V)
        """,
        np.linalg.solve(A, V),
    ),
    "functions of a place below linear algebra": (
        """
        from pytensor.tensor.linalg.decomposition.cholesky import cholesky
        from pytensor.tensor.linalg.products import kron, matrix_power
        from pytensor.tensor.linalg.summary import slogdet
        x = pt.dmatrix("x")
        sign, logdet = slogdet(x)
        result = pytensor.function([x], [cholesky(x), kron(x, x), matrix_power(x, 3), logdet])(A)
        """,
        [
            np.linalg.cholesky(A),
            np.kron(A, A),
            np.linalg.matrix_power(A, 3),
            np.linalg.slogdet(A)[1],
        ],
    ),
    "a Gaussian process": (
        """
        x = pt.dvector("x")
        K = pt.exp(-0.5 * (x[:, None] - x[None, :]) ** 2) + 1e-6 * pt.eye(x.shape[0])
        L = pt.linalg.cholesky(K)
        result = pytensor.function([x], L @ L.T)(V)
        """,
        np.exp(-0.5 * np.subtract.outer(V, V) ** 2) + 1e-6 * np.eye(3),
    ),
    "a network with softmax": (
        """
        from pytensor.tensor.special import log_softmax, softmax
        x, W = pt.dmatrix("x"), pt.dmatrix("W")
        p = softmax(pt.maximum(x @ W, 0), axis=-1)
        loss = -log_softmax(pt.maximum(x @ W, 0), axis=-1)[pt.arange(3), 0].mean()
        result = pytensor.function([x, W], [p, pytensor.grad(loss, W).shape])(A, A)
        """,
        [SPECIAL.softmax(np.maximum(A @ A, 0), axis=-1), (3, 3)],
    ),
    "cumulative sums and differences": (
        """
        x = pt.dmatrix("x")
        result = pytensor.function([x], [pt.cumsum(x, axis=0), pt.cumprod(x, axis=1), pt.diff(x, axis=1), pt.extra_ops.repeat(x, 2, axis=0)])(A)
        """,
        [np.cumsum(A, 0), np.cumprod(A, 1), np.diff(A, axis=1), np.repeat(A, 2, 0)],
    ),
    "diagonals": (
        """
        from pytensor.tensor.basic import alloc_diag, diagonal, tril, triu
        v, m = pt.dvector("v"), pt.dmatrix("m")
        result = pytensor.function([v, m], [alloc_diag(v, offset=1), diagonal(m), tril(m), triu(m, 1), pt.fill_diagonal(m, 9.0)])(V, A)
        """,
        [
            np.diag(V, 1),
            np.diag(A),
            np.tril(A),
            np.triu(A, 1),
            np.where(np.eye(3) == 1, 9.0, A),
        ],
    ),
    "padding and flipping": (
        """
        from pytensor.tensor.pad import flip, pad
        x = pt.dmatrix("x")
        result = pytensor.function([x], [pad(x, ((1, 0), (0, 2)), mode="constant"), flip(x, axis=1)])(A)
        """,
        [np.pad(A, ((1, 0), (0, 2))), A[:, ::-1]],
    ),
    "joined and split dimensions": (
        """
        from pytensor.tensor.reshape import join_dims, split_dims
        x = pt.dtensor3("x")
        flat = join_dims(x, start_axis=1, n_axes=2)
        result = pytensor.function([x], [flat, split_dims(flat, axis=1, shape=(2, 3))])(np.arange(12.0).reshape(2, 2, 3))
        """,
        [np.arange(12.0).reshape(2, 6), np.arange(12.0).reshape(2, 2, 3)],
    ),
    "sums over products": (
        """
        from pytensor.tensor.einsum import einsum
        x, y = pt.dmatrix("x", shape=(3, 3)), pt.dmatrix("y", shape=(3, 3))
        result = pytensor.function([x, y], [einsum("ij,jk->ik", x, y), pt.tensordot(x, y, axes=2), pt.outer(x[0], y[0])])(A, A)
        """,
        [A @ A, (A * A).sum(), np.outer(A[0], A[0])],
    ),
    "masks": (
        """
        x = pt.dvector("x")
        m = x > 0
        result = pytensor.function([x], [x[m], pt.where(m, x, 0.0), x[m].sum(), m.any(), pt.all(m), pt.isnan(pt.sqrt(x)).sum()])(V)
        """,
        [V[V > 0], np.where(V > 0, V, 0), 4.0, True, False, 1],
    ),
    "advanced indexing with a gradient": (
        """
        x, i, j = pt.dmatrix("x"), pt.lvector("i"), pt.lvector("j")
        y = x[i, j]
        result = pytensor.function([x, i, j], [y, pytensor.grad((y**2).sum(), x)])(A, [0, 0, 2], [1, 1, 2])
        """,
        [np.array([1.0, 1.0, 2.0]), np.array([[0, 4.0, 0], [0, 0, 0], [0, 0, 4.0]])],
    ),
    "statistics": (
        """
        x = pt.dmatrix("x")
        result = pytensor.function([x], [x.mean(axis=0), x.var(axis=1), x.std(), pt.median(x, axis=0), x.argmax(axis=1), pt.ptp(x), x.norm(2, axis=1)])(A)
        """,
        [
            A.mean(0),
            A.var(1),
            A.std(),
            np.median(A, 0),
            A.argmax(1),
            np.ptp(A),
            np.linalg.norm(A, axis=1),
        ],
    ),
    "special functions": (
        """
        x = pt.dvector("x")
        f = pytensor.function([x], [pt.erf(x), pt.erfcx(x), pt.psi(x), pt.betainc(2.0, 3.0, x / 4), pt.gammainc(2.0, x), pt.special.betaln(x, 2.0), pt.log1mexp(-x), pt.i0(x)])
        result = f([0.5, 1.5])
        """,
        (
            lambda x: [
                SPECIAL.erf(x),
                SPECIAL.erfcx(x),
                SPECIAL.psi(x),
                SPECIAL.betainc(2.0, 3.0, x / 4),
                SPECIAL.gammainc(2.0, x),
                SPECIAL.betaln(x, 2.0),
                np.log1p(-np.exp(-x)),
                SPECIAL.i0(x),
            ]
        )(np.array([0.5, 1.5])),
    ),
    "complex numbers": (
        """
        x, y = pt.dvectors("x", "y")
        z = pt.complex(x, y)
        result = pytensor.function([x, y], [pt.real(z * pt.conj(z)), pt.imag(z), abs(z), pt.angle(z)])(V, V[::-1])
        """,
        (lambda z: [abs(z) ** 2, z.imag, abs(z), np.angle(z)])(V + 1j * V[::-1]),
    ),
    "casts and integers": (
        """
        x = pt.ivector("x")
        result = pytensor.function([x], [x // 2, x % 3, pt.cast(x, "float32") / 2, x.astype("int8"), pt.bitwise_and(x, 3)])(np.array([7, -7, 4], dtype="int32"))
        """,
        [[3, -4, 2], [1, 2, 1], [3.5, -3.5, 2.0], [7, -7, 4], [3, 1, 0]],
    ),
    "barriers and second derivatives": (
        """
        from pytensor.gradient import hessian_vector_product, zero_grad
        x, v = pt.dvectors("x", "v")
        cost = (x**3).sum() + zero_grad(x).sum()
        f = pytensor.function([x, v], [pytensor.grad(cost, x), hessian_vector_product(cost, [x], [v])[0]])
        result = f(V, [1.0, 0.0, 2.0])
        """,
        [3 * V**2, 6 * V * [1.0, 0.0, 2.0]],
    ),
    "what is disconnected": (
        """
        from pytensor.gradient import DisconnectedInputError, DisconnectedType, grad
        x, y = pt.dscalars("x", "y")
        try:
            grad(x**2, y)
        except DisconnectedInputError:
            zero = grad(x**2, y, disconnected_inputs="ignore")
            result = pytensor.function([x, y], zero, on_unused_input="ignore")(3.0, 1.0)
        """,
        0.0,
    ),
    "names and printing": (
        """
        from pytensor.printing import debugprint, pp
        x = pt.dvector("x")
        y = pt.exp(x)
        y.name = "y"
        assert "y" in debugprint(y, file="str") and "exp" in pp(pt.exp(x)).lower()
        assert "exp" in y.owner.dprint(file="str").lower()
        result = y.eval({x: V})
        """,
        np.exp(V),
    ),
    "flags of the configuration": (
        """
        from pytensor import config
        with config.change_flags(mode="FAST_COMPILE", on_unused_input="ignore", exception_verbosity="high"):
            x, y = pt.dvectors("x", "y")
            f = pytensor.function([x, y], x + 1)
        result = f(V, V)
        """,
        V + 1,
    ),
}
