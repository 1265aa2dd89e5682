"""Derivatives and batches of loops."""
