"""The standard rules, one module or folder for each op family, and `fold` for ops of all families.

Each ends in `RuleSet`s, which `pipeline` puts into stages. The docstring of a rule is the law that it applies. Remarks
such as "(finite: ...)" say why it has a tag.
"""
