"""Reading and writing parts of tensors: keys, basic and advanced indexing, and what builds on them."""
