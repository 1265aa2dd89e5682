"""The modules of JAX, typed as `Any`, since JAX's types differ between versions and type checking must not require JAX.

Only the modules of the linker ``jax`` import this module; the import fails if JAX is missing.
"""

from __future__ import annotations

import importlib
from typing import Any

__all__ = ["jax", "jnp", "lax", "nn", "special"]

jax: Any = importlib.import_module("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = importlib.import_module("jax.lax")
nn: Any = importlib.import_module("jax.nn")
special: Any = importlib.import_module("jax.scipy.special")
