"""Functions of neural networks (`functions`), rules that update parameters (`updates`), and `minimize`."""

import os

from occelo_graph.provenance import register_internal

__version__ = "0.1.0"

register_internal(os.path.dirname(__file__))
