"""Tests of rules for their authors: example graphs for each rule, random types and values, and the law of rules."""
