"""The ops of signal processing, and functions that are graphs of them."""

from occelo_signal.family import FAMILY

FAMILY.register()
