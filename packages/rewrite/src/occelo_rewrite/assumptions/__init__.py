"""Facts about values, such as "symmetric" or "positive": stated by the user, or inferred from constants and ops.

Rules look up facts with ``assumptions_of(fgraph).holds(...)``. The stage ``drain_assumptions`` records the facts that
users state. The modules that are named for kinds of ops infer facts. They are imported when a fact about the result
of a node is first looked up, and those of families (`occelo_graph.families`) if the family is used.
"""

from __future__ import annotations

from occelo_graph.errors import ConflictingAssumptionsError as ConflictingAssumptionsError
from occelo_graph.families import follow
from occelo_rewrite.assumptions.feature import AssumptionFeature as AssumptionFeature
from occelo_rewrite.assumptions.feature import assumptions_of as assumptions_of
from occelo_rewrite.assumptions.inference import infers as infers

follow(lambda family: family.load("facts"))
