"""Functions that are found by the digest of PyTensor's graph, and graphs whose digests must differ."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.compile.builders import OpFromGraph
from pytensor.graph.op import Op
from pytensor.tensor.math import Dot

import occelo as oc
from occelo_pytensor import models, register_conversion, registry, use
from occelo_pytensor.digests import NoDigest, digest_of

X = pt.vector("x", shape=(3,))
M = pt.matrix("m")
DATA = np.arange(3.0)


def _scan(taps: list[int]) -> Any:
    start = pt.zeros(-min(taps))
    return pytensor.scan(
        lambda a, *before: a + sum(before),
        sequences=[X],
        outputs_info=[{"initial": start if len(start.shape.eval()) else start[0], "taps": taps}],
        return_updates=False,
    )


def _inline(factor: float) -> Any:
    v = pt.vector(shape=(3,))
    return OpFromGraph([v], [v * factor])(X)


def _tagged() -> Any:
    made = pt.outer(X, X)
    made.tag.lower_triangular = True
    return made


PAIRS: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "ops": (lambda: pt.exp(X), lambda: pt.expm1(X)),
    "orders of inputs": (lambda: X - X[::-1], lambda: X[::-1] - X),
    "values": (lambda: X + DATA, lambda: X + (DATA + 1)),
    "signs of zero": (lambda: X / 0.0, lambda: X / -0.0),
    "dtypes of constants": (lambda: X + np.float32(1), lambda: X + np.float64(1)),
    "shapes of constants": (lambda: X + DATA, lambda: X + DATA[None]),
    "layouts of constants": (
        lambda: pt.dot(pt.constant(np.arange(9.0).reshape(3, 3)), X),
        lambda: pt.dot(pt.constant(np.arange(9.0).reshape(3, 3).T), X),
    ),
    "axes": (lambda: pt.sum(M, axis=0), lambda: pt.sum(M, axis=1)),
    "dtypes": (lambda: pt.cast(X, "float32"), lambda: pt.cast(X, "int64")),
    "indices": (lambda: X[1], lambda: X[2]),
    "ends of slices": (lambda: X[1:], lambda: X[:1]),
    "static lengths": (
        lambda: pt.specify_shape(M, (2, None)),
        lambda: pt.specify_shape(M, (3, None)),
    ),
    "tags": (lambda: pt.outer(X, X), _tagged),
    "shared types": (
        lambda: X + pytensor.shared(DATA),
        lambda: X + pytensor.shared(DATA, shape=(3,)),
    ),
    "shared variables": (
        lambda: (lambda s: X + s + s)(pytensor.shared(DATA)),
        lambda: X + pytensor.shared(DATA) + pytensor.shared(DATA),
    ),
    "inner graphs": (lambda: _inline(2.0), lambda: _inline(3.0)),
    "taps": (lambda: _scan([-1]), lambda: _scan([-2])),
    "fields of inner ops": (
        lambda: pt.linalg.cholesky(M, lower=True),
        lambda: pt.linalg.cholesky(M, lower=False),
    ),
    "checks": (
        lambda: pm.logprob.utils.CheckParameterValue("a", can_be_replaced_by_ninf=True)(
            X, X[0] > 0
        ),
        lambda: pm.logprob.utils.CheckParameterValue("a", can_be_replaced_by_ninf=False)(
            X, X[0] > 0
        ),
    ),
}


@pytest.mark.parametrize("what", PAIRS)
def test_what_differs_has_other_digests(what: str) -> None:
    first, second = PAIRS[what]
    found = [digest_of([make()], [X, M])[0] for make in (first, first, second)]
    assert found[0] == found[1]
    assert found[0] != found[2]


def test_inputs_and_options_are_part_of_the_digest() -> None:
    a, b = pt.vectors("ab")
    known = digest_of([a - b], [a, b], "checks")
    assert known != digest_of([a - b], [b, a], "checks")
    assert known != digest_of([a - b], [a, b], "none")
    assert digest_of([a], [a]) != digest_of([a], [a, b])
    assert digest_of([pt.vector(dtype="float32")][:0], []) == digest_of([], [])


class Twice(Op):
    """A user's op."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return pytensor.graph.basic.Apply(self, [x], [x.type()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        outputs[0][0] = inputs[0] * 2


class Dots(Dot):
    """A user's subclass of an op that is converted."""


def test_what_is_not_known_has_no_digest() -> None:
    local = 2.0
    given = OpFromGraph([X], [X * 2], pullback=lambda *_: [X * local])
    for made in (
        Twice()(X),
        Dots()(M, M),
        given(X),
        X + pt.vector(),
        pt.random.normal(size=3, rng=pt.random.default_rng(1), return_next_rng=True)[1] + X,
        pytensor.sparse.csr_from_dense(M).toarray(),
    ):
        with pytest.raises(NoDigest):
            digest_of([made], [X, M])


def test_a_users_conversion_has_no_digest(monkeypatch: pytest.MonkeyPatch) -> None:
    digest_of([pt.dot(M, M)], [M])
    monkeypatch.setattr(registry, "_conversions", dict(registry._conversions))
    register_conversion(Dot)(lambda node, a, b: oc.tensor.dot(a, b) * 2)
    for made in (pt.dot(M, M), pt.tensor3() @ M):
        with pytest.raises(NoDigest):
            digest_of([made], [M, *made.owner.inputs[:1]])


def _model(scale: float = 1.0, data: Any = DATA) -> Any:
    with pm.Model() as model:
        mean = pm.Normal("mean", 0, scale)
        width = pm.HalfNormal("width")
        pm.Normal("seen", mean, width, observed=data)
    return model


def _density(model: Any) -> Any:
    with use():
        made = model.logp_dlogp_function(ravel_inputs=True)
    made.set_extra_values({})
    return made


def _refuse(*_: Any, **__: Any) -> Any:
    raise AssertionError("converted")


POINT = np.array([0.3, -0.2])


def test_a_function_of_an_equal_model_is_found_without_conversion(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    first = _density(_model(1.25))
    value, slope = first._pytensor_function(POINT)
    monkeypatch.setattr(models, "_converted", _refuse)
    again = _density(_model(1.25))
    assert again._pytensor_function.maker.from_cache
    found, slope_again = again._pytensor_function(POINT)
    assert (found, *slope_again) == (value, *slope)
    with pytest.raises(AssertionError, match="converted"):
        _density(_model(1.375))
    with pytest.raises(AssertionError, match="converted"):
        _density(_model(1.25, DATA + 1))


def test_values_are_those_of_pytensor() -> None:
    for scale, data in ((1.5, DATA), (2.5, DATA), (1.5, DATA * 2)):
        model = _model(scale, data)
        theirs = model.logp_dlogp_function(ravel_inputs=True)
        theirs.set_extra_values({})
        wanted, slope = theirs._pytensor_function(POINT)
        for _ in range(2):
            found, ours = _density(model)._pytensor_function(POINT)
            np.testing.assert_allclose(found, wanted, rtol=1e-12)
            np.testing.assert_allclose(ours, slope, rtol=1e-12)


def test_shared_data_of_a_function_from_the_cache_are_its_own() -> None:
    made: list[Any] = []
    for _ in range(2):
        with pm.Model() as model:
            data = pm.Data("data", DATA)
            pm.Normal("seen", pm.Normal("mean"), 1.0, observed=data)
        made.append((model, _density(model)))
    (_, first), (model, second) = made
    before = first._pytensor_function(POINT[:1])[0]
    assert second._pytensor_function(POINT[:1])[0] == before
    with model:
        pm.set_data({"data": DATA + 2})
    assert second._pytensor_function(POINT[:1])[0] != before
    assert first._pytensor_function(POINT[:1])[0] == before


def test_functions_from_the_cache_are_copied_pickled_and_explained() -> None:
    for _ in range(2):
        made = _density(_model(1.75))
        wanted = made._pytensor_function(POINT)
        for other in (
            made.copy(),
            copy.copy(made),
            pickle.loads(pickle.dumps(made._pytensor_function)),
        ):
            found = getattr(other, "_pytensor_function", other)(POINT)
            assert (found[0], *found[1]) == (wanted[0], *wanted[1])
        assert "log" in oc.debugprint(made._pytensor_function, file="str")
        assert "Deferred" not in oc.debugprint(made._pytensor_function, file="str")


def test_errors_of_functions_from_the_cache_name_the_users_line() -> None:
    for _ in range(2):
        with pm.Model() as model:
            data = pm.Data("data", DATA)
            offset = pm.Data("offset", DATA)
            pm.Normal("seen", pm.Normal("mean") + offset, 1.0, observed=data)  # this line
        made = _density(model)
        made._pytensor_function(POINT[:1])
        with model:
            pm.set_data({"data": np.arange(5.0)})
        with pytest.raises(ValueError, match="this line"):
            made._pytensor_function(POINT[:1])
