"""Every op of the example table satisfies every law."""

from __future__ import annotations

import os

import pytest

from occelo_graph.testing import checks
from occelo_graph.testing.example import Example
from occelo_graph.testing.examples import EXAMPLES

THOROUGH = os.environ.get("HYPOTHESIS_PROFILE") == "thorough"
DIFFERENTIABLE = [e for e in EXAMPLES if e.gradient]
BATCHED = [e for e in EXAMPLES if e.batched]


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_value_is_the_reference(example: Example) -> None:
    checks.check_value(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_inferred_types_are_those_of_evaluate(example: Example) -> None:
    checks.check_types(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_inferred_shapes_are_those_of_values(example: Example) -> None:
    checks.check_shapes(example)


@pytest.mark.parametrize("example", EXAMPLES, ids=str)
def test_memory_layout_does_not_matter(example: Example) -> None:
    checks.check_layouts(example)


@pytest.mark.parametrize("example", DIFFERENTIABLE if THOROUGH else DIFFERENTIABLE[::2], ids=str)
def test_gradient_agrees_with_finite_differences(example: Example) -> None:
    checks.check_gradient(example)


@pytest.mark.parametrize("example", DIFFERENTIABLE, ids=str)
def test_pushforward_agrees_with_pullback(example: Example) -> None:
    checks.check_pushforward(example)


@pytest.mark.parametrize("example", BATCHED, ids=str)
def test_vectorized_is_a_loop(example: Example) -> None:
    checks.check_batches(example)
