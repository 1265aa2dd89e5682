"""Lowerings of special functions: loop programs compute them, or call SciPy's compiled functions.

`occelo_link.loops` imports this package when special functions are used, to register the lowerings.
"""

from occelo_special.lowerings import bessel_functions as bessel_functions
from occelo_special.lowerings import by_scipy as by_scipy
from occelo_special.lowerings import gamma_function as gamma_function
from occelo_special.lowerings import incomplete_gamma as incomplete_gamma
from occelo_special.lowerings import legendre as legendre
from occelo_special.lowerings import products as products
