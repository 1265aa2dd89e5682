"""The loop program: what stands between a graph and machine code."""
