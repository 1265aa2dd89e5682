"""`Term`: an expression of Python as text. Ops write their nodes as terms (`Op.written`), and `pprint` joins the terms."""

from __future__ import annotations

from typing import NamedTuple

ATOM = 10
"""The precedence of names, calls and subscripts, which never need parentheses."""
PRODUCT = 6
"""The precedence of ``*``, ``/`` and ``@``."""


class Term(NamedTuple):
    """An expression: its text, and the precedence of its operator.

    - ``number``: for a constant of one element, the text of its value as a Python number.
    - ``plain``: for a constant, the text of its value as a Python number or list of numbers, if it has their dtype.
    - ``parts``: of a node with several outputs, what follows the text for each of them; None for ``[0]``, ``[1]``, ...
    - ``unstretched``: for an index array or a written value that is repeated to a part's lengths, the term without.
    - ``inner``: for a tensor with leading dimensions of length 1 that were added, the term without them.
    """

    text: str
    level: int = ATOM
    number: str | None = None
    plain: str | None = None
    inner: Term | None = None
    unstretched: Term | None = None
    parts: tuple[str, ...] | None = None

    def at(self, level: int) -> str:
        """The text, in parentheses unless its operator has at least the precedence ``level``."""
        return self.text if self.level >= level else f"({self.text})"

    @property
    def short(self) -> str:
        """The text of an argument that need not be a tensor, such as a length or an index."""
        term = self if self.unstretched is None else self.unstretched
        return term.text if term.plain is None else term.plain


def called(name: str, *arguments: str, **options: object) -> Term:
    """A call of a function, or of a method (``x.set``). An option that is None is left out."""
    return Term(f"{name}({', '.join([*arguments, *options_text(options)])})")


def options_text(options: dict[str, object]) -> list[str]:
    """The texts of options of a call that are not None."""
    return [f"{name}={value!r}" for name, value in options.items() if value is not None]
