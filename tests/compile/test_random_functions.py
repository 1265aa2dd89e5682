"""Random graphs compiled with all rewrites for a linker that runs op by op, against the interpreter."""

from __future__ import annotations

import os

import numpy as np
from hypothesis import HealthCheck, given, settings

import occelo_graph as og
from occelo_compile import Mode, function
from occelo_testing.strategies import RandomGraph, graphs

settings.register_profile(
    "ci", max_examples=60, derandomize=True, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.register_profile(
    "thorough", max_examples=1000, deadline=None, suppress_health_check=list(HealthCheck)
)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "ci"))


@given(graphs(dtypes=("float64", "float32", "int64", "bool")))
def test_all_rewrites_with_the_vm(graph: RandomGraph) -> None:
    with np.errstate(all="ignore"):
        expected = og.evaluate(graph.outputs, graph.given())
        made = function(
            graph.inputs, graph.outputs, mode=Mode("vm", "fast_run"), on_unused_input="ignore"
        )
        arguments = [np.array(v) for v in graph.values]
        results = [made(*arguments) for _ in range(2)]
        inner = [v for node in og.toposort(graph.outputs) for v in node.outputs]
        infinite = any(np.isinf(v).any() for v in og.evaluate(inner, graph.given()))
    for a, b in zip(arguments, graph.values, strict=True):
        np.testing.assert_array_equal(a, b)
    for found in results:
        for a, b in zip(found, expected, strict=True):
            assert a.dtype == b.dtype
            tolerance = 1e-5 if a.dtype == np.float32 else 1e-9
            # where an intermediate result is infinite, such as the logarithm of a sum of no elements, rules with the tag
            # "finite" may give a number for NaN: x - x is 0
            known = ~np.isnan(b) if infinite else np.ones(b.shape, bool)
            np.testing.assert_allclose(a[known], b[known], rtol=tolerance, atol=1e-6)
