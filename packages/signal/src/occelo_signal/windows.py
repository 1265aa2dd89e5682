"""The namespace of window functions, with the names of `scipy.signal.windows`.

Users reach it as ``occelo.tensor.signal.windows``.
"""

import typing as _typing

from occelo_graph.errors import explain_errors as _explain_errors
from occelo_graph.missing_names import missing_name_hints as _missing_name_hints
from occelo_signal.ops.windows import *

_explain_errors(globals(), "arguments")
if not _typing.TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _missing_name_hints("occelo.tensor.signal.windows")
