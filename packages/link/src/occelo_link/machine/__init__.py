"""The machine: its processor, libraries and threads."""
