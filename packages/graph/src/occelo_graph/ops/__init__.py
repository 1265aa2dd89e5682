"""The tensor ops and the functions that apply them: one module or folder for each family.

Users call the functions from `occelo.tensor`.

The families share the modules `arguments`, `batching`, `lengths`, `length_inputs`, `linear`, `specialization`,
`reductions` and `reduction_checks`. Imports between families have no cycles.

Other packages have modules or folders with the names of the families. Rules are in `occelo_rewrite.rules`, inference of
facts in `occelo_rewrite.assumptions`, and lowerings in `occelo_link.loops` and `occelo_link.traced`.
"""
