"""What the family of functions of arrays consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family(
    "arrays",
    "occelo_arrays",
    rules="rules",
    lowerings="lowerings",
    traced="traced",
    scalars="functions",
    numpy="numpy_functions",
    examples="examples.table",
)
