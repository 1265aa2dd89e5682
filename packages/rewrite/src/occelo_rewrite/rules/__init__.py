"""The standard rules, one module or folder for each op family, and `fold` for ops of all families.

Each module ends in `RuleSet`s, which `pipeline` puts into stages. The docstring of a rule is the law that it applies. A
remark such as "(finite: ...)" says why the rule has the tag "finite" (`rule_tags`).
"""
