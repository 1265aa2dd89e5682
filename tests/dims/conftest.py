"""These tests compare with xarray, and are left out where it is not installed."""

import importlib.util

collect_ignore_glob = [] if importlib.util.find_spec("xarray") else ["test_*.py"]
