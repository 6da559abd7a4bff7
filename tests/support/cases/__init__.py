"""For every check of the audit a subject in which it fails for its reason, and a sound one that passes.

`tests/audit/test_cases.py` runs over them, and lets no check stand in a registry without its case.
"""

from dataclasses import dataclass
from typing import Generic

from diskproof.audit.check import Check, Subject


@dataclass(frozen=True)
class Case(Generic[Subject]):
    """One check, held to its word."""

    check: Check[Subject]
    fails: Subject
    says: str
    """What its finding says there, as a regular expression: its arithmetic, so that it fails for the right
    reason."""
    passes: Subject
