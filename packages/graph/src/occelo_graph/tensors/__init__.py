"""Types, constants and variables of tensors, and conversion of arguments to them."""
