"""How Sphinx builds the site from the pages that `assemble` laid out; see docs/site/build.py."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

from docutils import nodes
from sphinx import addnodes
from sphinx.util import logging

logger = logging.getLogger(__name__)

ROOT = Path(__file__).parents[2]

project = "Occelo"
version = release = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
html_title = f"Occelo {release}"
copyright = "the authors of Occelo, BSD-3-Clause"

extensions = ["myst_nb", "sphinx_design", "sphinx_copybutton"]
html_theme = "furo"
templates_path = [str(ROOT / "docs" / "site" / "templates")]
html_static_path = [str(ROOT / "docs" / "site" / "static")]
html_css_files = ["site.css"]
html_js_files = ["gallery.js"]
# the sources are pages of the repository
html_copy_source = False
html_show_sourcelink = False
# a name in single backquotes is code; those that the reference has become links (`reference`)
default_role = "code"

myst_heading_anchors = 4
myst_enable_extensions = ["colon_fence", "deflist", "attrs_inline"]
# a quotation may begin with a heading of any level, and a message is no traceback
suppress_warnings = ["myst.header", "misc.highlighting_failure"]

nb_execution_mode = "cache"
nb_execution_raise_on_error = True
nb_execution_show_tb = True
nb_execution_timeout = 300
nb_merge_streams = True
# pictures and HTML before LaTeX, which would need a script from elsewhere
nb_mime_priority_overrides = [
    ("html", mime, i)
    for i, mime in enumerate(("image/svg+xml", "image/png", "text/html", "text/plain"))
]
copybutton_exclude = ".linenos, .gp, .go"


def unlink_type_variables(app: Any, doctree: nodes.document) -> None:
    """Leave the names of type variables in signatures as they are: ``T`` is not the transpose of a tensor."""
    for reference in list(doctree.findall(addnodes.pending_xref)):
        if re.fullmatch(r"_\w+|[A-Z]", reference.get("reftarget", "")):
            reference.replace_self(reference.children)


def check_raising(app: Any, doctree: nodes.document) -> None:
    """Warn, which fails the build, of a cell that should raise an error and did not."""
    for cell in doctree.findall(nodes.container):
        if "tag_raises-exception" in cell.get("classes", []) and not any(
            "traceback" in part.get("classes", []) for part in cell.findall(nodes.Element)
        ):
            logger.warning("this cell raised no error", location=cell)


def make_accessible(app: Any, page: str, template: str, context: dict[str, Any], _: Any) -> None:
    """Let keys scroll what is wider than the page, and give the headings above lists of pages the level that they need.

    The corner of a table, above names of rows and beside names of columns, is no heading.
    """
    body = context.get("body", "").replace("<pre>", '<pre tabindex="0">')
    body = body.replace('<th class="head"><p></p></th>', '<td class="head"></td>')
    context["body"] = body.replace('<table class="docutils', '<table tabindex="0" class="docutils')
    for part in ("body", "furo_navigation_tree"):
        text = context.get(part, "")
        context[part] = text.replace('role="heading"', 'role="heading" aria-level="2"')


def setup(app: Any) -> None:
    """Add what is above to Sphinx."""
    app.connect("doctree-read", unlink_type_variables)
    app.connect("doctree-read", check_raising)
    # after the theme has written its part
    app.connect("html-page-context", make_accessible, priority=900)
