"""Tests that public names have what the reference shows of them; what is still missing may only become less."""

from __future__ import annotations

import functools
import importlib
import pydoc
import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import occelo as oc
import occelo.tensor as ot

SITE = Path(__file__).parents[2] / "docs" / "site"
LACKING = {"summary": 0, "parameters": 0, "example": 0, "errors": 10, "namesake": 0}
"""How many names have no first sentence, do not name all parameters, have no example, show no errors, or do not link the
function of NumPy or SciPy of their name. Lower a number that fell. Ten functions take nothing, or any object."""


@functools.cache
def of_site(name: str) -> Any:
    places = [str(SITE), str(SITE.parent)]
    sys.path[:0] = places
    try:
        return importlib.import_module(name)
    finally:
        for each in places:
            sys.path.remove(each)


def inventory() -> Any:
    return of_site("inventory")


def lacks(entry: Any) -> frozenset[str]:
    return of_site("completeness").lacks(entry)


@pytest.mark.parametrize("what", sorted(LACKING))
def test_no_new_name_lacks_what_the_reference_shows(what: str) -> None:
    # what has no entry of its own, types of tensors and numbers, is shown with an example nevertheless
    entries = inventory().entries() if what == "example" else inventory().documented()
    names = [each.full for each in entries if each.target is None and what in lacks(each)]
    assert len(names) <= LACKING[what], f"of these, one that is new has no {what}: {names}"


def test_what_a_docstring_lacks_is_seen() -> None:
    def documented(a: Any, b: Any) -> Any:
        """The sum of ``a`` and ``b``. TypeError if they are no numbers.

        >>> documented(1, 2)
        3
        """

    def sparse(a: Any, b: Any) -> Any:
        """Adds ``a`` to another"""

    def bare(a: Any) -> Any:
        pass

    entry = inventory().Entry
    assert lacks(entry("here", "documented", documented, None)) == set()
    assert lacks(entry("here", "sparse", sparse, None)) == {
        "summary",
        "parameters",
        "example",
        "errors",
    }
    assert lacks(entry("here", "bare", bare, None)) == {
        "summary",
        "parameters",
        "example",
        "errors",
    }
    # NumPy has a function of this name
    assert lacks(entry("here", "sort", documented, None)) == {"namesake"}
    assert lacks(entry("occelo.tensor", "sort", documented, None)) == set()
    # a class of an instance does not speak for it
    number = entry("here", "number", oc.config, None)
    assert number.docstring != type(oc.config).__doc__


def test_every_public_name_is_in_the_reference_once() -> None:
    """All names of the facade are entries or aliases of one, and no object has two entries."""
    entries = inventory().entries()
    listed = {(each.door, each.name) for each in entries}
    assert {("occelo", name) for name in oc.__all__} <= listed
    assert {("occelo.tensor", name) for name in dir(ot) if name in ot.__all__} <= listed
    fulls = {each.full for each in entries if each.target is None}
    assert {each.target for each in entries if each.target is not None} <= fulls
    values = [id(each.value) for each in inventory().documented()]
    assert len(values) == len(set(values))


def test_examples_of_objects_run() -> None:
    """Examples in docstrings of what is no function and no class, which the run of all doctests does not find."""
    import doctest

    finder, runner = doctest.DocTestParser(), doctest.DocTestRunner(verbose=False)
    names: dict[str, Any] = {"oc": oc, "ot": ot}
    for each in inventory().documented():
        if isinstance(each.value, type | ModuleType) or re.match(
            "function|builtin", type(each.value).__name__
        ):
            continue
        test = finder.get_doctest(each.docstring, dict(names), each.full, None, None)
        runner.run(test)
    assert runner.summarize(verbose=False).failed == 0


@pytest.mark.parametrize(
    ("name", "namesake", "page"),
    [
        ("occelo.tensor.sort", "numpy.sort", "numpy.org/doc/stable/reference/generated/numpy.sort.html"),
        ("occelo.tensor.abs", "numpy.abs", "numpy.org/doc/stable/reference/generated/numpy.absolute.html"),
        ("occelo.tensor.erfcx", "scipy.special.erfcx", "docs.scipy.org/doc/scipy/reference/generated/scipy.special.erfcx.html"),
        ("occelo.tensor.linalg.svd", "numpy.linalg.svd", "numpy.org/doc/stable/reference/generated/numpy.linalg.svd.html"),
        ("occelo.tensor.stats.norm", "scipy.stats.norm", "docs.scipy.org/doc/scipy/reference/generated/scipy.stats.norm.html"),
        ("occelo.sparse.vstack", "scipy.sparse.vstack", "docs.scipy.org/doc/scipy/reference/generated/scipy.sparse.vstack.html"),
        ("occelo.sparse.sin", "numpy.sin", "numpy.org/doc/stable/reference/generated/numpy.sin.html"),
        ("occelo.xtensor.concat", "xarray.concat", "docs.xarray.dev/en/stable/generated/xarray.concat.html"),
        ("occelo.xtensor.math.gammaln", "scipy.special.gammaln", "docs.scipy.org/doc/scipy/reference/generated/scipy.special.gammaln.html"),
        ("occelo.tensor.dimshuffle", None, None),
        ("occelo.bisect", None, None),
    ],
)  # fmt: skip
def test_entries_lead_to_their_namesakes(name: str, namesake: str | None, page: str | None) -> None:
    (entry,) = (each for each in inventory().documented() if each.full == name)
    expected = None if page is None else (namesake, f"https://{page}")
    assert of_site("namesakes").namesake(entry) == expected


def test_the_reference_shows_mistakes_with_their_messages() -> None:
    pytest.importorskip("sphinx", reason="the reference is written by Sphinx's tools")
    (entry,) = (each for each in inventory().documented() if each.full == "occelo.tensor.sort")
    listed = of_site("mistakes").by_function()[entry.full]
    shown = of_site("reference").block(entry)
    first, message = next(iter(listed.items()))
    assert f"{first}\n      {message.splitlines()[0]}" in shown


def test_help_shows_elementwise_functions_with_their_signature() -> None:
    text = pydoc.render_doc(ot.softplus, renderer=pydoc.plaintext)
    assert "softplus(x, /)" in text
    assert "log(1 + exp(x)), without overflow." in text


def test_each_name_of_the_divided_door_has_a_page() -> None:
    """Each file of worked examples belongs to one section, and only numbers and types stand outside of all."""
    sections = of_site("sections")
    stems = [stem for listed in sections.TOPICS.values() for stem in listed.split()]
    files = sorted(path.stem for path in (SITE / "examples" / sections.SPLIT).glob("*.txt"))
    assert sorted([*stems, "exceptions", "ops"]) == files
    without = [e.name for e in sections.sections(sections.SPLIT)["Constants"]]
    assert not set(without) - {"e", "euler_gamma", "inf", "nan", "newaxis", "pi"}
    assert sum(map(len, sections.sections(sections.SPLIT).values())) == len(
        [e for e in inventory().entries() if e.door == sections.SPLIT]
    )
