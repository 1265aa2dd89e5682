"""What a family of ops adds to rewriting: rules for stages that exist, and stages of its own.

The module of a family's part "rules" (`occelo_graph.families`) has a tuple ``RULES`` of `StageRules`, and may have a dict
``STAGES`` from names to `NewStage`. `pipeline` registers them when a stage is first queried after the family was imported.
Each rule must match an op of its family, so that importing the family changes no other graph.
"""

from __future__ import annotations

from occelo_graph.frozen_dataclasses import frozen_dataclass
from occelo_rewrite.database import RewriteDatabase
from occelo_rewrite.patterns.node_rule import RuleSet
from occelo_rewrite.rewriter import GraphRewriter

ALWAYS = ("fast_run", "fast_compile", "minimum_compile")
"""The tags of what every mode chooses that rewrites at all."""
USUAL = ("fast_run", "fast_compile")


@frozen_dataclass
class StageRules:
    """Rules for a stage of the pipeline, such as "canonicalize", with the tags by which modes choose them.

    Without tags, only a query chooses them that names one of the rules' own tags: the name of the stage does not.
    """

    stage: str
    rules: RuleSet
    tags: tuple[str, ...] = ()


@frozen_dataclass
class NewStage:
    """A stage of a family's own: its position among the stages of `pipeline`, its rewriter or database, and its tags."""

    position: float
    rewriter: GraphRewriter | RewriteDatabase
    tags: tuple[str, ...]
