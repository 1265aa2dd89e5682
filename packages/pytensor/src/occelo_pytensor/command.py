"""The command ``occelo pytensor doctor MODULE:MODEL``."""

from __future__ import annotations

import importlib
import os
import sys
from typing import Any

from occelo_pytensor.diagnosis import doctor


def run_doctor(name: str) -> str:
    """The report on a model that is named ``MODULE:NAME``: a model of PyMC, or a function without arguments that makes one.

    ValueError if the name has another form; ImportError or AttributeError if there is no such model.
    """
    module, _, attribute = name.partition(":")
    if not attribute:
        raise ValueError(f"A model in a module is named MODULE:NAME, not {name!r}")
    sys.path.insert(0, os.getcwd())
    target: Any = getattr(importlib.import_module(module), attribute)
    return str(doctor(target() if callable(target) and not hasattr(target, "logp") else target))
