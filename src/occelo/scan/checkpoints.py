"""Scans that keep only some of their steps for gradients, at PyTensor's place."""

from occelo_loops.ops.building.classic import scan_checkpoints as scan_checkpoints
