"""These tests compare with xarray, and are left out where it is not installed."""

import importlib.util

import occelo_compile  # noqa: F401  # messages show formulas from now on

collect_ignore_glob = [] if importlib.util.find_spec("xarray") else ["test_*.py"]
