"""The intermediate representation, on which all else is built: types, variables, ops, apply nodes, and walks over them."""
