"""What the family of sorting consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "sorting",
    "occelo_sorting",
    requires=("arrays",),
    rules="rules",
    lowerings="lowerings",
    traced="traced",
    numpy="functions",
    examples="examples.table",
    cases="examples.rules",
)
