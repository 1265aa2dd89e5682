"""The module `pytensor`, typed as `Any`: its own annotations leave out much of what it exports."""

from __future__ import annotations

import importlib
from typing import Any

theirs: Any = importlib.import_module("pytensor")
"""The module `pytensor`."""
