"""The machine: its processor, libraries and threads.

The keys of the cache depend on them, and units use them to run machine code.
"""
