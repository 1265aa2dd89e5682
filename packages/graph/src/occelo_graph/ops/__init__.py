"""The tensor ops: one file or folder for each family; imports between families have no cycles."""
