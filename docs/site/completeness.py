"""What public names lack of what the reference shows."""

from __future__ import annotations

import re

import inventory
import mistakes
import namesakes
from inventory import Entry

ERROR = re.compile(r"\w(Error|Warning)\b")


def lacks(entry: Entry) -> frozenset[str]:
    """What a name lacks: a "summary", "parameters", an "example", "errors", a "namesake".

    A summary is a first sentence. A parameter of a function is named in the docstring. An example is a line that begins
    with ``>>>``, or a section of `worked_examples`. A parameter of an op may be named by a base class. Errors of a function
    or class are named in its docstring, or are those of `mistakes`, unless it cannot be called wrongly; classes of NumPy are
    documented there. A namesake is linked if NumPy or SciPy has a function of this name, unless that is an unlike one.
    """
    text = entry.docstring
    missing: set[str] = set()
    if not re.match(r"\S.*?[.:]($|\s)", text, re.S):
        missing.add("summary")
    if entry.kind == "function" and entry.signature is not None:
        names = [p.name for p in entry.signature.parameters.values()]
        if not all(re.search(rf"\b{name}\b", text) for name in names):
            missing.add("parameters")
    if entry.kind == "op" and entry.signature is not None:
        names = [
            p.name
            for p in entry.signature.parameters.values()
            if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)
        ]
        told = inventory.told_by_bases(entry)
        if not all(name in told or re.search(rf"\b{name}\b", text) for name in names):
            missing.add("parameters")
    shown = ">>> " in text or entry.examples
    if entry.kind != "module" and not shown:
        missing.add("example")
    foreign = entry.kind == "class" and not entry.value.__module__.startswith("occelo")
    if entry.kind in ("function", "class") and not foreign:
        if not ERROR.search(text) and entry.full not in mistakes.by_function():
            missing.add("errors")
    if entry.kind == "function":
        known = namesakes.of_this_name(entry)
        if known and namesakes.namesake(entry) is None and entry.full not in namesakes.UNLIKE:
            missing.add("namesake")
    return frozenset(missing)
