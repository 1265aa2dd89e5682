"""What the family of special functions consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "special",
    "occelo_special",
    rules="rules",
    lowerings="lowerings",
    traced="traced.functions",
    scalars="functions",
    numpy="functions",
    examples="examples.table",
    cases="examples.rules",
)
