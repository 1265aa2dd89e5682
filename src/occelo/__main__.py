"""Runs the command line for ``python -m occelo``."""

from occelo.command.app import main

if __name__ == "__main__":
    main()
