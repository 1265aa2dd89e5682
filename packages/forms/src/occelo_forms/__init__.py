"""Stable forms of expressions: equal expressions that neither overflow nor cancel, such as softplus(x) for log(1 + exp(x)).

The import of this package opens the door `occelo_graph.gradient.forms`: from then on derivatives are taken of stable
forms. `occelo_rewrite` has rules that put the forms into compiled graphs. The modules that read expressions are imported
with those of derivatives.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING

from occelo_graph.gradient.forms import set_forms

if TYPE_CHECKING:
    from occelo_graph.gradient.forms import Forms

__version__ = "0.1.0"


def _load() -> Forms:
    forms: Forms = importlib.import_module("occelo_forms.stable_forms").differentiable_form
    return forms


set_forms(_load)
