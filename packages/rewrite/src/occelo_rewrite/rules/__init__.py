"""The standard rules, one file for each op family; each file ends in a `RuleSet`, which `pipeline` puts into stages.

The docstring of a rule is the law that it applies. Remarks such as "(finite: ...)" say why it has a tag.
"""
