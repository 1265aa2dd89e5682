"""Lowering ops that read and write by position."""
