"""Functions of networks: activations, losses, normalization, attention, dropout, embedding; named as in ``jax.nn``."""

from occelo_networks import initializers as initializers
from occelo_networks.functions import *
