"""The command line ``occelo``. The module `app` defines the commands, and the other modules do their work.

``import occelo`` imports none of these modules.
"""
