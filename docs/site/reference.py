"""Writes the pages of the reference from the public names, with their signatures and docstrings."""

from __future__ import annotations

import functools
import importlib
import importlib.util
import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import inventory
import messages
import mistakes
import namesakes
from inventory import DOORS, Entry
from sections import SPLIT, sections
from sphinx.ext.napoleon import Config, NumpyDocstring

FOLDER = Path("reference")
MISTAKES = 3
"""How many mistakes with a function are shown."""
SECTIONS = re.compile(r"^(Parameters|Returns|Raises|Examples?|Notes|See Also)\n-{3,}$", re.M)
QUOTED = re.compile(r"(?<![`:\w])`([A-Za-z_][\w.]*?)(?:\.py)?`(?!`)(\w?)")
NAPOLEON = Config(napoleon_use_rtype=False, napoleon_use_param=True)


def pages() -> dict[Path, str]:
    """The text of each page of the reference, by its place among the sources of the site."""
    made = {FOLDER / f"{door}.rst": page(door) for door in DOORS}
    made[FOLDER / f"{SPLIT}.rst"] = contents()
    for title, listed in sections(SPLIT).items():
        head = f"{heading(title, '=')}.. py:currentmodule:: {SPLIT}\n\n"
        made[FOLDER / place_of(title)] = head + "".join(blocks(listed))
    made[FOLDER / "index.rst"] = index()
    return made


def place_of(title: str) -> Path:
    """Where the page of a section of `SPLIT` lies."""
    return Path(SPLIT) / ("-".join(re.findall(r"\w+", title.lower())) + ".rst")


def index() -> str:
    """The first page of the reference, with a line for each door."""
    rows = "".join(
        f"   * - :doc:`{door}`\n     - {summary(importlib.import_module(inventory.DEFINED_BY.get(door, door)).__doc__ or '')}\n"
        for door in DOORS
    )
    contents = "".join(f"   {door}\n" for door in DOORS)
    return (
        f"{heading('Reference', '=')}Every public name, with its signature, docstring, examples and errors. :ref:`genindex` lists "
        "them in one alphabet. In examples and errors, ``oc`` is `occelo` and ``ot`` is `occelo.tensor`. In errors, ``x`` and ``y`` are "
        "vectors, ``m`` a matrix, ``t`` a tensor with three dimensions, ``s`` a scalar, ``i`` an integer, ``n`` a vector of integers, "
        "``b`` one of bools and ``z`` one of complex numbers, and a message is that of the call above it.\n\n.. list-table::\n   :header-rows: 0\n\n"
        f"{rows}\n.. toctree::\n   :hidden:\n\n{contents}"
    )


def page(door: str) -> str:
    """The page of one module."""
    module = importlib.import_module(inventory.DEFINED_BY.get(door, door))
    lines = [top(door, module)]
    for title, listed in sections(door).items():
        lines += [heading(title, "-"), *blocks(listed)]
    return "".join(lines)


def top(door: str, module: Any) -> str:
    """The title of the page of a module, and its docstring."""
    return f"{heading(door, '=')}.. py:module:: {door}\n\n{text_of(module.__doc__ or '')}\n"


def contents() -> str:
    """The page of `SPLIT`, with a line for each name of its pages, at the address that the name would have on one page."""
    lines = [
        top(SPLIT, importlib.import_module(SPLIT)),
        ".. role:: place(raw)\n   :format: html\n\n",
    ]
    for title, listed in sections(SPLIT).items():
        rows = [
            row(f":place:`{places(e)}` :py:obj:`{e.name} <{e.full}>`", told(e))
            for e in listed
            if e.target is None and e.kind not in ("module", "type")
        ]
        lines.append(
            f"{heading(title, '-')}:doc:`With examples and errors <{place_of(title).with_suffix('')}>`\n\n"
        )
        if rows:
            lines.append(table(rows))
    inside = "".join(f"   {place_of(title).with_suffix('')}\n" for title in sections(SPLIT))
    return "".join(lines) + f".. toctree::\n   :hidden:\n\n{inside}"


def told(entry: Entry) -> str:
    """What a line says of a name."""
    return (
        "that of NumPy"
        if getattr(entry.value, "__module__", "") == "numpy"
        else summary(entry.docstring)
    )


def places(entry: Entry) -> str:
    """The anchors of a name and of its members."""
    names = [entry.full]
    if entry.kind == "class":
        names += [f"{entry.full}.{name}" for name, _ in methods(entry.value)]
    return "".join(f'<span id="{name}"></span>' for name in names)


def heading(title: str, line: str) -> str:
    """A title with the line below it."""
    return f"\n{title}\n{line * len(title)}\n\n"


def blocks(group: Iterable[Entry]) -> Iterator[str]:
    """The text for the names of one section; those without text of their own are rows of a table."""
    rows: list[str] = []
    for each in group:
        if each.target is not None:
            rows.append(row(f"``{each.name}``", f":py:obj:`{each.target}`"))
        elif each.kind == "type":
            text = f"``{each.value}``"
            if inspect.isroutine(each.value):  # its calls are code
                text = re.sub(r"\w+\('.*?'\)", r"``\g<0>``", each.docstring)
            lines = [text, "", *"".join(each.examples).splitlines()]
            rows.append(row(f"``{each.name}``", "\n       ".join(lines)))
        elif each.kind == "module":
            rows.append(row(f"``{each.name}``", summary(each.docstring)))
        else:
            yield block(each)
    if rows:
        yield table(rows)


def table(rows: Iterable[str]) -> str:
    """A table without a heading."""
    return ".. list-table::\n   :header-rows: 0\n\n" + "".join(rows) + "\n"


def row(name: str, text: str) -> str:
    """A row of a table with a name."""
    return f"   * - {name}\n     - {text}\n"


def block(entry: Entry) -> str:
    """The directive of one name."""
    directive = {
        "function": "function",
        "class": "class",
        "op": "class",
        "exception": "exception",
        "constant": "data",
    }[entry.kind]
    arguments = "" if entry.signature is None else shown(entry.signature, entry.kind == "function")
    body = text_of(entry.docstring)
    parts = [f".. py:{directive}:: {entry.name}{arguments}\n\n", indented(body)]
    if told := inventory.told_by_bases(entry):
        parts.append(indented(of_bases(told)))
    namesake = namesakes.namesake(entry)
    if namesake is not None:
        parts.append(indented("The namesake: `{} <{}>`__.\n".format(*namesake)))
    if entry.examples:
        parts.append(indented(".. rubric:: Examples\n\n" + "\n".join(map(text_of, entry.examples))))
    parts.append(indented(errors(entry)))
    if entry.kind == "class" or (entry.kind == "constant" and methods(type(entry.value))):
        kind = entry.value if isinstance(entry.value, type) else type(entry.value)
        if isinstance(entry.value, type):
            parts += [indented(member(*each)) for each in methods(kind)]
    return "".join(parts) + "\n"


def of_bases(told: dict[str, type]) -> str:
    """A sentence about the parameters of an op that base classes explain, with what these say."""
    by_base: dict[type, list[str]] = {}
    for name, base in told.items():
        by_base.setdefault(base, []).append(f"``{name}``")
    return "\n\n".join(
        f"{', '.join(names)}: as the base class {base.__name__.lstrip('_')} says. {_sentences(base, names)}".rstrip()
        + "\n"
        for base, names in by_base.items()
    )


def _sentences(base: type, names: Iterable[str]) -> str:
    """The sentences and list items of a docstring that name some parameters; none of a class with an entry."""
    if any(each.value is base for each in inventory.documented()):
        return ""
    parts = re.split(r"(?<=\.)\s+(?=[A-Z`])|\n\n", inspect.cleandoc(base.__doc__ or ""))
    return _marked(" ".join(" ".join(p.split()) for p in parts if any(n in p for n in names)))


def raised_by_op(entry: Entry) -> str:
    """What an op raises for inputs that do not fit, from the sources, with ``...`` for what differs; the first ones."""
    listed = [*messages.by_op().get(entry.full, ())]
    if not listed:
        return ""
    shown = "\n".join(listed[: 2 * MISTAKES])
    return f".. rubric:: Errors\n\n.. code-block:: text\n\n{indented(shown)}"


def errors(entry: Entry) -> str:
    """Likely mistakes with a function, and what they raise; of many, the first ones. Of an op, what the sources say."""
    if entry.kind == "op":
        return raised_by_op(entry)
    listed = [*mistakes.by_function().get(entry.full, {}).items()][:MISTAKES]
    if not listed:
        return ""
    text = "\n\n".join(f"{expression}\n{message}" for expression, message in listed)
    return f".. rubric:: Errors\n\n.. code-block:: text\n\n{indented(text)}"


def shown(signature: inspect.Signature, returns: bool) -> str:
    """The text of a signature, without annotations that say nothing."""
    parameters = [
        p.replace(annotation=p.empty) if p.annotation in ("Any", Any, "object") else p
        for p in signature.parameters.values()
    ]
    back: Any = signature.return_annotation
    if not returns or back in ("Any", Any, "object"):
        back = signature.empty
    text = str(signature.replace(parameters=parameters, return_annotation=back))
    # annotations are texts of the sources
    text = re.sub(r"(?<=: |> )'([^']*)'", r"\1", text)
    return re.sub(r"<([^<>]* object|function \S+|class '[^']*') at 0x\w+>", "...", text).replace(
        "\n", " "
    )


def methods(kind: type) -> list[tuple[str, Any]]:
    """The public methods and properties of a class that have docstrings, but those of bases with an entry of their own."""
    documented = {each.value for each in inventory.documented() if isinstance(each.value, type)}
    found: dict[str, Any] = {}
    for base in reversed(kind.__mro__):
        if base.__module__.startswith("occelo") and (base is kind or base not in documented):
            found.update({n: v for n, v in vars(base).items() if not n.startswith("_")})
    return [(n, v) for n, v in sorted(found.items()) if _text_of_member(v)]


def _text_of_member(value: Any) -> str:
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    if isinstance(function, property | functools.cached_property) or inspect.isroutine(function):
        return inspect.cleandoc(function.__doc__ or "")
    return ""


def member(name: str, value: Any) -> str:
    """The directive of a method or property."""
    text = text_of(_text_of_member(value))
    if isinstance(value, property | functools.cached_property):
        return f".. py:property:: {name}\n\n{indented(text)}"
    kind = "staticmethod" if isinstance(value, staticmethod) else "method"
    function = value.__func__ if isinstance(value, classmethod | staticmethod) else value
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return f".. py:method:: {name}()\n\n{indented(text)}"
    parameters = list(signature.parameters.values())
    if kind == "method" and parameters:
        signature = signature.replace(parameters=parameters[1:])
    return f".. py:{kind}:: {name}{shown(signature, True)}\n\n{indented(text)}"


def text_of(docstring: str) -> str:
    """The text of a docstring for Sphinx: sections of NumPy's style, and links for names in backquotes."""
    text = inspect.cleandoc(docstring)
    if SECTIONS.search(text):
        text = str(NumpyDocstring(text, NAPOLEON))
    paragraphs = re.split(r"(\n[ \t]*\n)", text)
    return "".join(p if p.lstrip().startswith(">>>") else _marked(p) for p in paragraphs) + "\n"


def _marked(paragraph: str) -> str:
    """A paragraph in which only backquotes mean something: bars and stars are those of formulas."""
    pieces = re.split(r"(``.*?``)", paragraph, flags=re.S)
    for i in range(0, len(pieces), 2):
        plain = re.sub(r"\|(?=\S)|(?<=\S)\||\*(?=\S)|(?<=\S)\*", r"\\\g<0>", pieces[i])
        pieces[i] = QUOTED.sub(_linked, plain)
    return "".join(pieces)


def _linked(name: re.Match[str]) -> str:
    target = _targets().get(name[1].rpartition(".")[2])
    # `linalg.solve` is no other `solve`
    if target is None or not target.endswith(name[1]):
        made = f"``{name[1]}``"
    else:
        made = f":py:obj:`{name[1]} <{target}>`"
    # a plural
    return f"{made}\\ {name[2]}" if name[2] else made


@functools.cache
def _targets() -> dict[str, str]:
    """The full name of each documented name; of several with the same last part, the first."""
    found: dict[str, str] = {}
    for each in inventory.entries():
        if each.target is None and each.kind not in ("module", "type"):
            found.setdefault(each.name, each.full)
    return found


def summary(docstring: str) -> str:
    """The first sentence of a docstring, on one line."""
    text = " ".join(inspect.cleandoc(docstring).partition("\n\n")[0].split())
    return _marked(re.split(r"(?<=\.) (?=[A-Z`])", text, maxsplit=1)[0])


def indented(text: str) -> str:
    """The text of a directive."""
    return "".join(f"   {line}\n" if line else "\n" for line in text.splitlines()) + "\n"
