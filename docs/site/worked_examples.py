"""The worked examples of public names, from ``docs/site/examples/<door>/<topic>.txt``.

A file is a list of sections. The title of one is a name of the door, or several with commas between them, underlined with
dashes; below it stands a doctest, which may use the modules of `NAMES`. The reference shows a section in the entry of each
name of its title. Those of `constructors` are written by code.

``python docs/site/worked_examples.py WORD`` runs the sections with this word in their door, topic or names.
"""

from __future__ import annotations

import doctest
import functools
import importlib
import re
import sys
from dataclasses import dataclass
from pathlib import Path

import constructors

FOLDER = Path(__file__).parent / "examples"
SECTION = re.compile(r"^(\S.*)\n-{3,}\n", re.M)
NAMES = {
    "np": "numpy",
    "oc": "occelo",
    "ot": "occelo.tensor",
    **{m: f"occelo.tensor.{m}" for m in "linalg random stats signal fft special".split()},
    **{
        m: f"occelo.{m}"
        for m in "nn optimize updates trees typed_list export xtensor sparse".split()
    },
    "sp": "scipy.sparse",
    "og": "occelo_graph",
    "rw": "occelo_rewrite",
    "lk": "occelo_link",
    "cp": "occelo_compile",
    "tt": "occelo_testing",
}
"""What an example may use without importing it."""
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


@dataclass(frozen=True)
class Section:
    """An example of some names of a door."""

    path: Path
    door: str
    names: tuple[str, ...]
    text: str
    line: int
    """The line of the title in its file, from 1."""

    @property
    def label(self) -> str:
        """The section's place, for messages."""
        return f"{self.door}/{self.path.stem}: {', '.join(self.names)}"

    @property
    def code(self) -> str:
        """What the example runs, without its results."""
        return "".join(each.source for each in doctest.DocTestParser().get_examples(self.text))

    def problems(self) -> str:
        """What fails when the example runs; empty if nothing does."""
        names = {name: importlib.import_module(module) for name, module in NAMES.items()}
        test = doctest.DocTestParser().get_doctest(
            self.text, {**names, "__name__": "example"}, self.label, str(self.path), self.line + 1
        )
        report: list[str] = []
        doctest.DocTestRunner(optionflags=FLAGS, verbose=False).run(test, out=report.append)
        return "".join(report)


@functools.cache
def sections() -> tuple[Section, ...]:
    """All sections of all files."""
    return tuple(
        each for path in sorted(FOLDER.glob("*/*.txt")) for each in read(path, path.read_text())
    )


def read(path: Path, text: str) -> list[Section]:
    """The sections of a file."""
    first, *parts = SECTION.split(text)
    if first.strip():
        raise ValueError(f"{path} begins with text that stands in no section")
    made: list[Section] = []
    line = first.count("\n") + 1
    for title, body in zip(parts[::2], parts[1::2], strict=True):
        names = tuple(title.replace(",", " ").split())
        made.append(Section(path, path.parent.name, names, body.strip("\n") + "\n", line))
        line += 2 + body.count("\n")
    return made


@functools.cache
def by_name() -> dict[str, list[str]]:
    """The examples of each name, which is written with its door."""
    listed = {
        f"{constructors.DOOR}.{name}": [text] for name, text in constructors.examples().items()
    }
    for each in sections():
        for name in each.names:
            listed.setdefault(f"{each.door}.{name}", []).append(each.text)
    return listed


def main() -> None:
    """Run the sections that the arguments name."""
    chosen = [s for s in sections() if all(word in s.label for word in sys.argv[1:])]
    failed = [problem for problem in (section.problems() for section in chosen) if problem]
    sys.exit("\n".join(failed) or not chosen)


if __name__ == "__main__":
    main()
