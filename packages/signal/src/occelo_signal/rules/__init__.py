"""Rules for Fourier transforms. `occelo_rewrite.pipeline` registers them when transforms are used."""

from occelo_signal.rules.cancelling import RULES as RULES
