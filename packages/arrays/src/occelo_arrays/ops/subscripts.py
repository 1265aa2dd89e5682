"""Parses the subscripts of `einsum` into labels of dimensions. `ops.einsum` calls it.

A code is the character code of a letter, or 0 for an ellipsis. When the numbers of dimensions are known, codes become
labels.
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Sequence
from typing import Any

import numpy as np

from occelo_graph.narrowing import is_list_or_tuple

Labels = tuple[int, ...]
"""A label for each dimension of a tensor. It is the code of a letter. In an ellipsis, dimension k from the right has
label -k.
"""

_ELLIPSIS = 0
"""The code of an ellipsis."""


def label_name(label: int) -> str:
    """The text of a label in messages: its letter in quotation marks, or "..." for a dimension of an ellipsis.

    If the user wrote a list of numbers, it is the letter to which `_codes` converts the number.
    """
    return "..." if label < 0 else repr(chr(label))


def read_subscripts(
    arguments: Sequence[Any],
) -> tuple[list[Any], list[list[int]], list[int] | None]:
    """Read the arguments of `einsum`, such as ``"ij,jk->ik", a, b`` or ``a, [0, 1], b, [1, 2], [0, 2]``.

    Returns the operands, a list of codes for each operand, and the codes of the result. The codes of the result are
    None if the user did not write them. ValueError for other arguments.
    """
    if not arguments:
        raise ValueError("einsum takes subscripts and at least one operand, got nothing")
    if not isinstance(arguments[0], str):
        return _read_lists(arguments)
    text, operands = arguments[0], list(arguments[1:])
    before, arrow, after = text.replace(" ", "").partition("->")
    parts = before.split(",")
    if len(parts) != len(operands):
        raise ValueError(
            f"einsum: the subscripts {text!r} are for {len(parts)} operands, got {len(operands)}"
        )
    return operands, [_read(p, text) for p in parts], _read(after, text) if arrow else None


def _read(part: str, whole: str) -> list[int]:
    """The codes in ``part``, the subscripts of one operand. ``whole`` is the text of all subscripts, for messages."""
    codes: list[int] = []
    for i, piece in enumerate(part.split("...")):
        codes.extend([_ELLIPSIS] if i else [])
        for letter in piece:
            if not (letter.isascii() and letter.isalpha()):
                raise ValueError(
                    f"einsum: subscripts are letters and '...', got {letter!r} in {whole!r}"
                )
            codes.append(ord(letter))
    return codes


def _read_lists(
    arguments: Sequence[Any],
) -> tuple[list[Any], list[list[int]], list[int] | None]:
    pairs, rest = divmod(len(arguments), 2)
    operands = [arguments[2 * i] for i in range(pairs)]
    listed = [_codes(arguments[2 * i + 1]) for i in range(pairs)]
    return operands, listed, _codes(arguments[-1]) if rest else None


def _codes(entries: Any) -> list[int]:
    """Convert a list or a vector of numbers to codes. As in NumPy, 0 is the letter A, and 26 is the letter a."""
    if issubclass(type(entries), np.ndarray) and entries.ndim == 1:
        entries = entries.tolist()
    if not is_list_or_tuple(entries):
        raise ValueError(f"einsum: subscripts are text or lists of integers, got {entries!r}")
    return [_code(entry) for entry in entries]


def _code(entry: Any) -> int:
    if entry is Ellipsis:
        return _ELLIPSIS
    try:
        number = operator.index(entry)
    except TypeError:
        number = -1
    if not 0 <= number < 52:
        raise ValueError(f"einsum: subscripts in a list are 0 to 51 or Ellipsis, got {entry!r}")
    return number + (ord("A") if number < 26 else ord("a") - 26)


def labels_of_operand(codes: Sequence[int], ndim: int, position: int) -> Labels:
    """The label of each dimension of an operand. ValueError if the number of codes does not fit ``ndim``."""
    named = len(codes) - codes.count(_ELLIPSIS)
    if codes.count(_ELLIPSIS) > 1:
        raise ValueError(f"einsum: operand {position} has more than one ellipsis")
    if named > ndim or (named < ndim and _ELLIPSIS not in codes):
        raise ValueError(
            f"einsum: operand {position} has {ndim} dimensions and {named} subscripts"
            + ("" if _ELLIPSIS in codes else " without an ellipsis")
        )
    return _expanded(codes, ndim - named)


def labels_of_result(codes: Sequence[int] | None, operands: Sequence[Labels]) -> Labels:
    """The labels of the result of `einsum`, from the user's ``codes`` and the labels of the operands.

    If ``codes`` is None, the labels of the result are those of the ellipsis, and then those that occur once in the
    operands, in alphabetical order.

    ValueError if a subscript occurs twice in the result, if no operand has a subscript of the result, or if operands
    have an ellipsis that stands for dimensions, and the result has none.
    """
    counts = Counter(label for labels in operands for label in labels)
    extra = max((-label for label in counts if label < 0), default=0)
    if codes is None:
        return tuple(sorted(label for label, n in counts.items() if label < 0 or n == 1))
    result = _expanded(codes, extra)
    if extra and _ELLIPSIS not in codes:
        raise ValueError(
            f"einsum: the ellipsis of the operands stands for {extra} dimensions, and the result has no ellipsis"
        )
    for label, count in Counter(result).items():
        if count > 1:
            raise ValueError(f"einsum: the result has the subscript {label_name(label)} twice")
        if label not in counts:
            raise ValueError(
                f"einsum: no operand has the subscript {label_name(label)} of the result"
            )
    return result


def _expanded(codes: Sequence[int], extra: int) -> Labels:
    """Convert codes to labels. An ellipsis becomes ``extra`` labels."""
    labels: list[int] = []
    for code in codes:
        labels.extend(range(-extra, 0) if code == _ELLIPSIS else [code])
    return tuple(labels)
