"""Mistakes in models of PyMC: errors name the line of the model, by whichever door its log density is compiled."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pymc as pm
import pytensor
import pytensor.tensor as pt
import pytest
from pytensor.graph.basic import Apply
from pytensor.graph.op import Op

import occelo_pytensor as bridge

pytestmark = pytest.mark.filterwarnings("ignore")
X = np.linspace(-1.0, 1.0, 5)


class Broken(Op):
    """An op of a user that fails."""

    __props__ = ()

    def make_node(self, x: Any) -> Any:
        return Apply(self, [pt.as_tensor(x)], [pt.dscalar()])

    def perform(self, node: Any, inputs: Any, outputs: Any) -> None:
        raise RuntimeError("it broke")

    def pullback(self, inputs: Any, outputs: Any, gradients: Any) -> Any:
        return list(gradients)


def _data(values: Any) -> Any:
    return pm.Data(f"data{len(pm.modelcontext(None).named_vars)}", values)


def _other_lengths() -> None:
    mu = pm.Normal("a") * _data(X)
    pm.Normal("y", mu, 1.0, observed=_data(X))  # here: the data have other lengths than the mean
    pm.set_data({"data1": X[:3]})


def _lengths() -> None:
    product = pm.Normal("a", shape=4)[_data(np.arange(4))] * _data(X)  # here
    pm.Potential("p", product.sum())


def _position() -> None:
    effect = pm.Normal("a", shape=3)[_data(np.array([0, 1, 7]))]  # here
    pm.Normal("y", effect, 1.0, observed=X[:3])


def _reshaped() -> None:
    pm.Potential("p", (pm.Normal("a") * _data(X)).reshape((2, 3)).sum())  # here


def _joined() -> None:
    a = pm.Normal("a", shape=(2, 2))
    pm.Potential("p", pt.concatenate([_data(np.ones((2, 3))), a]).sum())  # here


def _assertion() -> None:
    a = pm.Normal("a")
    pm.Potential("p", pytensor.raise_op.Assert("a is too small")(a, a > 5))  # here


def _of_a_user() -> None:
    pm.Potential("p", Broken()(pm.Normal("a")))  # here


def _step_of_a_loop() -> None:
    def step(row: Any, state: Any) -> Any:
        return pt.concatenate([state, state]) * row

    out = pytensor.scan(step, _data(X), pm.Normal("a", shape=2), return_updates=False)  # here
    pm.Potential("p", out.sum())


def _product() -> None:
    pm.Potential("p", (_data(np.ones((4, 3))) @ pm.Normal("a", shape=2)).sum())  # here


def _likelihood_by_hand() -> None:
    def logp(value: Any, mean: Any) -> Any:
        return -((value - mean) ** 2)  # here

    pm.CustomDist("y", pm.Normal("a", shape=4)[_data(np.arange(4))], logp=logp, observed=X)


MISTAKES = [
    _other_lengths, _lengths, _position, _reshaped, _joined, _assertion, _of_a_user, _step_of_a_loop,
    _product, _likelihood_by_hand,
]  # fmt: skip


def _by_use(model: Any) -> None:
    with bridge.use():
        f = model.logp_dlogp_function(ravel_inputs=True)
    f.set_extra_values({})
    f._pytensor_function(np.zeros(sum(np.size(v) for v in model.initial_point().values())))


def _by_the_mode(model: Any) -> None:
    model.compile_logp(mode="OCCELO")(model.initial_point())


def _by_nutpie(model: Any) -> None:
    nutpie = pytest.importorskip("nutpie")
    compiled = bridge.nutpie_model(model)
    nutpie.sample(compiled, draws=2, tune=2, chains=1, progress_bar=False)


@pytest.mark.sampled(5)
@pytest.mark.parametrize("run", [_by_use, _by_the_mode, _by_nutpie])
@pytest.mark.parametrize("mistake", MISTAKES)
def test_errors_name_the_line_of_the_model(
    mistake: Callable[[], None], run: Callable[[Any], None]
) -> None:
    first = mistake.__code__.co_firstlineno
    lines = Path(__file__).read_text().splitlines()
    line = next(i for i in range(first, len(lines)) if "# here" in lines[i]) + 1
    with pm.Model() as model:
        mistake()
    with pytest.raises(
        (ArithmeticError, AssertionError, LookupError, RuntimeError, ValueError, TypeError)
    ) as caught:
        run(model)
    text = "\n".join([str(caught.value), *getattr(caught.value, "__notes__", [])])
    assert f"test_mistakes.py:{line}" in text
