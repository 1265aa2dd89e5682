"""Patterns in the form of nested tuples, at PyTensor's place.

`unify` and `reify` are those of logical unification, for patterns and variables. Relations of miniKanren, which search, are in
`occelo.graph.rewriting.kanren`.
"""

from typing import TYPE_CHECKING

from occelo.places import hints_about as _hints_about
from occelo_rewrite import OpPattern as OpPattern
from occelo_rewrite.patterns.pattern import Call
from occelo_rewrite.patterns.unifying import Asterisk as Asterisk
from occelo_rewrite.patterns.unifying import ConstrainedVar as ConstrainedVar
from occelo_rewrite.patterns.unifying import LiteralString as LiteralString
from occelo_rewrite.patterns.unifying import PatternVar as PatternVar
from occelo_rewrite.patterns.unifying import convert_strs_to_vars as convert_strs_to_vars
from occelo_rewrite.patterns.unifying import match_pattern as match_pattern
from occelo_rewrite.patterns.unifying import reify as reify
from occelo_rewrite.patterns.unifying import reify_pattern as reify_pattern
from occelo_rewrite.patterns.unifying import unify as unify

PatternNode = Call

if not TYPE_CHECKING:  # type checkers know what is here without it
    __getattr__ = _hints_about(__name__)
