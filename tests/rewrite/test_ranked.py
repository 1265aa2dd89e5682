"""The documented table of the most valuable rewrites is true."""

from __future__ import annotations

import re
from pathlib import Path

import occelo_graph.linalg  # so that its rules are registered
import occelo_graph.looping  # likewise
import occelo_graph.ops
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
        accumulation_db,
        optdb,
    )
    registered = {name for db in databases for name in db.names()}
    for number, _, rules in ROWS:
        named = re.findall(r"`(\w+)`", rules)
        assert named or rules.startswith("not yet: "), number
        assert set(named) <= registered, number


def test_what_is_missing_waits_for_ops_that_are_missing() -> None:
    folder = Path(occelo_graph.ops.__file__ or "").parent
    families = {p.stem for p in folder.iterdir()}
    for number, _, rules in ROWS:
        if rules.startswith("not yet: "):
            family = rules.removeprefix("not yet: ")
            assert family not in families, number


def test_every_rule_that_is_registered_serves_a_rank_or_tidies() -> None:
    named = {name for _, _, rules in ROWS for name in re.findall(r"`(\w+)`", rules)}
    others = {
        # laws that the ranking does not list
        "alloc_of_alloc", "alloc_of_own_shape", "drop_gradient_barriers", "sharpened_types", "exp2_of_log2", "log2_of_exp2",
        "erfinv_of_erf", "expm1_of_log1p", "log1p_of_expm1", "exp_of_log_softmax", "invert_of_invert",
        "log_of_exp", "sqr_of_sqrt", "square_of_sign", "sub_zero", "quadratic_form", "cheapest_order", "solve_of_low_rank", "slogdet_of_low_rank",
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
