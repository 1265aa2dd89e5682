"""Fixtures of tests of whole functions."""

from occelo_testing.fixtures import mode

__all__ = ["mode"]
