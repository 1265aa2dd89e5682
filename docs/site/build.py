"""Builds the site: ``python docs/site/build.py FOLDER`` writes the pages that a browser opens to ``FOLDER/html``.

Pages are Markdown as others can read it, without directives. `assemble` copies them to ``FOLDER/source``, where each block
of Python becomes a cell that is run when Sphinx builds the page; a cell that fails stops the build. Nothing of it needs the
network.

The words after ``python`` in the first line of a block say more: ``raises`` is a cell that must raise an error, which the
page shows; ``quoted`` is code that is not run here.
"""

from __future__ import annotations

import argparse
import functools
import html
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from urllib.parse import unquote

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parent))
import stored

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "docs"
AT_ROOT = ("ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md", "benchmarks/README.md")
"""Pages from elsewhere in the repository, which lie in the folder `project` of the site."""
OF_PROJECT = ("checks", "modules")
"""Pages of `docs` that are listed with them."""

BLOCK = re.compile(r"^```python( raises| quoted)?\n(.*?)^```$", re.M | re.S)
LINK = re.compile(r"(?<=\]\()(?!https?://|#)([^()#\s]+)(#[^)\s]*)?(?=\))")
NAMED = re.compile(r"\[[\w/-]+\.md\]\(([^()#\s]+\.md)(?=[#)])")
"""A link whose text is the name of a file."""
MESSAGE = re.compile(r"^(## .*\n\n)    (.*)$", re.M)
"""A message below the heading of its entry."""
TAGS = re.compile(r"<!-- tags: (.*?) -->")
"""What the page of an example is about, by which the gallery can be filtered."""
NOTEBOOK = "---\nfile_format: mystnb\nkernelspec:\n  name: python3\n---\n\n"


def pages() -> dict[Path, Path]:
    """The pages of the site, by their files in the repository: where each lies below the source folder."""
    placed = {
        path: path.relative_to(DOCS)
        for path in sorted(DOCS.rglob("*.md"))
        if "site" not in path.relative_to(DOCS).parts
    }
    for name in AT_ROOT:
        stem = "benchmarks" if name.startswith("benchmarks") else Path(name).stem.lower()
        placed[ROOT / name] = Path("project") / f"{stem}.md"
    for path in sorted((ROOT / "packages").glob("*/README.md")):
        placed[path] = Path("packages") / f"{path.parent.name}.md"
    return placed


def scripts() -> dict[Path, Path]:
    """The example scripts, and where their pages lie."""
    folders = [ROOT / "examples", *sorted((ROOT / "packages").glob("*/examples"))]
    return {
        path: Path("scripts") / f"{path.stem.replace('_', '-')}.md"
        for folder in folders
        for path in sorted(folder.glob("*.py"))
    }


def script_page(path: Path) -> str:
    """The page that shows a script."""
    return f"---\norphan: true\n---\n\n# {path.relative_to(ROOT)}\n\n```python\n{path.read_text()}```\n"


def is_run(path: Path, text: str) -> bool:
    """Whether the blocks of a page are run. Pages of examples quote from scripts, which are run as a whole."""
    return path.parent.name != "examples" and not stored.OTHER_PYTHON.search(text)


def hidden(code: str) -> str:
    """A cell that the page does not show."""
    return f"```{{code-cell}} ipython3\n:tags: [remove-cell]\n{code}\n```"


def cells(path: Path, text: str) -> str:
    """The text of a page with cells instead of blocks of Python. Those that are run elsewhere have stored outputs."""
    if path in stored.pages():
        return stored.with_outputs(path, text)
    if not is_run(path, text):
        return text

    def cell(block: re.Match[str]) -> str:
        if block[1] == " quoted":
            return f"```python\n{block[2]}```"
        if not block[1]:
            return f"```{{code-cell}} ipython3\n{block[2]}```"
        # the message says all, without the lines of the library
        raising = f"```{{code-cell}} ipython3\n:tags: [raises-exception]\n{block[2]}```"
        if of_errors:
            return raising
        return "\n\n".join([hidden("%xmode Minimal"), raising, hidden("%xmode Context")])

    of_errors = path.parent.name == "errors"  # pages with hundreds of errors
    if "errors" in path.parts:
        text = MESSAGE.sub(r"\1```text\n\2\n```", text)
    changed = BLOCK.sub(cell, text)
    if of_errors:
        changed = changed.replace(
            "```{code-cell}", f"{hidden('%xmode Minimal')}\n\n```{{code-cell}}", 1
        )
    return NOTEBOOK + changed if "```{code-cell}" in changed else changed


@functools.cache
def anchors(path: Path) -> frozenset[str]:
    """The addresses of the headings of a page."""
    titles = re.findall(r"^#+ (.*)$", path.read_text(), re.M)
    return frozenset(re.sub(r"[^\w\- ]", "", t.lower()).strip().replace(" ", "-") for t in titles)


def titled(path: Path, text: str) -> str:
    """The text of a page with titles instead of names of files as texts of links."""

    def with_title(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        title = re.search(r"^# (.*)$", target.read_text(), re.M) if target.is_file() else None
        return f"[{title[1]}]({link[1]}" if title else link[0]

    return NAMED.sub(with_title, text)


def links(path: Path, text: str, placed: dict[Path, Path]) -> str:
    """The text of a page with links to where the other pages of the site lie. Links to other files become their names."""
    here = placed[path].parent

    def moved(link: re.Match[str]) -> str:
        target = (path.parent / link[1]).resolve()
        if (target / "README.md").is_file():
            target = target / "README.md"
        made = [DOCS / each for each in ("gallery.md", "reference/index.rst", "project/index.md")]
        if target.suffix == ".png" or target in made:
            return link[0]
        if target == DOCS / "decisions":
            place = Path("project/index.md")
        elif target in scripts():
            place = scripts()[target]
        elif target in placed:
            place = placed[target]
            if link[2] and link[2][1:] not in anchors(target):
                raise ValueError(
                    f"{path.relative_to(ROOT)} links to {link[0]}, and {target.name} has no such heading"
                )
        else:
            raise ValueError(
                f"{path.relative_to(ROOT)} links to {link[1]}, which is no page of the site"
            )
        return os.path.relpath(place, here) + (link[2] or "")

    return LINK.sub(moved, titled(path, text))


def tags_of(path: Path) -> list[str]:
    """The tags of the page of an example. ValueError if it has none."""
    line = TAGS.search(path.read_text())
    if line is None:
        raise ValueError(f"{path.name} has no line such as <!-- tags: networks, statistics -->")
    return [tag.strip() for tag in line[1].split(",")]


def gallery(placed: dict[Path, Path]) -> str:
    """The page with a card for each page of an example: its title, its picture, its first sentence."""
    cards: list[str] = []
    topics: set[str] = set()
    for path, place in placed.items():
        if path.parent.name == "examples":
            text = path.read_text()
            title, picture = (
                re.findall(r"^# (.*)$", text, re.M)[0],
                re.findall(r"!\[[^]]*\]\((.*?)\)", text)[0],
            )
            first = " ".join(text.split("\n\n")[1].split())
            sentence = re.split(r"(?<=\.) (?=[A-Z])|(?<=:)$", first, maxsplit=1)[0]
            # "`examples/heat.py` finds ...": the card is the script's
            sentence = re.sub(r"^`[^`]*\.py` (.)", lambda m: m[1].upper(), sentence)
            topics.update(tags_of(path))
            tags = " ".join(f"tag-{tag.replace(' ', '-')}" for tag in tags_of(path))
            cards.append(
                f":::{{grid-item-card}} {title}\n:img-top: {place.parent}/{picture}\n:img-alt: {title}\n"
                f":class-item: {tags}\n:link: {place.with_suffix('')}\n:link-type: doc\n\n{sentence}\n:::\n"
            )
    listed = "\n".join(
        str(p.with_suffix("")) for p in placed.values() if p.parent.name == "examples"
    )
    return (
        "# Gallery\n\nEach example is a script of the repository that runs as it is. It compares its results with a reference, "
        "and fails if they differ.\n\n"
        f'```{{raw}} html\n<div id="gallery-tags" data-tags="{", ".join(sorted(topics, key=str.lower))}" role="group" '
        'aria-label="Show examples about"></div>\n```\n\n'
        f"::::{{grid}} 1 2 2 3\n:gutter: 3\n\n{''.join(cards)}::::\n\n"
        f"```{{toctree}}\n:hidden:\n\n{listed}\n```\n"
    )


def project(placed: dict[Path, Path]) -> str:
    """The page that lists what contributors read: the structure, the packages, the decisions."""
    groups = {
        "How Occelo is built": ["project", "."],
        "The packages": ["packages"],
        "Decisions": ["decisions"],
    }
    lines = ["# The project\n"]
    for title, folders in groups.items():
        listed = [
            f"/{place.with_suffix('')}"
            for place in placed.values()
            if str(place.parent) in folders
            and (str(place.parent) != "." or place.stem in OF_PROJECT)
        ]
        lines.append(
            f"```{{toctree}}\n:caption: {title}\n:maxdepth: 1\n\n" + "\n".join(listed) + "\n```\n"
        )
    return "\n".join(lines)


def errors(placed: dict[Path, Path]) -> dict[Path, str]:
    """The lists of the pages of `docs/errors`: what stands at the end of docs/errors.md, and a page for those of `raised`.

    The navigation opens them on request, since there are more of them than of all other pages.
    """

    def tree(listed: list[Path]) -> str:
        names = "\n".join(f"/{place.with_suffix('')}" for place in listed)
        return f"```{{toctree}}\n:maxdepth: 1\n\n{names}\n```\n"

    first, raised = Path("errors"), Path("errors/raised")
    more = raised / "index.md"
    by_hand = [place for place in placed.values() if place.parent == first]
    return {
        Path("errors.md"): f"\n## The pages of messages\n\n{tree([*by_hand, more])}",
        more: "# More messages\n\nThe other messages, by the packages whose sources they are written from. Search finds them, too, and so does "
        f'`occelo errors "THE MESSAGE"`.\n\n{tree([p for p in placed.values() if p.parent == raised])}',
    }


def assemble(source: Path) -> None:
    """Write the sources of all pages to a folder. Files that stay the same keep their times, for the next build."""
    import figures  # these need Matplotlib and Sphinx, and tests of the pages do not
    import reference

    placed = pages()
    written = {place: cells(p, links(p, p.read_text(), placed)) for p, place in placed.items()}
    for path, place in scripts().items():
        written[place] = script_page(path)
        example = Path("examples") / place.name
        if example in written:
            written[example] += f"\n[The whole script](../scripts/{place.name})\n"
    written[Path("gallery.md")] = gallery(placed)
    written[Path("project/index.md")] = project(placed)
    for place, text in errors(placed).items():
        written[place] = written.get(place, "") + text
    written |= reference.pages()
    for place, text in written.items():
        path = source / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or path.read_text() != text:
            path.write_text(text)
    for old in source.rglob("*.*"):
        if old.suffix in (".md", ".rst") and old.relative_to(source) not in written:
            old.unlink()
    figures.draw_all(source)
    for picture in DOCS.rglob("*.png"):
        copy = source / picture.relative_to(DOCS)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy2(picture, copy)


def broken_links(folder: Path) -> list[str]:
    """The links of built pages that lead to no file of the folder, or to an anchor that its page lacks."""
    texts = {path: path.read_text() for path in folder.rglob("*.html")}
    anchors = {path: set(re.findall(r'\bid="([^"]+)"', text)) for path, text in texts.items()}
    broken: list[str] = []
    for path, text in texts.items():
        for link in set(re.findall(r'\b(?:href|src)="([^"]+)"', text)):
            place, _, anchor = html.unescape(link).partition("#")
            if re.match(r"[a-z]+:", place):
                continue
            target = (path.parent / unquote(place.partition("?")[0])).resolve() if place else path
            known = anchors.get(target)
            if not target.exists() or (
                anchor and known is not None and unquote(anchor) not in known
            ):
                broken.append(f"{path.relative_to(folder)} links to {link}")
    return sorted(broken)


def main() -> None:
    """Assemble the pages, and run Sphinx on them; any warning is an error, and any link that leads nowhere."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    folder = parser.parse_args().folder.resolve()
    assemble(folder / "source")
    # cells run elsewhere: nothing but installed packages can be imported, and nothing is left in the tree; no page shows
    # that this machine was busy
    os.environ["OCCELO_FLAGS"] = f"base_compiledir={folder / 'compiled'},compile__progress=never"
    # one page after the other: two kernels that start at once may draw the same port
    command = [sys.executable, "-m", "sphinx", "-q", "-W", "--keep-going", "-b", "html", "-j", "1"]
    places = ["-c", str(DOCS / "site"), "-d", str(folder / "doctrees"), str(folder / "source")]
    subprocess.run([*command, *places, str(folder / "html")], check=True)
    if broken := broken_links(folder / "html"):
        sys.exit("\n".join(broken))


if __name__ == "__main__":
    main()
