"""Update rules for gradient descent, such as `adam`, schedules of learning rates, and clipping of gradients."""

from occelo_networks.updates import *
