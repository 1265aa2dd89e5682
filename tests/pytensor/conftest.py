"""The tests of `occelo-pytensor` need PyTensor and PyMC, which are not installed with the other packages' tests."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
collect_ignore_glob = [] if importlib.util.find_spec("pymc") else ["*"]
