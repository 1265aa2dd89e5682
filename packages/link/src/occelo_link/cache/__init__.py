"""The cache of compiled code on disk."""
