"""The functions of networks, named as in ``jax.nn`` where that has them. Users reach them as ``occelo.nn``."""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_networks.activations import *
from occelo_networks.attention import *
from occelo_networks.losses import *
from occelo_networks.normalizing import *
from occelo_networks.selecting import *

_explain_errors(globals(), "arguments")
