"""The ``__getattr__`` of the namespaces of tensor functions, which handles names that are not imported or do not exist.

The namespaces `occelo.tensor` and `occelo_graph.tensor` use it. The error names a replacement if there is one: the name for a
word of other libraries, of which the facade has a table, or a near name.
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Mapping
from types import MappingProxyType

from occelo_graph.errors import explained, hint_about, kind_note


def missing_name_hints(
    module: str,
    namespaces: Mapping[str, str] = MappingProxyType({}),
    functions: Mapping[str, str] = MappingProxyType({}),
    reasons: str = "",
) -> Callable[[str], object]:
    """The ``__getattr__`` for ``module``, a namespace of tensor functions.

    It imports the functions in ``functions``, which maps names to modules, and the modules in ``namespaces``. For all other
    names it raises the error of `name_error`. The module ``reasons`` has hints for it: a function ``reason`` of a name.
    """

    def find(name: str) -> object:
        if name in namespaces:
            return importlib.import_module(namespaces[name])
        if name in functions:
            return getattr(importlib.import_module(functions[name]), name)
        text = f"module {module!r} has no attribute {name!r}"
        if reasons and (why := importlib.import_module(reasons).reason(name)):
            text += f"; {why}"
        raise name_error(module, name, text)

    return find


def name_error(module: str, name: str, text: str) -> Exception:
    """The error that the ``__getattr__`` of a module raises for a name that it does not have.

    It is an AttributeError. If ``text`` has no hint, what is after a semicolon, a word of other libraries or a near name
    gives one. If there is a hint and a statement ``from module import name`` asks, it is an ImportError, since Python
    would replace an AttributeError by an error without the hint.
    """
    import inspect  # which most programs need not
    from opcode import opmap

    frame = inspect.currentframe()
    for _ in range(2):  # from here to the ``__getattr__``, and to who asks
        frame = frame.f_back if frame else None
    if frame and frame.f_code.co_code[frame.f_lasti] == opmap["IMPORT_FROM"]:
        hinted = text if ";" in text else text + suggestion(name, module)
        if ";" in hinted:
            error = ImportError(f"cannot import name {name!r}: {hinted}", name=module)
            return explained(error, "names")
    return MissingNameError(text, name, module)


class MissingNameError(AttributeError):
    """The error for a name that ``owner`` lacks. What to use instead is searched when the message is read.

    So questions such as ``hasattr(x, "name")`` cost no search.
    """

    def __init__(self, text: str, name: str, owner: object) -> None:
        super().__init__(text, name=name)
        self.owner = owner
        self.add_note(kind_note("names"))

    def __str__(self) -> str:
        text = str(self.args[0])
        return text if ";" in text else text + suggestion(str(self.name), self.owner)

    def __reduce__(self) -> tuple[type[AttributeError], tuple[str]]:
        return AttributeError, (str(self),)


def suggestion(name: str, owner: object) -> str:
    """What to use instead of ``name``, which ``owner`` (a module's name, or a variable) lacks; empty if nothing is near."""
    if name.startswith("_"):
        return ""
    if hint := hint_about("names", name, owner):
        return f"; {hint}"
    space = sys.modules.get(owner) if isinstance(owner, str) else owner
    near = _close(name, dir(space))
    return "" if near is None else f"; did you mean {near}?"


def _close(name: str, names: list[str]) -> str | None:
    import difflib  # here, since only messages need it

    public = [each for each in names if not each.startswith("_") and each != name]
    nearest = difflib.get_close_matches(name.lower(), [each.lower() for each in public], 1, 0.75)
    same = [each for each in public if each.lower() in nearest]  # but for capital letters
    return max(same, key=lambda e: difflib.SequenceMatcher(None, e, name).ratio(), default=None)
