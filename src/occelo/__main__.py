"""``python -m occelo``: the command line."""

from occelo.command.app import main

if __name__ == "__main__":
    main()
