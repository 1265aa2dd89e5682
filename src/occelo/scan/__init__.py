"""Scans, at PyTensor's place. In every order of imports `occelo.scan` is the function; it has the names of this module."""

from typing import TYPE_CHECKING

from occelo.places import stands_at as _stands_at
from occelo.scan import basic as basic
from occelo.scan import checkpoints as checkpoints
from occelo.scan import op as op
from occelo.scan import utils as utils
from occelo.scan import views as views
from occelo_loops.ops.building.classic import filter as filter
from occelo_loops.ops.building.classic import foldl as foldl
from occelo_loops.ops.building.classic import foldr as foldr
from occelo_loops.ops.building.classic import map as map
from occelo_loops.ops.building.classic import reduce as reduce
from occelo_loops.ops.building.classic import scan as _scan
from occelo_loops.ops.building.classic import scan_checkpoints as scan_checkpoints
from occelo_loops.ops.building.classic import until as until

if TYPE_CHECKING:

    class _Scan:
        """What type checkers know of the function: how it is called, and its attributes."""

        __call__ = staticmethod(_scan)
        filter = staticmethod(filter)
        foldl = staticmethod(foldl)
        foldr = staticmethod(foldr)
        map = staticmethod(map)
        reduce = staticmethod(reduce)
        scan_checkpoints = staticmethod(scan_checkpoints)
        until = until

    scan: _Scan
else:
    scan = _scan
    _stands_at(__name__, scan)
