"""The tests of `occelo-pytensor` need PyTensor and PyMC, which are not installed with the other packages' tests."""

from __future__ import annotations

import importlib.util
import sys
import warnings
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = [] if importlib.util.find_spec("pymc") else ["*"]
if not collect_ignore_glob:
    with warnings.catch_warnings(action="ignore"):  # PyMC's own imports
        importlib.import_module("pymc")
