"""Printing of graphs: as trees (`debugprint`), formulas (`pprint`), Python source (`to_python`) and dot (`pydotprint`).

Users call these functions, which are in the namespace `occelo`. Error messages contain formulas.
"""
