"""Features of function graphs that rewriting needs, and features for users who rewrite graphs."""
