"""Modes for debugging: DebugMode, NanGuardMode and MonitorMode, and the checks that they run."""
