"""The machine: its processor, libraries and threads.

The cache's keys, and the units that run machine code, depend on it.
"""
