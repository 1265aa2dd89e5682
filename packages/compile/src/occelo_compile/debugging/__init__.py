"""Modes for debugging (DebugMode, NanGuardMode, MonitorMode) and their checks. Users pass the modes to `function`."""
