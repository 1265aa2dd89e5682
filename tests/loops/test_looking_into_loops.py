"""`DebugMode`, profiles and `time_loops` tell of the steps of loops."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

import occelo_compile as oc
import occelo_graph as og
from occelo_compile.debugging.debug_mode import DebugMode
from occelo_compile.debugging.errors import BadDestroyMap, BadThunkOutput, InvalidValueError
from occelo_compile.profiles.flame_graph import flame_page
from occelo_graph import tensor as ot
from occelo_linalg import functions as linalg
from occelo_loops.ops.building.classic import scan
from occelo_loops.ops.building.loops import fori_loop, loop
from occelo_testing.loop_programs import lower_as_doubling


class Growing(og.Op):
    """1.5 x, and whatever a test makes it do wrong once x is above 5."""

    __props__: ClassVar[tuple[str, ...]] = ()

    def infer(self, x: Any) -> Any:
        return x

    def evaluate(self, x: Any) -> Any:
        return 1.5 * x


def in_a_loop(op: og.Op, linker: str, levels: int = 1, **options: Any) -> Any:
    """A function that multiplies 1 by 1.5 in each step of a loop: after the step number 3 the result is above 5."""
    x = ot.dvector("x")

    def run(state: Any, level: int) -> Any:
        def step(s: Any) -> Any:
            return op(s) if level == 1 else run(s, level - 1)

        return loop(lambda s: (step(s), None), state, length=6, name=f"level {level}")[0]

    return oc.function([x], run(x, levels), mode=DebugMode(linker=linker, **options))


def steps_told_by(error: BaseException) -> list[str]:
    """The beginnings of the notes of an error that name a step."""
    return [note[:16] for note in error.__notes__ if note.startswith("This was ")]


@pytest.mark.parametrize("linker", ["native", "vm", "py"])
def test_a_fault_in_a_loop_says_in_which_step(linker: str) -> None:
    class Overwriting(Growing):
        def evaluate(self, x: Any) -> Any:
            made = 1.5 * x
            if x[0] > 5:
                x[...] = 0.0
            return made

    class OfOtherDtype(Growing):
        def evaluate(self, x: Any) -> Any:
            return (1.5 * x).astype("float32" if x[0] > 5 else "float64")

    np.testing.assert_allclose(in_a_loop(Growing(), linker)([1.0]), [1.5**6])
    with pytest.raises(BadDestroyMap, match="changed its input 0") as caught:
        in_a_loop(Overwriting(), linker)([1.0])
    assert steps_told_by(caught.value) == ["This was step 4 "]
    with pytest.raises(InvalidValueError, match="is float32") as told:
        in_a_loop(OfOtherDtype(), linker, levels=2)([1.0])
    assert steps_told_by(told.value) == ["This was step 4 ", "This was step 0 "]


@pytest.mark.parametrize("linker", ["native", "vm", "py"])
def test_a_value_that_is_not_finite_says_in_which_step(linker: str) -> None:
    class Exploding(Growing):
        def evaluate(self, x: Any) -> Any:
            return np.where(x > 5, np.inf, 1.5 * x)

    with pytest.raises(InvalidValueError, match=r"Exploding.* is not finite") as caught:
        in_a_loop(Exploding(), linker, check_isfinite=True)([1.0])
    assert steps_told_by(caught.value) == ["This was iterati"]
    assert any("iteration 4 of " in note for note in caught.value.__notes__)


@pytest.mark.parametrize("linker", ["native", "vm", "py"])
def test_compiled_code_that_disagrees_in_a_loop_says_from_which_step(linker: str) -> None:
    class Wrong(Growing):
        def evaluate(self, x: Any) -> Any:
            return np.where(x > 5, 3.0 * x, 2.0 * x)

    lower_as_doubling(Wrong)
    with pytest.raises(BadThunkOutput, match=r"after step 3, and not after the step before"):
        in_a_loop(Wrong(), linker)([1.0])


@pytest.mark.parametrize("mode", ["FAST_RUN", "FAST_COMPILE", "py", "vm"])
def test_nodes_inside_loops_are_counted(mode: str) -> None:
    x, n = ot.dvector("x"), ot.lscalar("n")

    def inner(k: Any, total: Any) -> Any:
        return total + ot.sin(k * total)

    def step(carry: Any, each: Any) -> Any:
        return fori_loop(0, n, inner, carry) * 0.5, each

    final, _ = loop(step, ot.constant(1.0), xs=x)
    f = oc.function([x, n], final, mode=mode, profile=True)
    f(np.ones(5), 3)
    everything = f.profile.as_dict()
    nested = next(n for n in everything["nodes"] if n["inner"])
    assert nested["runs"] == 1
    again = next(n for n in nested["inner"] if n["inner"])
    assert again["runs"] == 5
    (sine,) = [n for n in again["inner"] if "sin" in n["op"]]
    assert sine["runs"] == 15
    assert 0 < sine["seconds"] < again["seconds"] < nested["seconds"]
    assert sine["source"].startswith(__file__)
    own = sum(seconds for _, seconds, _ in f.profile.by_op())
    assert own == pytest.approx(sum(n["seconds"] for n in everything["nodes"]))
    assert sine["op"] in f.profile.report()
    assert sine["op"] in flame_page(f.profile)


def test_loops_of_the_user_are_looked_into() -> None:
    x, m = ot.dvector("x"), ot.dmatrix("m")
    states = scan(
        lambda v, m: ot.tanh(m @ v),
        outputs_info=[x],
        non_sequences=[m],
        n_steps=7,
        return_updates=False,
    )
    times = oc.function([x, m], states[-1]).time_loops(np.ones(40), np.eye(40), runs=3)
    (outer,) = [loop for loop in times if loop.depth == 0 and "Dot" in loop.ops]
    inside = [loop for loop in times if loop.outer is outer]
    assert {loop.entered for loop in inside} == {7}
    assert outer.entered == 1
    (product,) = [loop for loop in inside if loop.operations == 7 * 2 * 40 * 40]
    assert product.ops == ("Dot",)
    assert sum(loop.minimum for loop in inside) <= outer.seconds
    known = [loop.operations for loop in inside]
    assert outer.operations is not None
    assert outer.operations >= sum(n for n in known if n is not None)
    order = [loop.depth for loop in times.slowest_first()]
    assert order[: 1 + len(inside)] == [0, *[1] * len(inside)]


def test_calls_whose_operations_are_not_known_say_so() -> None:
    m = ot.dmatrix("m")
    times = oc.function([m], linalg.eigvalsh(m)).time_loops(np.eye(50), runs=1)
    assert None in [loop.operations for loop in times]
    factor = oc.function([m], linalg.cholesky(m)).time_loops(np.eye(300), runs=1)
    assert max(loop.operations or 0 for loop in factor) == 300**3 // 3
