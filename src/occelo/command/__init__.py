"""The command line; nothing here is imported by ``import occelo``."""
