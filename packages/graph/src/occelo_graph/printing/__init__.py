"""Prints graphs as trees (`debugprint`), formulas (`pprint`), Python source (`to_python`) or drawings (`pydotprint`).

Users call these functions from `occelo`. Error messages show variables as formulas.
"""
