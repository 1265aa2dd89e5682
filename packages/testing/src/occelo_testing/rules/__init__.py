"""Tools for testing rules: example graphs for each rule, random types and values of their inputs, and a check of
results.

The tests of this package test the standard rules with these tools. To test a rule of your own, write a `Case` for the
rule, vary it with `testing.draws.draw`, and pass the rule and the draw to `testing.laws.try_law`.
"""
