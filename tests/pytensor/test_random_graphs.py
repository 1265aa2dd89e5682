"""Random PyTensor graphs give the same values here: as they are, and after PyTensor's own rewriting."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import hypothesis.strategies as st
import numpy as np
import pytensor
import pytensor.tensor as pt
import pytest
from hypothesis import HealthCheck, given, settings
from kinds_of_graphs import KINDS, N
from pytensor.compile.mode import Mode, get_mode
from pytensor.conditional import ifelse
from pytensor.graph.fg import FunctionGraph
from pytensor.scan.utils import until

import occelo as oc
import occelo_pytensor as bridge

pytestmark = [
    pytest.mark.filterwarnings("ignore:PyTensor could not link to a BLAS"),
    pytest.mark.filterwarnings("ignore:RandomVariable Ops will stop hiding the rng"),
    pytest.mark.filterwarnings("ignore:Rop is deprecated"),
    pytest.mark.filterwarnings("ignore:pytensor.sparse.mul is deprecated"),
]
THEIRS = Mode("py", "fast_compile")
FORMS = (None, "FAST_COMPILE", "FAST_RUN", "OCCELO")
"""As it is, after the rewriting of a mode, and compiled in the mode "OCCELO"."""
THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
COUNT = 300 if THOROUGH else 8

UNARY: list[Callable[[Any], Any]] = [
    pt.exp, pt.tanh, pt.sigmoid, pt.neg, pt.sqr, pt.abs, pt.sin, pt.erf, pt.softplus,
    lambda x: pt.log1p(pt.sqr(x)), lambda x: pt.sqrt(pt.abs(x) + 1), lambda x: x - x.mean(),
    lambda x: pt.cast(x > 0, "float64"), lambda x: x.astype("float32"),
    lambda x: pt.clip(x, -1.0, 1.0), lambda x: pt.switch(x > 0, x, 0.1 * x),
    lambda x: x[::-1], lambda x: x * x.shape[0], lambda x: pt.cumsum(x, axis=0),
    lambda x: pt.special.softmax(x, axis=-1), lambda x: pt.logsumexp(x) + x * 0.5,
    lambda x: x[[0, 2, 0]], lambda x: pt.concatenate([x[1:], x[:1]]),
    lambda x: pt.set_subtensor(x[0], 2.0), lambda x: pt.inc_subtensor(x[[1, 1]], 1.0),
    lambda x: pt.sort(x, axis=-1), lambda x: x.max(axis=0) + x, lambda x: pt.floor(x) % 3.0,
]  # fmt: skip
BINARY: list[Callable[[Any, Any], Any]] = [
    pt.add, pt.mul, pt.sub, pt.maximum, pt.minimum, lambda a, b: a / (1 + pt.sqr(b)),
    lambda a, b: pt.switch(a > b, a, b * 2), lambda a, b: pt.logaddexp(a, b),
    lambda a, b: pt.arctan2(a, b + 3),
]  # fmt: skip
OF_MATRICES: list[Callable[[Any, Any], Any]] = [
    lambda m, v: m @ v, lambda m, v: m.sum(0), lambda m, v: m.T[1], lambda m, v: m.prod(axis=1),
    lambda m, v: pt.linalg.solve(m @ m.T + 3 * pt.eye(N), v, b_ndim=1), lambda m, v: pt.diag(m),
    lambda m, v: pt.linalg.cholesky(m @ m.T + pt.eye(N))[-1],
    lambda m, v: m.reshape((N * N,))[2:5], lambda m, v: m[pt.argmax(v)], lambda m, v: pt.outer(v, v)[0],
]  # fmt: skip


def _scan(m: Any, v: Any) -> Any:
    return pytensor.scan(
        lambda row, state: pt.tanh(row * state) + 0.1,
        sequences=[m],
        outputs_info=[v],
        return_updates=False,
    )[-1]


def _taps(m: Any, v: Any) -> Any:
    return pytensor.scan(
        lambda row, a, b: pt.tanh(0.3 * a - 0.2 * b + row),
        sequences=[m],
        outputs_info=[dict(initial=pt.stack([v, v * 0.5]), taps=[-2, -1])],
        return_updates=False,
    )[-2:].sum(0)


def _taps_of_sequences(m: Any, v: Any) -> Any:
    return pytensor.scan(
        lambda before, row, state: (state * before + row, row.sum()),
        sequences=[dict(input=m, taps=[-1, 0])],
        outputs_info=[pt.tanh(v), None],
        return_updates=False,
    )[0][-1]


def _while(m: Any, v: Any) -> Any:
    return pytensor.scan(
        lambda state, m: (state * 1.5 + pt.tanh(m[0]), until(pt.abs(state).sum() > 9)),
        outputs_info=[v],
        non_sequences=[m],
        n_steps=20,
        return_updates=False,
    )[-1]


def _draw(m: Any, v: Any) -> Any:
    generator = pt.random.default_rng(7)
    after, first = pt.random.normal(v, pt.exp(0.1 * m), rng=generator, return_next_rng=True)
    _, second = pt.random.gamma(2.0, scale=1.5, size=(N,), rng=after, return_next_rng=True)
    return first.sum(0) + second


OF_MATRICES += [
    _scan, _taps, _taps_of_sequences, _while, _draw,
    lambda m, v: ifelse(m.sum() > 0, v, v[::-1] * 2), lambda m, v: pt.argsort(m, axis=0)[0] + v,
    lambda m, v: pt.linalg.solve(pt.stack([m @ m.T, m.T @ m]) + 2 * pt.eye(N), v, b_ndim=1)[1],
    lambda m, v: pt.linalg.cholesky(pt.stack([m @ m.T + pt.eye(N), 3 * pt.eye(N)]))[0, :, 0] * v,
    lambda m, v: pt.linalg.solve_triangular(pt.tril(m) + 3 * pt.eye(N), v, lower=True, b_ndim=1),
    lambda m, v: pt.linalg.slogdet(m @ m.T + pt.eye(N))[1] + pt.linalg.inv(m + 9 * pt.eye(N))[0],
    lambda m, v: pt.linalg.eigvalsh(m + m.T, None), lambda m, v: pt.extra_ops.searchsorted(pt.sort(v), m[0]) + v,
    lambda m, v: pt.sort(m, axis=None)[2:5], lambda m, v: pt.set_subtensor(m[pt.argsort(v), [0, 1, 2]], v)[1],
    lambda m, v: pt.inc_subtensor(m[:, 0], v)[:, 0], lambda m, v: pt.logsumexp(m, axis=1) + pt.special.log_softmax(v),
]  # fmt: skip


@st.composite
def graphs(draw: Any) -> tuple[list[Any], Any]:
    """A graph of a matrix and two vectors, with a scalar at its end or its gradient."""
    m, v, w = pt.dmatrix("m"), pt.dvector("v"), pt.dvector("w")
    known = [v, w]
    for _ in range(draw(st.integers(2, 7))):
        kind = draw(st.integers(0, 5))
        a, b = draw(st.sampled_from(known)), draw(st.sampled_from(known))
        if kind == 0:
            known.append(draw(st.sampled_from(UNARY))(a))
        elif kind == 1:
            known.append(draw(st.sampled_from(BINARY))(a, b))
        elif kind < 4:
            # of bounded values, so that no system is nearly singular
            made = KINDS[draw(st.sampled_from(sorted(KINDS)))](m, pt.tanh(a.astype("float64")))
            known.append(made.astype("float64"))
        else:
            known.append(draw(st.sampled_from(OF_MATRICES))(m, a.astype("float64")))
    out = known[-1].sum() + 0.5 * known[-2].mean()
    outputs = [known[-1], out]
    if draw(st.booleans()):
        outputs += slopes(out, [m, v, w])
    return [m, v, w], outputs


def slopes(out: Any, inputs: list[Any]) -> list[Any]:
    """The gradient of a scalar, or nothing where PyTensor has none."""
    try:
        return pytensor.grad(out.astype("float64"), inputs, disconnected_inputs="ignore")
    except (NotImplementedError, TypeError, pytensor.gradient.NullTypeGradError):
        return []


def rewrote(inputs: list[Any], outputs: list[Any], name: str) -> tuple[list[Any], list[Any]]:
    """The graph after the rewriting of one of PyTensor's modes."""
    fgraph = FunctionGraph(inputs, outputs, clone=True)
    mode = get_mode(name)
    with pytensor.config.change_flags(mode=mode):
        mode.optimizer.rewrite(fgraph)
    return list(fgraph.inputs), list(fgraph.outputs)


def check(inputs: list[Any], outputs: list[Any], forms: Sequence[str | None], seed: int) -> None:
    """A graph has the values of PyTensor here, in each of some `FORMS`."""
    rng = np.random.default_rng(seed)
    values = [rng.normal(size=(N,) * each.ndim) for each in inputs]
    single = any(
        getattr(v.type, "dtype", "") == "float32" for v in pytensor.graph.ancestors(outputs)
    )
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        wanted = pytensor.function(inputs, outputs, mode=THEIRS, on_unused_input="ignore")(*values)
        for form in forms:
            found = compiled(inputs, outputs, form)(*values)
            for a, b in zip(found, wanted, strict=True):
                near = single or "float32" in (str(a.dtype), str(b.dtype))
                tolerance = {"rtol": 1e-4, "atol": 1e-5} if near else {"rtol": 1e-9, "atol": 1e-11}
                np.testing.assert_allclose(a, b, **tolerance, err_msg=str(form))
                assert a.dtype == b.dtype


def compiled(inputs: list[Any], outputs: list[Any], form: str | None) -> Any:
    """A graph, compiled here in one of the `FORMS`."""
    if form == "OCCELO":
        return pytensor.function(inputs, outputs, mode=form, on_unused_input="ignore")
    if form is not None:
        inputs, outputs = rewrote(inputs, outputs, form)
    ours, converted = bridge.from_pytensor(outputs, inputs)
    return oc.function(ours, converted, on_unused_input="ignore")


@settings(
    max_examples=COUNT, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck)
)
@given(
    graphs(),
    st.just(FORMS) if THOROUGH else st.sampled_from([(f,) for f in FORMS]),
    st.integers(0, 9),
)
def test_random_graphs_agree(graph: Any, forms: Sequence[str | None], seed: int) -> None:
    check(*graph, forms, seed)


@pytest.mark.sampled(20)
@pytest.mark.parametrize("rewritten", [None, "FAST_RUN", "OCCELO"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_agrees(kind: str, rewritten: str | None) -> None:
    m, v = pt.dmatrix("m"), pt.dvector("v")
    out = KINDS[kind](m, pt.tanh(v))
    check([m, v], [out, *slopes(out.sum(), [m, v])], [rewritten], 1)
