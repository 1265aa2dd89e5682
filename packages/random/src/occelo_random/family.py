"""What the family of random numbers consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "random",
    "occelo_random",
    requires=("linalg", "special"),
    rules="rules",
    lowerings="lowerings",
    scalars="scalars",
    checks="ops.reuse",
    examples="examples.table",
)
