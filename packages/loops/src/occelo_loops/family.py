"""What the family of loops consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "loops",
    "occelo_loops",
    requires=("linalg",),
    rules="rules",
    traced="traced",
    examples="examples.loops",
    cases="examples.rules",
)
