"""Every op of the example table satisfies every law."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import pytest

from occelo_graph.examples.example import Example
from occelo_testing import checks
from occelo_testing.examples import EXAMPLES


def by_op(examples: Iterable[Example]) -> dict[str, list[Example]]:
    """The examples of each op: one test for all of them, since starting a test takes longer than most checks."""
    found: dict[str, list[Example]] = {}
    for example in examples:
        found.setdefault(example.name, []).append(example)
    return found


ALL = by_op(EXAMPLES)
WITH_GRADIENTS = by_op(e for e in EXAMPLES if e.gradient)
BATCHED = by_op(e for e in EXAMPLES if e.batched)


def check_each(check: Callable[[Example], None], examples: list[Example]) -> None:
    """Check all examples, and name those that fail."""
    wrong: list[Exception] = []
    for example in examples:
        try:
            check(example)
        except Exception as error:
            error.add_note(f"of the example {example}")
            wrong.append(error)
    if wrong:
        raise ExceptionGroup(f"{len(wrong)} of {len(examples)} examples fail", wrong)


@pytest.mark.parametrize("op", ALL)
def test_value_is_the_reference(op: str) -> None:
    check_each(checks.check_value, ALL[op])


@pytest.mark.parametrize("op", ALL)
def test_inferred_types_are_those_of_evaluate(op: str) -> None:
    check_each(checks.check_types, ALL[op])


@pytest.mark.parametrize("op", ALL)
def test_inferred_shapes_are_those_of_values(op: str) -> None:
    check_each(checks.check_shapes, ALL[op])


@pytest.mark.parametrize("op", ALL)
def test_memory_layout_does_not_matter(op: str) -> None:
    check_each(checks.check_layouts, ALL[op])


@pytest.mark.parametrize("op", WITH_GRADIENTS)
def test_gradient_agrees_with_finite_differences(op: str) -> None:
    check_each(checks.check_gradient, WITH_GRADIENTS[op])


@pytest.mark.parametrize("op", WITH_GRADIENTS)
def test_pushforward_agrees_with_pullback(op: str) -> None:
    check_each(checks.check_pushforward, WITH_GRADIENTS[op])


@pytest.mark.parametrize("op", BATCHED)
def test_vectorized_is_a_loop(op: str) -> None:
    check_each(checks.check_batches, BATCHED[op])


def test_all_examples_are_checked_and_those_that_fail_are_named() -> None:
    seen: list[Example] = []

    def check(example: Example) -> None:
        seen.append(example)
        assert len(seen) != 2

    with pytest.raises(ExceptionGroup, match="1 of 3 examples fail") as caught:
        check_each(check, EXAMPLES[:3])
    assert seen == EXAMPLES[:3]
    assert caught.value.exceptions[0].__notes__ == [f"of the example {EXAMPLES[1]}"]
