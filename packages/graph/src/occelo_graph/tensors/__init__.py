"""Types, constants and variables of tensors."""
