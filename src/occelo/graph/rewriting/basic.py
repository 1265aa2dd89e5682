"""Rewriters and their decorators, at PyTensor's place."""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_rewrite import EquilibriumGraphRewriter as EquilibriumGraphRewriter
from occelo_rewrite import GraphRewriter as GraphRewriter
from occelo_rewrite import MergeOptimizer as MergeOptimizer
from occelo_rewrite import NodeRewriter as NodeRewriter
from occelo_rewrite import PatternNodeRewriter as PatternNodeRewriter
from occelo_rewrite import SequentialGraphRewriter as SequentialGraphRewriter
from occelo_rewrite import SubstitutionNodeRewriter as SubstitutionNodeRewriter
from occelo_rewrite import WalkingGraphRewriter as WalkingGraphRewriter
from occelo_rewrite import graph_rewriter as graph_rewriter
from occelo_rewrite import in2out as in2out
from occelo_rewrite import node_rewriter as node_rewriter
from occelo_rewrite import out2in as out2in
from occelo_rewrite.merge import MergeFeature as MergeFeature

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
