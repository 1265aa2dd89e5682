"""Function graphs, and features that observe their changes.

Rewriting changes function graphs, and linkers compile them.
"""
