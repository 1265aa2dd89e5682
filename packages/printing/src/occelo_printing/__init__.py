"""Graphs as formulas (`pprint`), as Python source (`to_python`), as lines of text (`as_string`), in LaTeX (`to_latex`) and as
drawings (`draw`, `pydotprint`).

Users call these functions from `occelo`. The import of this package lets error messages show variables as formulas, and
notebooks as drawings. The modules are imported at the first use of their names.
"""

from typing import TYPE_CHECKING

from occelo_graph.errors import set_writers
from occelo_graph.lazy_names import at_first_call, deferred

__all__ = ["as_string", "draw", "pp", "pprint", "pydotprint", "to_dot", "to_latex", "to_python"]
__version__ = "0.1.0"

_LATER = {
    "as_string": "occelo_printing.as_text",
    "draw": "occelo_printing.drawing",
    "to_latex": "occelo_printing.latex",
    "pydotprint": "occelo_printing.dot",
    "to_dot": "occelo_printing.dot",
    "pp": "occelo_printing.formulas",
    "pprint": "occelo_printing.formulas",
    "to_python": "occelo_printing.python_source",
}

if TYPE_CHECKING:
    from occelo_printing.as_text import as_string
    from occelo_printing.dot import pydotprint, to_dot
    from occelo_printing.drawing import draw
    from occelo_printing.formulas import pp, pprint
    from occelo_printing.latex import to_latex
    from occelo_printing.python_source import to_python
else:  # so that type checkers report unknown names
    __getattr__, __dir__ = deferred(__name__, _LATER)

set_writers(
    html=at_first_call("occelo_printing.notebook", "html_of"),
    svg=at_first_call("occelo_printing.notebook", "svg_of"),
    latex=at_first_call("occelo_printing.notebook", "latex_of"),
    formula=at_first_call("occelo_printing.formulas", "pprint"),
)
