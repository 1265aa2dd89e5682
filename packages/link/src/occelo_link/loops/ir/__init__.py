"""The loop program as a data structure: values, statements, text, verifier, interpreter."""
