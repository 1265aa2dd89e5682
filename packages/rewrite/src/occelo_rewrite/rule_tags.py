"""`CHANGES`: the tags by which a rule declares how it may change results.

A rule without any of these tags keeps every result bit for bit, and every error of the ops that it replaces. What no
result depends on any more is not computed, so that errors of operands that a law drops need no tag. `testing.laws` checks that each rule changes results
only as its tags allow. The optimizer ``strict`` of `pipeline` excludes rules by these tags.

Complex numbers that are not finite, and signs of complex zeros, are exceptions: every rule may change them. Libraries
differ in products of such numbers, and these products depend on the order of operations.
"""

from __future__ import annotations

CHANGES: dict[str, str] = {
    "rounding": "the last digits of a result, and the sign of a zero; what is finite, zero or negative stays so",
    "stabler": "a result that overflows, vanishes or loses digits as written; it becomes that of exact arithmetic",
    "comparison": "digits that cancel: whether a result is zero or negative, and so what it compares to",
    "overflow": "what overflows or vanishes on the way: a result may become infinite, NaN or zero, or cease to be so",
    "finite": "a result where something in it is infinite, NaN or divided by zero",
    "shape_unsafe": "whether shapes that do not fit are an error",
    "singular": "whether a matrix that is singular, or not positive definite, is an error",
    "arbitrary": "what nothing determines: the order of the results of eig, and the signs of eigenvectors",
    "unsafe": "whether a check that fails, or an index out of range, is an error",
}
"""For each tag, the changes that it allows."""

NOT_STRICT: tuple[str, ...] = tuple(tag for tag in CHANGES if tag != "rounding")
"""The optimizer ``strict`` excludes rules with any of these tags."""
