"""The command line, a module for each command; ``import occelo`` imports none of them."""
