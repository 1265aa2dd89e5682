"""The standard rules, one module or folder for each family of ops, and `fold` for ops of all families.

The modules list their rules in `RuleSet`s, which `pipeline` puts into stages. The docstring of a rule is the law that
the rule applies. A remark "(finite: ...)" in this docstring says why the rule has the tag "finite" (`queries`).
"""
