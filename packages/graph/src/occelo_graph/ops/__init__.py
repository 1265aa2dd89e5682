"""The tensor ops and their functions, which users find in `occelo.tensor`: one file or folder for each family.

Imports between families have no cycles. The other modules are shared by families: arguments, batching, lengths, linear
ops, specialization, properties of reductions.

Rules, inference of facts and lowerings of a family have its name in `occelo_rewrite.rules`, `occelo_rewrite.assumptions`,
`occelo_link.loops` and `occelo_link.traced`.
"""
