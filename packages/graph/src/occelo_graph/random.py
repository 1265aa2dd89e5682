"""The namespace of random numbers, which `occelo.tensor.random` exports; `missing_names` imports it at its first use."""

from occelo_graph.ops.random.choosing import *
from occelo_graph.ops.random.counts import *
from occelo_graph.ops.random.draws import *
from occelo_graph.ops.random.gamma import *
from occelo_graph.ops.random.inversion import *
from occelo_graph.ops.random.keys import bits as bits
from occelo_graph.ops.random.keys import fold_in as fold_in
from occelo_graph.ops.random.keys import key as key
from occelo_graph.ops.random.keys import split as split
