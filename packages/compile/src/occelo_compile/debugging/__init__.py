"""Modes that look inside: DebugMode, NanGuardMode, MonitorMode."""
