"""Tables of examples, which drive tests of every layer."""
