"""What rewriting did: a record of all steps, its text, and its page."""
