"""Stable forms of expressions: equal expressions that neither overflow nor cancel, such as softplus(x) for log(1 + exp(x)).

The import of this package opens the door `occelo_graph.gradient.forms`: from then on derivatives are taken of stable
forms. `occelo_rewrite` has rules that put the forms into compiled graphs. The modules that read expressions are imported
with the first derivative.
"""

from __future__ import annotations

from occelo_graph.gradient.forms import set_forms
from occelo_graph.lazy_names import at_first_call

__version__ = "0.1.0"

set_forms(at_first_call("occelo_forms.stable_forms", "differentiable_form"))
