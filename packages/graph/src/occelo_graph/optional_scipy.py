"""`scipy_module`: imports a module of SciPy, which is an optional dependency, when a value is computed with it.

The NumPy code of special functions (`ops.elemwise`), linear algebra (`occelo_linalg.ops`) and random numbers (`occelo_random.ops`)
calls this function. So do tables of examples in `testing`. `special_function` gives one of SciPy's special functions.
"""

from __future__ import annotations

import functools
import importlib
import os
import sys
from importlib.machinery import PathFinder
from typing import Any

import numpy as np


def scipy_library(what: str) -> Any:
    """The package ``scipy``, without its modules.

    ModuleNotFoundError if SciPy is missing. The message has the command that installs SciPy, and ``what``, the name of
    the function that needs SciPy.
    """
    try:
        return importlib.import_module("scipy")
    except ModuleNotFoundError:
        raise ModuleNotFoundError(
            f"{what} is computed by SciPy, which is not installed: pip install 'occelo-graph[special]'",
            name="scipy",
        ) from None


def scipy_module(name: str, what: str) -> Any:
    """The module ``scipy.<name>``. ModuleNotFoundError as of `scipy_library`."""
    scipy_library(what)
    return importlib.import_module(f"scipy.{name}")


def special_function(name: str) -> Any:
    """The function ``scipy.special.<name>``. ModuleNotFoundError, as of `scipy_library`.

    To import their package takes 0.1 to 0.3 s, which folding one constant of a model would cost. Most of the functions
    lie in a compiled module that needs nothing of the others, so it is loaded alone unless the package is there.
    """
    library = scipy_library(name)
    alone = None if "scipy.special" in sys.modules else compiled_functions(library.__file__)
    function = getattr(alone, name, None)
    return (
        function if isinstance(function, np.ufunc) else getattr(scipy_module("special", name), name)
    )


@functools.cache
def compiled_functions(library: str) -> Any:
    """The compiled module of special functions without their package. None if this version of SciPy has no such module."""
    from importlib.util import module_from_spec  # which importing Occelo does not need

    folder = os.path.join(os.path.dirname(library), "special")
    spec = PathFinder.find_spec("scipy.special._special_ufuncs", [folder])
    if spec is None or spec.loader is None:
        return None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    sys.modules.pop(
        spec.name, None
    )  # or the package, imported later, would not have it as an attribute
    return module
