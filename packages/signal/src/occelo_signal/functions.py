"""The functions of the family, flat. This part of the family stands for NumPy's functions (`occelo_graph.ops.arguments`)."""

from occelo_signal.fft import *
