"""Tools for testing rules: example graphs for each rule, random types and values for them, and the law that every rule
must keep.

The tests of this package use them for the standard rules. To test a rule of your own, call `testing.laws.try_law` with
the rule and a draw of a `Case` for it.
"""
