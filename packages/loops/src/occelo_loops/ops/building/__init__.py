"""Functions for users that make loops, and what they are built from."""
