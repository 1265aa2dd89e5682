"""What the family of signal processing consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "signal",
    "occelo_signal",
    requires=("arrays", "linalg", "special"),
    rules="rules",
    lowerings="lowerings",
    traced="traced",
    numpy="numpy_functions",
    examples="examples.table",
    cases="examples.rules",
)
