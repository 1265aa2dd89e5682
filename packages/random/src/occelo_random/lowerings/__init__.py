"""Lowerings of draws: by rejection, by quantiles, and those that are left to Python."""

from occelo_random.lowerings import draws as draws
from occelo_random.lowerings import quantiles as quantiles
from occelo_random.lowerings import rejection as rejection
