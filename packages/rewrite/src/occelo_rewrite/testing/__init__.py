"""Tools for testing rules: example graphs for each rule, random types and values for them, and a check of results.

The tests of this package test the standard rules with these tools. To test a rule of your own, call
`testing.laws.try_law` with the rule and a draw of a `Case` for it.
"""
