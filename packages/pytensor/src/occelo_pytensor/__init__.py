"""Occelo for PyTensor: graphs of PyTensor, models of PyMC and samplers of nutpie run on Occelo.

`from_pytensor` and `to_pytensor` convert graphs. `register_conversion` and `register_equal` add ops of other packages. Importing the package registers the
mode "OCCELO" of PyTensor. `use` makes Occelo the default of PyMC. Users reach the package as `occelo.pytensor`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from occelo_graph.lazy_names import deferred
from occelo_pytensor import conversions as conversions
from occelo_pytensor.conversion import from_pytensor as from_pytensor
from occelo_pytensor.mode import register as _register_mode
from occelo_pytensor.registry import register_conversion as register_conversion

if TYPE_CHECKING:
    from occelo_pytensor.back import to_pytensor as to_pytensor
    from occelo_pytensor.diagnosis import doctor as doctor
    from occelo_pytensor.equals.registry import register_equal as register_equal
    from occelo_pytensor.models import LogDensity as LogDensity
    from occelo_pytensor.models import log_density as log_density
    from occelo_pytensor.models import use as use
    from occelo_pytensor.nutpie import nutpie_model as nutpie_model

# imported at their first use, and PyMC with those of models
__getattr__, __dir__ = deferred(
    __name__,
    {
        **dict.fromkeys(("LogDensity", "log_density", "use"), "occelo_pytensor.models"),
        "to_pytensor": "occelo_pytensor.back",
        "doctor": "occelo_pytensor.diagnosis",
        "register_equal": "occelo_pytensor.equals.registry",
        "nutpie_model": "occelo_pytensor.nutpie",
    },
)

_register_mode()
