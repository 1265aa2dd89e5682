"""Modes for debugging, which users pass to `function`: DebugMode, NanGuardMode and MonitorMode, with their checks."""
