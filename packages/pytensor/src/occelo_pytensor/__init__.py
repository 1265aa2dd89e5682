"""Occelo for PyTensor: graphs of PyTensor, models of PyMC and samplers of nutpie run on Occelo.

`from_pytensor` converts graphs. `register_conversion` adds ops of other packages. Users reach the package as
`occelo.pytensor`.
"""

from __future__ import annotations

from occelo_pytensor import conversions as conversions
from occelo_pytensor.conversion import from_pytensor as from_pytensor
from occelo_pytensor.mode import register as _register_mode
from occelo_pytensor.registry import register_conversion as register_conversion

__all__ = ["from_pytensor", "register_conversion"]

_register_mode()
