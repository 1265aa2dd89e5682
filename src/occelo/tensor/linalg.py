"""Linear algebra over batches of matrices: the functions of `numpy.linalg` and `scipy.linalg` for symbolic tensors.

Users import it as `occelo.tensor.linalg`. The names come from `occelo_linalg.functions`.
"""

from typing import TYPE_CHECKING

from occelo_linalg.functions import *
from occelo_linalg.functions import LinAlgError as LinAlgError
from occelo_linalg.missing_names import missing_linear_algebra as _missing_linear_algebra

__path__: list[str] = []  # PyTensor has modules below this one, which `occelo.places` makes

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _missing_linear_algebra("occelo.tensor.linalg", "occelo.tensor")
