"""What tries rules: examples of graphs that each rule is about, and the laws that all rules keep."""
