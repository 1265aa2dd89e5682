"""Printing of graphs: as trees (`debugprint`), formulas (`pprint`), Python source (`to_python`) and dot (`pydotprint`)."""
