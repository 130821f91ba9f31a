"""The four groups of the BIRD paper's error analysis, approximated by rules.

Li et al. 2023, "Can LLM Already Serve as A Database Interface?", section 6, https://arxiv.org/abs/2305.03111.
There people read 500 wrong answers of ChatGPT; here a class decides, so the shares are not comparable with
the paper's. docs/error-classes.md says where the two differ.
"""

from collections.abc import Mapping
from enum import StrEnum

from harness.engines.error_classes import ErrorClass


class Group(StrEnum):
    """What a predictor has not understood."""

    SCHEMA_LINKING = "schema_linking"
    """Existing tables and columns that are not the ones that are asked for."""
    DATABASE_CONTENT = "database_content"
    """Tables, columns, types or values that the database does not have."""
    KNOWLEDGE_EVIDENCE = "knowledge_evidence"
    """How a question's terms become conditions and calculations, which BIRD's evidence explains."""
    SYNTAX = "syntax"
    """The engine's SQL."""
    UNASSIGNED = "unassigned"
    """Nothing that the paper has a group for."""


GROUPS: Mapping[ErrorClass, Group] = {
    ErrorClass.SYNTAX: Group.SYNTAX,
    ErrorClass.UNKNOWN_TABLE: Group.DATABASE_CONTENT,
    ErrorClass.UNKNOWN_COLUMN: Group.DATABASE_CONTENT,
    ErrorClass.TYPE_ERROR: Group.DATABASE_CONTENT,
    ErrorClass.WRONG_TABLES: Group.SCHEMA_LINKING,
    ErrorClass.WRONG_COLUMNS: Group.SCHEMA_LINKING,
    ErrorClass.WRONG_CONDITION: Group.KNOWLEDGE_EVIDENCE,
    ErrorClass.WRONG_LITERAL: Group.DATABASE_CONTENT,
    ErrorClass.WRONG_AGGREGATION: Group.KNOWLEDGE_EVIDENCE,
    ErrorClass.WRONG_ORDER: Group.UNASSIGNED,
    ErrorClass.OTHER: Group.UNASSIGNED,
}
"""The group of each class."""
