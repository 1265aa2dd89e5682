"""`Drawing`: a random program under construction.

`generating` creates a `Drawing`. Functions in `elementwise`, `indexing`, `reductions` and `shapes` add steps to it:
they pick random earlier nodes as arguments. `occelo_testing.random_programs` reports a `BuildFailure`, and calls
`misjudged` to compare types with values.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from occelo_testing.programs.program import Input, Node, Program, Step
from occelo_testing.programs.values import laid_out, numbers

if TYPE_CHECKING:
    from occelo_graph.tensors.variable import TensorVariable

T = TypeVar("T")


class Unfit(Exception):
    """The drawn arguments do not fit each other, or NumPy rejects them."""


class BuildFailure(Exception):
    """NumPy runs the program, but Occelo cannot build the graph, or a type in the graph contradicts NumPy's value."""

    def __init__(self, program: Program, cause: BaseException) -> None:
        super().__init__(f"{type(cause).__name__}: {cause}")
        self.program = program
        self.cause = cause


@dataclass(frozen=True)
class Profile:
    """Parameters of the distribution of programs.

    ``dtypes`` are the dtypes of inputs. With ``special``, values may be infinite, NaN or extreme. With ``smooth``, all
    steps are differentiable. ``steps`` are the least and the greatest number of steps. ``forms`` are the steps to choose
    from, with weights, instead of all. With ``stretch``, written values may broadcast along dynamic lengths. No result
    has more than ``largest`` elements.
    """

    dtypes: tuple[str, ...]
    special: bool = False
    smooth: bool = False
    steps: tuple[int, int] = (3, 9)
    forms: Sequence[tuple[float, Form]] = ()
    stretch: bool = False
    largest: int = 400


@dataclass(frozen=True)
class Made:
    """A node of the program: its position, its value by NumPy, and its variable in Occelo's graph."""

    position: int
    value: Any
    variable: TensorVariable

    @property
    def kind(self) -> str:
        """The kind of the dtype, as in NumPy: b, i, u, f or c."""
        return str(self.value.dtype.kind)

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return int(self.value.ndim)

    @property
    def static(self) -> tuple[int | None, ...]:
        """The static shape of the variable."""
        return tuple(self.variable.type.shape)


@dataclass
class Drawing:
    """A program under construction, and random choices for its next step."""

    random: np.random.Generator
    profile: Profile
    lengths: tuple[int, ...]
    seed: int = -1
    made: list[Made] = field(default_factory=lambda: list[Made]())
    nodes: list[Node] = field(default_factory=lambda: list[Node]())

    # draws

    def chance(self, p: float) -> bool:
        """True with probability p."""
        return bool(self.random.random() < p)

    def choice(self, what: Sequence[T]) -> T:
        """A random element of ``what``."""
        return what[int(self.random.integers(len(what)))]

    def whole(self, low: int, high: int) -> int:
        """A random integer from ``low`` to ``high``, both included."""
        return int(self.random.integers(low, high + 1))

    def pick(self, fits: Callable[[Made], bool] = lambda _: True) -> Made:
        """A random node that satisfies ``fits``; the latest such node is picked most often. `Unfit` if no node fits."""
        fitting = [m for m in self.made if fits(m)]
        if not fitting:
            raise Unfit
        if self.chance(0.4):
            return fitting[-1]
        return self.choice(fitting)

    def axis(self, made: Made) -> int:
        """A random axis of a node. It is negative in half of the draws."""
        if not made.ndim:
            raise Unfit
        return self.whole(-made.ndim, made.ndim - 1)

    def axes(self, made: Made) -> Any:
        """A random ``axis`` argument of a reduction: None, one axis, or a tuple of axes."""
        if self.chance(0.3) or not made.ndim:
            return None
        if made.ndim > 1 and self.chance(0.3):
            count = self.whole(1, made.ndim)
            chosen = self.random.choice(made.ndim, count, replace=False).tolist()
            return tuple(int(a) for a in chosen)
        return self.axis(made)

    # nodes

    def new_input(self, dtype: str, shape: tuple[int, ...], value: Any = None) -> Made:
        """Add an input of the given shape in a random layout, by default with random values. Each length is static or
        dynamic at random.
        """
        if value is None:
            value = numbers(self.random, dtype, shape, self.profile.special)
        return self._add_input(laid_out(self.random, np.asarray(value), self._static(shape)))

    def input_of(self, value: Any, ones: bool = False) -> Made:
        """Add an input with the given value, in C order. With ``ones``, all lengths of 1 are static."""
        value = np.asarray(value)
        static = self._static(value.shape)
        if ones:
            static = tuple(n if n == 1 else s for n, s in zip(value.shape, static, strict=True))
        return self._add_input(Input(value.dtype.name, static, value))

    def _static(self, shape: tuple[int, ...]) -> tuple[int | None, ...]:
        return tuple(n if self.chance(0.75 if n == 1 else 0.3) else None for n in shape)

    def _add_input(self, given: Input) -> Made:
        position = len(self.nodes)
        node = Made(position, given.value(), given.variable(f"x{position}"))
        self.nodes.append(given)
        self.made.append(node)
        return node

    def step(
        self,
        name: str,
        args: Sequence[Made],
        numpy: str,
        symbolic: str | None = None,
        rounds: str = "no",
        integral: bool = False,
    ) -> Made:
        """Add a step. `Unfit` if NumPy rejects the step; `BuildFailure` if NumPy accepts it, but Occelo does not.

        ``numpy`` and ``symbolic`` are the expressions of the `Step`. By default, ``symbolic`` is ``numpy`` with ``ot.``
        for ``np.``.
        """
        step = Step(
            name,
            tuple(a.position for a in args),
            numpy,
            numpy.replace("np.", "ot.") if symbolic is None else symbolic,
            rounds,
            integral,
        )
        value = self._oracle(step, args)
        try:
            variable = step.on_variables([a.variable for a in args])
        except Exception as error:
            program = Program((*self.nodes, step), (len(self.nodes),), self.seed).pruned()
            raise BuildFailure(program, error) from error
        wrong = misjudged(variable, value)
        if wrong:
            program = Program((*self.nodes, step), (len(self.nodes),), self.seed).pruned()
            raise BuildFailure(program, TypeError(wrong))
        node = Made(len(self.nodes), value, variable)
        self.nodes.append(step)
        self.made.append(node)
        return node

    def _oracle(self, step: Step, args: Sequence[Made]) -> Any:
        with np.errstate(all="ignore"):
            try:
                value = step.on_arrays([a.value for a in args])
            except Exception as error:
                raise Unfit from error
        if value.size > self.profile.largest or value.dtype.name in (
            "object",
            "longdouble",
            "clongdouble",
        ):
            raise Unfit
        if not self.profile.special and value.dtype.kind in "fc" and not np.isfinite(value).all():
            raise Unfit
        return value


Form = Callable[[Drawing], Any]


def misjudged(variable: TensorVariable, value: Any) -> str | None:
    """How the type of a variable contradicts its value, as text; None if the type and the value agree."""
    static = tuple(variable.type.shape)
    if variable.type.dtype != value.dtype.name:
        return f"the type has dtype {variable.type.dtype}, NumPy gives {value.dtype.name}"
    if len(static) != value.ndim:
        return f"the type has the shape {static}, NumPy gives {value.shape}"
    if any(s is not None and s != n for s, n in zip(static, value.shape, strict=True)):
        return f"the type has the shape {static}, NumPy gives {value.shape}"
    return None
