"""Update rules: functions that return the updates of one step of gradient descent, for `function`.

Each takes a cost, or a tree of gradients, and a tree of shared variables, the parameters. It returns pairs of a shared
variable and an expression: for the parameters, and for the state of the rule, which it makes as shared variables of
zeros. Formulas and defaults are those of PyTorch. A learning rate is a number, a scalar variable, or a schedule
(`schedules`), which gets the number of the step, from 0.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_graph.errors import describe
from occelo_graph.ir import trees
from occelo_graph.ir.nodes import Variable
from occelo_graph.ir.shared import SharedVariable
from occelo_graph.tensors.nodes import is_tensor

if TYPE_CHECKING:
    from occelo_graph.tensor import TensorVariable

__all__ = ["adagrad", "adam", "adamw", "momentum", "nesterov", "rmsprop", "sgd"]

Updates: TypeAlias = list[tuple[SharedVariable, Any]]
Rate: TypeAlias = Any
"""A number, a scalar variable, or a function from the number of the step to one of these."""


class _Rule:
    """What the rules have in common: parameters, gradients, the learning rate, the number of the step and the state."""

    def __init__(self, cost: Any, params: Any, rate: Rate, real: bool = True) -> None:
        self.params, structure = trees.flatten(params, "params")
        for path, each in zip(structure.paths("params"), self.params, strict=True):
            if not isinstance(each, SharedVariable):
                raise TypeError(f"Rules update shared variables, and {path} is {each!r}")
            if not is_tensor(each) or each.type.is_discrete or (real and each.type.is_complex):
                kind = "real" if real else "real or complex"
                raise TypeError(f"This rule updates {kind} parameters, and {path} is {each.type}")
        if isinstance(cost, Variable) and cost.type.ndim and not structure.is_leaf:
            raise TypeError(
                f"The cost is a scalar, or there is a gradient for each parameter, got {describe(cost)}"
            )
        if isinstance(cost, Variable) and cost.type.ndim == 0:
            self.gradients: list[Any] = og.grad(cost, self.params)
        else:
            self.gradients = structure.leaves_of(cost, "gradients")
        self.updates: Updates = []
        self._step: Any = None
        self._rate: Any = _scalar("learning_rate", rate(self.step) if callable(rate) else rate)

    @property
    def step(self) -> TensorVariable:
        """The number of the step, from 0, an integer."""
        if self._step is None:
            self._step = og.shared(np.int64(0), "step")
            self.updates.append((self._step, self._step + 1))
        return self._step

    def rate(self, parameter: Any) -> TensorVariable:
        """The learning rate in the dtype of a parameter."""
        return ot.cast(self._rate, parameter.dtype)

    def unbiased(self, decay: float, parameter: Any) -> TensorVariable:
        """What a moving average of values, begun at 0, is divided by: 1 - decay**count."""
        count = ot.cast(self.step, "float64") + 1.0
        return ot.cast(1 - decay**count, parameter.dtype)

    def state(self, parameter: Any, name: str, new: Callable[[Any], Any]) -> TensorVariable:
        """A new state of a parameter that was zeros at first. ``new`` makes it of the old one."""
        zeros = np.zeros_like(parameter.get_value(borrow=True))
        full = name if parameter.name is None else f"{parameter.name}_{name}"
        old = og.shared(zeros, full, shape=parameter.type.shape)
        updated: TensorVariable = ot.cast(new(old), parameter.dtype)
        self.updates.append((old, updated))
        return updated

    def run(self, step: Callable[[Any, Any], Any]) -> Updates:
        """The updates. ``step`` makes what is subtracted from a parameter, of the parameter and its gradient."""
        for parameter, gradient in zip(self.params, self.gradients, strict=True):
            self.updates.append(
                (parameter, ot.cast(parameter - step(parameter, gradient), parameter.dtype))
            )
        return self.updates


def _scalar(name: str, value: Any) -> Any:
    """The value of an argument. TypeError unless it is a number or a scalar variable."""
    if ot.as_tensor_variable(value).type.ndim:
        raise TypeError(f"{name} is a number or a scalar variable, got {value!r}")
    return value


def sgd(cost: Any, params: Any, learning_rate: Rate) -> Updates:
    """Gradient descent: subtract ``learning_rate`` times the gradient.

    ``cost`` is a scalar, or a tree of gradients, and ``params`` is a tree of shared variables.
    """
    rule = _Rule(cost, params, learning_rate, real=False)
    return rule.run(lambda p, g: rule.rate(p) * g)


def momentum(
    cost: Any, params: Any, learning_rate: Rate, decay: float = 0.9, nesterov: bool = False
) -> Updates:
    """Gradient descent along a velocity: ``decay`` times the last velocity, plus the gradient.

    With ``nesterov`` the step is along the gradient plus ``decay`` times the new velocity (Sutskever et al., 2013).
    ``cost``, ``params`` and ``learning_rate`` are as in `sgd`.
    """
    rule = _Rule(cost, params, learning_rate, real=False)

    def step(p: Any, g: Any) -> Any:
        velocity = rule.state(p, "velocity", lambda v: decay * v + g)
        return rule.rate(p) * (g + decay * velocity if nesterov else velocity)

    return rule.run(step)


def nesterov(cost: Any, params: Any, learning_rate: Rate, decay: float = 0.9) -> Updates:
    """The rule `momentum` with ``nesterov=True``. ``cost``, ``params``, ``learning_rate`` and ``decay`` are as there."""
    return momentum(cost, params, learning_rate, decay, nesterov=True)


def adagrad(cost: Any, params: Any, learning_rate: Rate = 0.01, epsilon: float = 1e-10) -> Updates:
    """Divide the gradient by the root of the sum of all its squares, plus ``epsilon`` (Duchi et al., 2011).

    ``cost``, ``params`` and ``learning_rate`` are as in `sgd`.
    """
    rule = _Rule(cost, params, learning_rate)

    def step(p: Any, g: Any) -> Any:
        total = rule.state(p, "squares", lambda s: s + g**2)
        return rule.rate(p) * g / (ot.sqrt(total) + epsilon)

    return rule.run(step)


def rmsprop(
    cost: Any,
    params: Any,
    learning_rate: Rate = 0.01,
    decay: float = 0.99,
    epsilon: float = 1e-8,
    momentum: float = 0.0,
    centered: bool = False,
) -> Updates:
    """Divide the gradient by the root of a moving average of its squares, plus ``epsilon`` (Hinton, 2012).

    With ``centered``, the square of a moving average of the gradient is subtracted from the average of squares. With
    ``momentum``, the step is along a velocity of such quotients. ``decay`` is that of the averages.
    ``cost``, ``params`` and ``learning_rate`` are as in `sgd`.
    """
    rule = _Rule(cost, params, learning_rate)

    def step(p: Any, g: Any) -> Any:
        squares = rule.state(p, "squares", lambda s: decay * s + (1 - decay) * g**2)
        if centered:
            squares = squares - rule.state(p, "mean", lambda m: decay * m + (1 - decay) * g) ** 2
        scaled = g / (ot.sqrt(squares) + epsilon)
        if momentum:
            scaled = rule.state(p, "velocity", lambda v: momentum * v + scaled)
        return rule.rate(p) * scaled

    return rule.run(step)


def adam(
    cost: Any,
    params: Any,
    learning_rate: Rate = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    epsilon: float = 1e-8,
) -> Updates:
    """Divide a moving average of gradients by the root of one of their squares (Kingma and Ba, 2014).

    ``b1`` and ``b2`` are the decays of the averages, which are divided by 1 - b**count, since they begin at 0.
    ``epsilon`` is added to the root. ``cost``, ``params`` and ``learning_rate`` are as in `sgd`.
    """
    return adamw(cost, params, learning_rate, b1, b2, epsilon, weight_decay=0.0)


def adamw(
    cost: Any,
    params: Any,
    learning_rate: Rate = 0.001,
    b1: float = 0.9,
    b2: float = 0.999,
    epsilon: float = 1e-8,
    weight_decay: float = 0.01,
) -> Updates:
    """`adam`, and each parameter loses ``learning_rate * weight_decay`` of itself (Loshchilov and Hutter, 2017).

    ``cost``, ``params``, ``b1``, ``b2`` and ``epsilon`` are as in `adam`.
    """
    rule = _Rule(cost, params, learning_rate)
    b1, b2 = _scalar("b1", b1), _scalar("b2", b2)

    def step(p: Any, g: Any) -> Any:
        mean = rule.state(p, "mean", lambda m: b1 * m + (1 - b1) * g) / rule.unbiased(b1, p)
        squares = rule.state(p, "squares", lambda s: b2 * s + (1 - b2) * g**2)
        scaled = mean / (ot.sqrt(squares / rule.unbiased(b2, p)) + epsilon)
        return rule.rate(p) * (scaled + weight_decay * p if weight_decay else scaled)

    return rule.run(step)
