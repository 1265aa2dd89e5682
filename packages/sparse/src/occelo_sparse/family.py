"""What the family of sparse matrices consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "sparse",
    "occelo_sparse",
    requires=("arrays", "sorting"),
    rules="rules",
    facts="facts",
    lowerings="lowerings",
    traced="traced",
    examples="examples.table",
)
