"""Log densities of models and their gradients, at points of many scales, beside PyTensor's; exact values decide.

CI takes seven models; all run with ``HYPOTHESIS_PROFILE=thorough``.
"""

from __future__ import annotations

import os

import models
import pytest
from compare_densities import compare

FEW = (
    "eight_schools_centered", "logistic_regression", "zero_inflated_poisson", "gp_marginal",
    "moving_average", "censored_normal", "minibatch",
)  # fmt: skip
ALL = sorted(models.MODELS)
CHOSEN = ALL if os.environ.get("HYPOTHESIS_PROFILE") == "thorough" else FEW


@pytest.mark.parametrize("name", CHOSEN)
def test_no_point_is_worse_than_pytensors(name: str) -> None:
    counts = compare(models.MODELS[name]())
    assert counts.only_theirs == 0, counts
    assert counts.same + counts.only_ours + counts.rounded > 10, counts
