"""The generator of random programs: its draws, its allowed errors, and how it shrinks failing programs."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import tensor as ot
from occelo_testing.programs.drawing import BuildFailure
from occelo_testing.programs.generating import PROFILES, random_program
from occelo_testing.programs.listing import listing
from occelo_testing.programs.program import Input, Program, Step
from occelo_testing.programs.rounding import Expected, expected_results
from occelo_testing.programs.shrinking import shrunk


def drawn(count: int, first: int = 0) -> list[Program]:
    """The programs of some seeds; those whose graph cannot be built are tested elsewhere."""
    found: list[Program] = []
    for seed in range(first, first + count):
        try:
            found.append(random_program(seed))
        except BuildFailure:
            continue
    return found


def add_chain(*literals: float) -> Program:
    """x0 plus numbers, one after the other."""
    nodes: list[Any] = [Input("float64", (3,), np.array([1.0, 2.5, -4.0]))]
    for i, number in enumerate(literals):
        text = f"{{0}} + {number}"
        nodes.append(Step("add", (i,), text, text, "result", True))
    return Program(tuple(nodes), (len(nodes) - 1,))


def test_a_seed_gives_one_program() -> None:
    for seed in range(20):
        a, b = random_program(seed), random_program(seed)
        assert listing(a) == listing(b)


def test_the_sample_has_what_it_is_for() -> None:
    steps: Counter[str] = Counter()
    seen: Counter[str] = Counter()
    for program in drawn(400):
        steps.update(n.name for n in program.nodes if isinstance(n, Step))
        for node in program.nodes:
            if not isinstance(node, Input):
                seen["broadcast"] += "array([[2" in node.numpy
                seen["negative step"] += "::-" in node.numpy
                continue
            value = node.value()
            seen["empty"] += value.size == 0
            seen["unknown 1"] += (None, 1) in zip(node.shape, value.shape, strict=True)
            seen["unknown 0"] += (None, 0) in zip(node.shape, value.shape, strict=True)
            seen["zero stride"] += any(
                s == 0 < n and n > 1 for s, n in zip(value.strides, value.shape, strict=True)
            )
            seen["reversed"] += any(s < 0 for s in value.strides)
            seen["not C order"] += not value.flags.c_contiguous
            seen["not finite"] += value.dtype.kind in "fc" and not np.isfinite(value).all()
            seen[value.dtype.name] += 1
        seen["several results"] += len(program.outputs) > 1
        shared = Counter(i for n in program.nodes if isinstance(n, Step) for i in n.args)
        seen["shared nodes"] += any(c > 1 for c in shared.values())
    dtypes = {d for profile in PROFILES.values() for d in profile.dtypes}
    missing = [k for k in [*dtypes, *seen] if seen[k] < 3]
    assert not missing, f"{missing} of {dict(seen)}"
    assert len(steps) > 80, steps
    for name in (
        "set",
        "inc",
        "index",
        "reshape",
        "matmul",
        "sum",
        "switch",
        "split",
        "concatenate",
    ):
        assert steps[name] >= 10, f"{name}: {steps[name]}"


def test_what_the_oracle_gives_is_what_numpy_gives() -> None:
    """The text of a program, run by Python, prints what `Program.run` computes."""
    for program in drawn(30, 500):
        text = listing(program)
        of_values = [line for line in text.splitlines() if "_value = " in line]
        of_numpy = text[text.index("# NumPy:") :].splitlines()[1:-1]
        of_helpers = text[text.index("import occelo.tensor as ot") :].splitlines()[1:]
        of_helpers = of_helpers[: of_helpers.index(of_values[0])] if of_values else []
        names: dict[str, Any] = {"np": np}
        source = "\n".join([*of_helpers, *of_values, *of_numpy])
        with np.errstate(all="ignore"):
            exec(source, names)
        for position, value in enumerate(program.run()):
            found = np.asarray(names[program.name(position)])
            assert found.dtype == value.dtype
            np.testing.assert_array_equal(found, value)


def test_exact_steps_allow_nothing() -> None:
    whole = Program(
        (Input("int64", (2,), np.array([1, 2])), Step("add", (0,), "{0} + 1", "{0} + 1")), (1,)
    )
    (of_integers,) = expected_results(whole)
    assert of_integers.difference(np.array([2, 3])) is None
    assert of_integers.difference(np.array([2, 4])) is not None
    assert of_integers.difference(np.array([2, 3], "int32")) is not None
    assert of_integers.difference(np.array([[2, 3]])) is not None
    assert of_integers.difference(np.int64(2)) is not None


def test_rounding_is_allowed_as_far_as_it_goes() -> None:
    (near,) = expected_results(add_chain(0.1, 0.2, 0.3))
    assert near.difference(near.value * (1 + 4e-16)) is None
    assert near.difference(near.value * (1 + 1e-12)) is not None
    # what cancels may be further off, but not by anything
    (cancelled,) = expected_results(add_chain(1e10, 0.1, -1e10), 40)
    assert cancelled.difference(cancelled.value + 4e-6) is None
    assert cancelled.difference(cancelled.value + 1e-2) is not None


def test_special_values_must_agree() -> None:
    values = np.array([np.nan, np.inf, -np.inf, 1.0])
    one = Expected(values, np.zeros(4))
    assert one.difference(values.copy()) is None
    for i, other in enumerate([1.0, -np.inf, np.nan, np.inf]):
        changed = values.copy()
        changed[i] = other
        assert one.difference(changed) is not None


def test_few_elements_are_undecided() -> None:
    """A tolerance so large that nothing can be said would make every comparison pass."""
    total = loose = 0
    for program in drawn(200, 1000):
        for one in expected_results(program):
            total += one.value.size
            loose += one.undecided
    assert total > 3000
    assert loose < 0.03 * total, f"{loose} of {total}"


def test_a_fault_is_made_small() -> None:
    """What has a product of two variables fails here: two inputs and the product are left."""

    def fails(program: Program) -> bool:
        return any(isinstance(n, Step) and n.symbolic == "{0} * {1}" for n in program.nodes)

    found = next(p for p in drawn(200) if fails(p) and len(p.nodes) > 8)
    small = shrunk(found, fails)
    assert fails(small)
    assert len([n for n in small.nodes if isinstance(n, Step)]) == 1
    assert len(small.nodes) <= 3


def test_a_graph_that_cannot_be_built_is_a_failure(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError("no")

    monkeypatch.setattr(ot, "concatenate", refuse)
    with pytest.raises(BuildFailure, match="TypeError: no") as caught:
        [random_program(seed) for seed in range(300)]
    last = caught.value.program.nodes[-1]
    assert isinstance(last, Step)
    assert last.name == "concatenate"


def test_values_agree_with_the_interpreter() -> None:
    """The generator and the interpreter know nothing of each other."""
    checked = 0
    for program in drawn(60, 3000):
        inputs, outputs = program.build()
        with np.errstate(all="ignore"):
            found = og.evaluate(outputs, dict(zip(inputs, program.values(), strict=True)))
        for a, one in zip(found, expected_results(program), strict=True):
            wrong = one.difference(np.asarray(a))
            assert wrong is None, listing(program, wrong)
            checked += one.value.size
    assert checked > 500


def test_an_unused_node_is_dropped() -> None:
    program = add_chain(1, 2, 4)
    assert len(replace(program, outputs=(1,)).pruned().nodes) == 2
