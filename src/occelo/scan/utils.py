"""What ends a scan early, and the arguments of scans by name, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_graph.fgraph.features import Validator as Validator
from occelo_loops.ops.building.classic import until as until
from occelo_loops.ops.scan_args import ScanArgs as ScanArgs

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
