"""Facts about values, such as "symmetric" or "positive": stated by the user, or inferred from constants and ops.

Rules look up facts with ``assumptions_of(fgraph).holds(...)``. The stage ``drain_assumptions`` records the facts that
users state. Importing this package registers the functions that infer facts for all families of ops except linear
algebra. The functions for linear algebra are registered when linear algebra is first used.
"""

from __future__ import annotations

import importlib

from occelo_graph.errors import ConflictingAssumptionsError
from occelo_graph.late_families import follow
from occelo_rewrite.assumptions.feature import AssumptionFeature, assumptions_of
from occelo_rewrite.assumptions.inference import infers

__all__ = ["AssumptionFeature", "ConflictingAssumptionsError", "assumptions_of", "infers"]

for _family in ("elemwise", "reduce", "shape", "create", "index", "blas"):
    importlib.import_module(f"{__name__}.{_family}")
follow("linalg", lambda: importlib.import_module(f"{__name__}.linalg"))
