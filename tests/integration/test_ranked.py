"""The documented table of the most valuable rewrites is true."""

from __future__ import annotations

import itertools
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import occelo_graph.inner_graph  # so that its rules are registered
import occelo_graph.ops
import occelo_linalg.functions  # noqa: F401  # likewise
import occelo_loops.ops  # noqa: F401  # likewise
import occelo_random.functions  # noqa: F401  # likewise
import occelo_signal.functions  # noqa: F401  # likewise
import occelo_sorting.functions  # noqa: F401  # likewise
import occelo_sparse.functions  # noqa: F401  # likewise
from occelo_arrays.functions import einsum
from occelo_graph import Blockwise, Op, TensorType, op
from occelo_graph.ir.traversal import toposort
from occelo_graph.ops.blas.products import Dot, MatMul
from occelo_graph.tensor import repeat, tile
from occelo_rewrite import (
    accumulation_db,
    blas_db,
    canonicalize_db,
    expand_db,
    inline_db,
    optdb,
    specialize_db,
    stabilize_db,
)
from occelo_sorting.functions import sort
from occelo_sorting.ops.orders import Sort
from occelo_sorting.ops.sets import unique

ROOT = Path(__file__).parents[2]
ROWS = re.findall(
    r"^\| (\d+) \| (.*) \| (.*) \|$", (ROOT / "docs" / "rewrites.md").read_text(), flags=re.M
)


def test_all_120_are_listed_in_order() -> None:
    assert [int(number) for number, _, _ in ROWS] == list(range(1, 121))


def test_rules_that_are_named_are_registered() -> None:
    databases = (
        inline_db,
        canonicalize_db,
        expand_db,
        stabilize_db,
        blas_db,
        specialize_db,
        optdb["join_scans"],
        accumulation_db,
        optdb,
    )
    registered = {name for db in databases for name in db.names()}
    for number, _, rules in ROWS:
        if rules.startswith("when built: "):
            assert rules.removeprefix("when built: ").strip("`") in WHEN_BUILT, number
            continue
        named = re.findall(r"`(\w+)`", rules)
        assert named or rules.startswith("not yet: "), number
        assert set(named) <= registered, number


@op
class _Doubled(Op):
    """An op without a batching rule."""

    gufunc_signature = "(m)->(m)"

    def infer(self, x: TensorType) -> TensorType:
        return x

    def evaluate(self, x: Any) -> Any:
        return 2.0 * x


def _without_a_batch() -> None:
    for shape in ((5,), (1, 5), (1, 1, None)):
        x = TensorType("float64", shape).make_variable()
        made = Blockwise(_Doubled())(x)
        ops = {node.op for node in toposort([made])}
        assert _Doubled() in ops
        assert not any(isinstance(op, Blockwise) for op in ops)
        value = np.arange(5.0).reshape([1] * (x.ndim - 1) + [5])
        np.testing.assert_array_equal(made.eval({x: value}), 2.0 * value)


def _in_the_best_order() -> None:
    sizes = {"i": 2, "j": 100, "k": 90, "l": 3}
    operands = [
        TensorType("float64", tuple(sizes[c] for c in term)).make_variable()
        for term in ("ij", "jk", "kl")
    ]
    for order in itertools.permutations(range(3)):
        terms = ",".join(("ij", "jk", "kl")[i] for i in order)
        made = einsum(f"{terms}->il", *(operands[i] for i in order))
        products = [node for node in toposort([made]) if isinstance(node.op, Dot | MatMul)]
        # (ij,jk),kl takes 18,540 multiplications, the other order 27,600
        assert sorted(set(products[0].outputs[0].type.shape)) == [2, 90], terms
        assert len(products) == 2


def _of_what_is_repeated() -> None:
    x = TensorType("float64", (None,)).make_variable()
    for repeated in (repeat(x, 3), tile(x, 2), tile(x, (3, 2)), sort(x)):
        (sorting,) = (n for n in toposort([unique(repeated)]) if isinstance(n.op, Sort))
        assert sorting.inputs[0] is x


WHEN_BUILT = {
    "Blockwise": _without_a_batch,
    "einsum": _in_the_best_order,
    "unique": _of_what_is_repeated,
}
"""For each function whose graphs have the better form from the start, the check of that."""


@pytest.mark.parametrize("name", WHEN_BUILT)
def test_graphs_have_the_form_when_built(name: str) -> None:
    assert f"when built: `{name}`" in {rules for _, _, rules in ROWS}
    WHEN_BUILT[name]()


def test_what_is_missing_waits_for_ops_that_are_missing() -> None:
    folder = Path(occelo_graph.ops.__file__ or "").parent
    families = {p.relative_to(folder).with_suffix("").as_posix() for p in folder.rglob("*")}
    for number, _, rules in ROWS:
        if rules.startswith("not yet: "):
            family = rules.removeprefix("not yet: ")
            assert family not in families, number


def test_every_rule_that_is_registered_serves_a_rank_or_tidies() -> None:
    named = {name for _, _, rules in ROWS for name in re.findall(r"`(\w+)`", rules)}
    others = {
        # laws that the ranking does not list
        "alloc_of_alloc", "stretch_lift", "stretch_to_own_lengths", "alloc_of_own_shape", "drop_gradient_barriers", "sharpened_types", "exp2_of_log2", "log2_of_exp2",
        "erfinv_of_erf", "expm1_of_log1p", "log1p_of_expm1", "exp_of_log_softmax", "invert_of_invert",
        "log_of_exp", "sqr_of_sqrt", "square_of_sign", "sub_zero", "quadratic_form", "cheapest_order", "solve_of_low_rank", "slogdet_of_low_rank", "det_of_low_rank",
        "inverse_of_low_rank", "sum_of_linear", "sort_of_sort", "argsort_of_sort", "order_of_one", "read_of_sorted_rows",
        "transform_of_inverse", "real_inverse_of_transform", "gammainc_one", "gammaincc_one", "gammainc_dx_one", "parts_of_parts",
        "uniform_constants", "element_of_elemwise", "write_of_element", "stay_in_place", "count_places", "drop_stated", "product_with_symmetric", "solution_with_symmetric",
    }  # fmt: skip
    rules = {
        n
        for db in (
            inline_db,
            canonicalize_db,
            expand_db,
            stabilize_db,
            blas_db,
            specialize_db,
            accumulation_db,
        )
        for n in db.names()
    }
    assert rules - named == others
