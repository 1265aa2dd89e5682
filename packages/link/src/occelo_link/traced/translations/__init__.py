"""The ops of the graph package as functions of array libraries, in a module for each kind of op."""
