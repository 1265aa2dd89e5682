"""The command line, with a module for each command. ``import occelo`` imports none of these modules."""
