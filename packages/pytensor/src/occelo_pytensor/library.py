"""The modules `pytensor` and `pytensor.tensor`, typed as `Any`: their own annotations leave out much of what they export."""

from __future__ import annotations

import importlib
from typing import Any

theirs: Any = importlib.import_module("pytensor")
"""The module `pytensor`."""
tensor: Any = importlib.import_module("pytensor.tensor")
"""The module `pytensor.tensor`."""
