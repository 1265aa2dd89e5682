"""The tables of example calls of the ops of the core. Those of a family are in its own folder ``examples``."""
