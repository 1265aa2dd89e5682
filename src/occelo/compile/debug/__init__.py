"""Modes that look for errors, at PyTensor's place."""

from occelo.compile.debug import debugmode as debugmode
from occelo.compile.debug import monitormode as monitormode
from occelo.compile.debug import nanguardmode as nanguardmode
from occelo.compile.debug import profiling as profiling
