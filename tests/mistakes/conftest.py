"""Fixtures of tests of whole functions."""

from occelo_testing.fixtures import graphs_of_pytorch_run_as_they_are, mode

__all__ = ["graphs_of_pytorch_run_as_they_are", "mode"]
