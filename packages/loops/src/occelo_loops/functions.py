"""The functions for users that make loops, and the ops that they make."""

from occelo_loops.ops.building.associative import associative_scan as associative_scan
from occelo_loops.ops.building.classic import filter as filter
from occelo_loops.ops.building.classic import foldl as foldl
from occelo_loops.ops.building.classic import foldr as foldr
from occelo_loops.ops.building.classic import map as map
from occelo_loops.ops.building.classic import reduce as reduce
from occelo_loops.ops.building.classic import scan as scan
from occelo_loops.ops.building.classic import scan_checkpoints as scan_checkpoints
from occelo_loops.ops.building.classic import until as until
from occelo_loops.ops.building.loops import fori_loop as fori_loop
from occelo_loops.ops.building.loops import loop as loop
from occelo_loops.ops.building.loops import while_loop as while_loop
from occelo_loops.ops.building.recomputing import checkpoint as checkpoint
from occelo_loops.ops.building.switching import switch_case as switch_case
from occelo_loops.ops.iterate import Iterate as Iterate
from occelo_loops.ops.scan_op import Scan as Scan
