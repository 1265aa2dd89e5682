"""Tests of rules for their authors: example graphs for each rule, random types and values, and the law of rules.

The tests of this package use it for the standard rules. An author of a rule calls `testing.laws.try_law` with the rule
and a draw of a `Case` for it.
"""
