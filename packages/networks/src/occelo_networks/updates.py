"""What updates parameters: rules, schedules of learning rates, and clipping. Users reach it as ``occelo.updates``."""

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_networks.clipping import *
from occelo_networks.rules import *
from occelo_networks.schedules import *

_explain_errors(globals(), "arguments")
