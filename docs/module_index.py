"""Writes docs/modules.md: every module of every package, with the first sentence of its docstring.

``python docs/module_index.py`` writes the page; a test compares it with the sources.
"""

from __future__ import annotations

import re
from pathlib import Path

from workspace import CLIENTS, MEMBERS, ROOT

PAGE = ROOT / "docs" / "modules.md"


def first_sentence(path: Path) -> str:
    """The first sentence of a module's docstring, on one line."""
    start = re.match(r'(?:#.*\n|\s)*r?"""(.*?)(?:\n\n|""")', path.read_text(), re.S)
    text = " ".join(start[1].split()) if start else ""
    return re.split(r"(?<=[.:]) (?=[A-Z`])|(?<=\.)$", text, maxsplit=1)[0]


def rows(source: Path) -> list[str]:
    """The lines of the table for the modules below a folder of sources."""
    found: list[str] = []
    for path in sorted(
        source.rglob("*.py"), key=lambda p: (p.parent, p.stem != "__init__", p.stem)
    ):
        parts = path.relative_to(source).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found.append(f"| `{name}` | {first_sentence(path)} |".replace("<", "&lt;"))
    return found


def page() -> str:
    """The text of the page."""
    lines = [
        "# Modules",
        "",
        "Made by `python docs/module_index.py` from the docstrings of the modules.",
        "",
    ]
    sources = [("occelo", ROOT / "src")]
    sources += [(f"occelo-{p}", ROOT / "packages" / p / "src") for p in (*MEMBERS, *CLIENTS)]
    for title, source in sources:
        lines += [f"## {title}", "", "| module | what it holds |", "|---|---|", *rows(source), ""]
    return "\n".join(lines).rstrip() + "\n"


if __name__ == "__main__":
    PAGE.write_text(page())
