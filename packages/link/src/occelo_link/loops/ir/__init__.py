"""Loop programs: data structures, builder, textual form, verifier, interpreter and estimates of cost."""
