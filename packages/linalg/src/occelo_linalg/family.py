"""What the family of linear algebra consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "linalg",
    "occelo_linalg",
    requires=("arrays",),
    rules="rules",
    facts="facts",
    lowerings="lowerings",
    traced="traced",
    numpy="functions",
    examples="examples.table",
    cases="examples.rules",
)
