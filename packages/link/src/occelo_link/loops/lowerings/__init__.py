"""Lowerings of the ops of the graph package, in a module for each kind of op."""
