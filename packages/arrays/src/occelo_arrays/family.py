"""What the family of functions of arrays consists of: see `occelo_graph.families`. It has no ops of its own."""

from occelo_graph.families import Family

FAMILY = Family("arrays", "occelo_arrays", numpy="functions", examples="examples.table")
