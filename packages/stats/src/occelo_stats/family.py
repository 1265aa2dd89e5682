"""What the family of probability distributions consists of: see `occelo_graph.families`."""

from occelo_graph.families import Family

FAMILY = Family("stats", "occelo_stats", requires=("linalg", "special", "loops", "random"), ops=())
