"""The intermediate representation: types, variables, ops, and walks over them."""
