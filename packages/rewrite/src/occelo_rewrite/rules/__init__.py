"""The rules, one file for each op family; each file ends in a `RuleSet`."""
