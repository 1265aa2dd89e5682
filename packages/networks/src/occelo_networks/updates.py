"""What updates parameters: rules, schedules of learning rates, and clipping. Users reach it as ``occelo.updates``."""

from occelo_networks.clipping import *
from occelo_networks.rules import *
from occelo_networks.schedules import *
