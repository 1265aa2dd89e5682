"""The version of this package, which is part of the name of the compile directory."""

from __future__ import annotations

__version__ = "0.1.0"
