"""Messages about a likely mistake with each public function: ``tests/mistakes/functions/<door>-<topic>.txt``.

A line that is not indented is an expression over the names of `world`; the indented lines below it are what it raises, or
what it warns of. A mistake is one of the function that the expression calls last. If that is a compiled function, it is one
of the function that makes its output: ``oc.function([x], ot.sort(x))(None)`` is a mistake with `sort`. The reference shows
them in the entry of this function.

``OCCELO_WRITE_GOLDEN=1`` writes the messages into the files; read the difference before committing it.
"""

from __future__ import annotations

import functools
import importlib
import os
import re
import sys
import warnings
from pathlib import Path
from textwrap import indent
from typing import Any

import pytest

import occelo as oc
from occelo.hints.explanations import entries

SITE = Path(__file__).parents[2] / "docs" / "site"
sys.path.insert(0, str(SITE))
try:
    site: Any = importlib.import_module("mistakes")
finally:
    sys.path.remove(str(SITE))

FILES: list[Path] = site.files()
LINES = 6
"""Of a longer message, the first lines and the last ones are kept."""

NOT_TESTED = 0
"""How many public functions have no mistake here. Lower it when it fell."""

PLACE = "See docs/errors"
"""How the note of an error begins that names the entry which explains it."""

CANNOT_BE_WRONG: dict[str, str] = {
    "occelo.trees.is_tree": "takes any object",
    "occelo_graph.boolean_of": "gives bool for anything",
    "occelo_graph.is_tensor": "takes any object",
    "occelo.sparse.is_sparse": "takes any object",
    "occelo.sparse.is_sparse_value": "takes any object",
    "occelo.available_linkers": "takes no arguments",
    "occelo.available_modes": "takes no arguments",
    "occelo.collect_new_shareds": "takes no arguments",
    "occelo.get_default_mode": "takes no arguments",
    "occelo.tensor.isscalar": "takes any object",
    "occelo.cache.base_directory": "takes no arguments",
    "occelo.cache.compile_directory": "takes no arguments",
    "occelo.cache.default_store": "takes no arguments",
    "occelo.cache.force_unlock": "takes any path, also of a folder that is not there; Python refuses what is none",
    "occelo.cache.lock_ctx": "takes any path, whose folder it makes; Python and filelock refuse other arguments",
    "occelo.cache.set_lock_status": "takes any truth value",
    "occelo.graph.basic.default_node_formatter": "takes any op, and what Python joins",
    "occelo.graph.rewriting.kanren.eval_if_etuple": "takes any object",
    "occelo.tensor.type.is_complex": "asks about any text",
    "occelo.tensor.type.is_discrete": "asks about any text",
    "occelo.tensor.type.is_float": "asks about any text",
}
"""Functions that cannot be called wrongly but for a number of arguments that Python itself refuses, and why."""


def raised_by(expression: str) -> BaseException:
    """What an expression raises, or else what it warns of."""
    with warnings.catch_warnings(record=True) as warned, oc.config.change_flags(mode="vm"):
        warnings.simplefilter("always")
        try:
            eval(compile(expression, "FILE", "eval"), site.world())
        except Exception as error:
            return error
    assert warned, f"{expression} raises nothing"
    text = warned[0].message
    return Warning(text) if isinstance(text, str) else text


@functools.cache
def told(expression: str) -> tuple[str, str]:
    """Class and text of what an expression raises, without what depends on the place; and its note of a section."""
    raised = raised_by(expression)
    text = str(raised.args[0]) if isinstance(raised, KeyError) else str(raised)
    notes = getattr(raised, "__notes__", [])
    text = "\n".join([text, *(note for note in notes if not note.startswith(PLACE))])
    lines = text.split("\n")
    if len(lines) > LINES:
        lines = [*lines[: LINES // 2], "...", *lines[-LINES // 2 :]]
    text = re.sub(rf"({re.escape(site.__file__)}|\bFILE):\d+", "FILE:LINE", "\n".join(lines))
    text = re.sub(r" at 0x[0-9a-fA-F]+", " at ...", text)
    (place,) = [note for note in notes if note.startswith(PLACE)] or [""]
    return f"{type(raised).__name__}: " + re.sub(r"\s+$", "", text, flags=re.M), place


@pytest.mark.parametrize("path", FILES, ids=lambda path: path.stem)
def test_mistakes_are_told_as_written(path: Path) -> None:
    mistakes = site.read(path)
    messages = {expression: told(expression)[0] for expression in mistakes}
    if os.environ.get("OCCELO_WRITE_GOLDEN"):
        parts = [f"{e}\n{indent(m, '    ')}\n" for e, m in messages.items()]
        path.write_text("\n".join(parts))
        mistakes = site.read(path)
    assert messages == mistakes


def test_messages_name_the_entry_that_explains_them() -> None:
    """Every error in these files names an entry of docs/errors, which explains this message."""
    raised = [e for path in FILES for e, m in site.read(path).items() if "Warning: " not in m[:30]]
    places = {expression: told(expression)[1] for expression in raised}
    known = {f"docs/{each.page}#{each.title.lower()}": each for each in entries().values()}
    named = {e: known[p.split()[1]] for e, p in places.items() if p}
    without = [expression for expression, place in places.items() if not place]
    assert not without, "Let the function name a section (occelo_graph.errors.explained_by)"
    of_kinds = [expression for expression, entry in named.items() if not entry.message]
    assert not of_kinds, "Write an entry of the message into a page of docs/errors"


def test_messages_have_no_names_of_inner_modules() -> None:
    for path in FILES:
        for expression, message in site.read(path).items():
            assert "occelo_" not in message or "occelo_" in expression, f"{path.name}: {expression}"


def test_every_public_function_has_a_mistake() -> None:
    blames = [site.blamed(expression) for path in FILES for expression in site.read(path)]
    covered = {name for name in blames if name is not None}
    functions = set(site.public_functions().values())
    unknown = set(CANNOT_BE_WRONG) - functions
    assert not [n for n in unknown if hasattr(site.module_at(n.rpartition(".")[0]), "__name__")]
    assert sorted(covered & set(CANNOT_BE_WRONG)) == []
    missing = sorted(functions - covered - set(CANNOT_BE_WRONG))
    assert len(missing) <= NOT_TESTED, f"One that is new has no mistake: {missing}"


@pytest.mark.parametrize(
    ("expression", "name"),
    [
        ("ot.sort(x, axis=3)", "occelo.tensor.sort"),
        ("oc.function([x], ot.sort(x))(None)", "occelo.tensor.sort"),
        ("oc.function([x, x], ot.sort(x))", "occelo.function"),
        ("ot.sort(x, axis=i).eval({x: [1.0]})", "occelo.tensor.sort"),
        ("oc.function([x], [ot.topk(x, i)[0]])(1.0, 2)", "occelo.tensor.topk"),
        ("x.sum(axis=3)", None),
    ],
)
def test_a_mistake_belongs_to_one_function(expression: str, name: str | None) -> None:
    assert site.blamed(expression) == name


def test_an_expression_without_a_mistake_is_seen() -> None:
    with pytest.raises(AssertionError, match="raises nothing"):
        told("ot.sort(x)")
    assert told("[][1]") == ("IndexError: list index out of range", "")
    assert told("og.evaluate(x, {x: 1})")[0].startswith(
        "TypeError: The value of x (float64 (?,)), made at FILE:LINE"
    )
