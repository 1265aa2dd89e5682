"""What the family of optimization consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "optimize",
    "occelo_optimize",
    requires=("arrays", "linalg", "loops"),
    examples="examples.table",
)
