"""The tensor ops and their functions: one file or folder for each family; imports between families have no cycles."""
