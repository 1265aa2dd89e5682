"""Sources of code as text for cache keys: equal for equal code, different where behaviour may differ."""

from __future__ import annotations

import functools
import sys
import threading
import types
from typing import Any

import numpy as np
import pytest

import occelo_graph as og
from occelo_graph import Op, op
from occelo_graph import tensor as ot
from occelo_graph.extensions import UnknownSource, extensions_text, is_external, source_text


def made(text: str, **names: Any) -> Any:
    """The ``f`` that a module with this text has, as read from a file of another process."""
    namespace: dict[str, Any] = {"__name__": "own_module", "np": np, "Op": Op, "op": op, **names}
    sys.modules.setdefault("own_module", types.ModuleType("own_module"))  # dataclasses ask for it
    exec(text, namespace)
    return namespace["f"]


CHANGES = {
    "body": ("def f(x): return x + 1", "def f(x): return x + 2"),
    "operator": ("def f(x): return x + 1", "def f(x): return x - 1"),
    "default": ("def f(x, y=1): return x", "def f(x, y=2): return x"),
    "keyword default": ("def f(x, *, y=1): return x", "def f(x, *, y=2): return x"),
    "type of a number": ("def f(x): return x + 1", "def f(x): return x + 1.0"),
    "sign of a zero": ("def f(x): return x + 0.0", "def f(x): return x + -0.0"),
    "what is closed over": (
        "def g(k): return lambda x: x + k\nf = g(1)",
        "def g(k): return lambda x: x + k\nf = g(2)",
    ),
    "inner function": (
        "def f(x): return [k + 1 for k in x]",
        "def f(x): return [k + 2 for k in x]",
    ),
    "helper": (
        "def g(x): return 1\ndef f(x): return g(x)",
        "def g(x): return 2\ndef f(x): return g(x)",
    ),
    "helper in an inner function": (
        "def g(x): return 1\ndef f(x): return lambda: g(x)",
        "def g(x): return 2\ndef f(x): return lambda: g(x)",
    ),
    "global number": ("K = 1\ndef f(x): return x + K", "K = 2\ndef f(x): return x + K"),
    "global array": (
        "K = np.array([1.0])\ndef f(x): return K",
        "K = np.array([2.0])\ndef f(x): return K",
    ),
    "global list": ("K = [1, [2]]\ndef f(x): return K", "K = [1, [3]]\ndef f(x): return K"),
    "global set": ("K = {'a', 'b'}\ndef f(x): return K", "K = {'a', 'c'}\ndef f(x): return K"),
    "ufunc": ("K = np.exp\ndef f(x): return K(x)", "K = np.log\ndef f(x): return K(x)"),
    "function of NumPy": ("def f(x): return np.sum(x)", "def f(x): return np.prod(x)"),
    "method": (
        "class f:\n def a(self): return 1\n b = 2",
        "class f:\n def a(self): return 2\n b = 2",
    ),
    "attribute of a class": ("class f:\n b = 1", "class f:\n b = 2"),
    "base": ("class g:\n b = 1\nclass f(g): pass", "class g:\n b = 2\nclass f(g): pass"),
    "property": (
        "class f:\n @property\n def a(self): return 1",
        "class f:\n @property\n def a(self): return 2",
    ),
    "static method": (
        "class f:\n @staticmethod\n def a(): return 1",
        "class f:\n @staticmethod\n def a(): return 2",
    ),
    "op": (
        "@op\nclass f(Op):\n k: int = 1\n def evaluate(self, x): return x",
        "@op\nclass f(Op):\n k: int = 2\n def evaluate(self, x): return x",
    ),
    "instance": (
        "class g:\n def __init__(self, k): self.k = k\nK = g(1)\ndef f(x): return K.k",
        "class g:\n def __init__(self, k): self.k = k\nK = g(2)\ndef f(x): return K.k",
    ),
    "recursion": (
        "def f(n): return 1 if n == 0 else f(n - 1)",
        "def f(n): return 2 if n == 0 else f(n - 1)",
    ),
    "part of a function": (
        "from functools import partial\ndef g(x, y): return x\nf = partial(g, 1)",
        "from functools import partial\ndef g(x, y): return x\nf = partial(g, 2)",
    ),
    "cached property": (
        "from functools import cached_property\nclass f:\n @cached_property\n def a(self): return 1",
        "from functools import cached_property\nclass f:\n @cached_property\n def a(self): return 2",
    ),
}


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_of_what_code_does_changes_its_text(change: str) -> None:
    before, after = CHANGES[change]
    first, again, changed = (source_text(made(t), "f") for t in (before, before, after))
    assert first == again
    assert first != changed


@pytest.mark.parametrize("change", CHANGES)
def test_where_code_stands_does_not_matter(change: str) -> None:
    text = CHANGES[change][0]
    assert source_text(made(text), "f") == source_text(made("# a comment\n\n" + text), "f")


def test_no_address_is_part_of_the_text() -> None:
    for before, _ in CHANGES.values():
        assert " at 0x" not in source_text(made(before), "f")


def test_what_cannot_be_read_is_said() -> None:
    for name, value in {
        "lock": threading.Lock(),
        "object": object(),
        "array": np.array([object()]),
        "iterator": iter([1]),
    }.items():
        function = made("def f(x): return K", K=value)
        with pytest.raises(UnknownSource, match=f"The source of {name} cannot be read"):
            source_text(function, name)
    with pytest.raises(UnknownSource, match="module nowhere, whose file cannot be read"):
        source_text(made("def f(x): return K", K=types.ModuleType("nowhere")), "f")


def test_a_version_stands_for_the_rest() -> None:
    function = made("def f(x): return K", K=object())
    function.version = 3
    text = source_text(function, "f")
    function.version = 4
    assert source_text(function, "f") != text


def test_what_these_packages_register_is_no_extension() -> None:
    assert not is_external(Op)
    assert not is_external(source_text)
    assert is_external(functools.partial(source_text))
    assert "coder builtins:type" not in extensions_text()


@pytest.mark.parametrize("module", [og, ot], ids=lambda m: m.__name__)
def test_what_an_op_may_name_of_the_public_functions_can_be_read(module: Any) -> None:
    unreadable = []
    for name in dir(module):
        if name.startswith("__"):
            continue  # Python's, not the module's: other tests may have added to __builtins__
        found = getattr(module, name)

        def uses() -> Any:
            return found  # noqa: B023

        try:
            source_text(uses, "this")
        except UnknownSource:
            unreadable.append(name)
    # what options say is no part of any code
    assert set(unreadable) <= {"config"}


def test_an_object_that_makes_its_attributes_can_be_asked_for_a_version() -> None:
    class Names:
        def __getattr__(self, name: str) -> Any:
            raise ValueError(name)

    names = Names()
    assert "Names" in source_text(lambda: names, "this")
