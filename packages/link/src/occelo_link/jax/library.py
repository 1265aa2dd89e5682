"""The modules of JAX that the linker ``jax`` uses, typed as `Any`.

JAX's types differ between versions, and type checking must not require JAX. Only the modules of the linker import this
module. The import fails if JAX is missing.
"""

from __future__ import annotations

import importlib
from typing import Any

from occelo_link.libraries import library

jax: Any = library("jax")
jnp: Any = importlib.import_module("jax.numpy")
lax: Any = importlib.import_module("jax.lax")
nn: Any = importlib.import_module("jax.nn")
special: Any = importlib.import_module("jax.scipy.special")
set_xla_metadata: Any = importlib.import_module("jax.experimental.xla_metadata").set_xla_metadata
