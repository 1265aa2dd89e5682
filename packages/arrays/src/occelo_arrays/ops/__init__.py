"""Functions that are graphs of ops of the graph package. There are no ops here, so there are no rules and no lowerings."""
