"""Methods as loops of the graph: each takes a function of a variable, and returns the solution, whether it was found, and the iterations."""
