"""The parts of an audit."""

from typing import Literal

from pydantic import Field

from diskproof.audit.check import State
from diskproof.results.record import Record
from diskproof.results.trial import Severity
from diskproof.wording import NOTHING, Message

SubjectKind = Literal["run", "result", "experiment", "configuration"]
"""``experiment``: several imported results that are compared with each other."""


class Instance(Record):
    """One of several findings of a kind, with its own figures."""

    message: Message
    within: list[str] = Field(default_factory=list)


class Raised(Record):
    """One thing that a check found, with its arithmetic."""

    severity: Severity
    """Shown as it is for our own runs; for others ``invalid`` is an error, and ``warning`` a threat."""
    message: Message
    remedy: Message = NOTHING
    within: list[str] = Field(default_factory=list)
    """Where in the subject: trials of a run, cells; empty if it is the whole."""
    each: list[Instance] = Field(default_factory=list)
    """What was found in each place, if figures differ; empty if `message` says all of it."""


class CheckAnswer(Record):
    """What one check says of a subject; for a run, of all its trials together."""

    check: str
    state: State
    reason: str
    source: str
    raised: list[Raised] = Field(default_factory=list)
    missing: list[Message] = Field(default_factory=list)
    """What was not recorded."""
    why_apart: Message = NOTHING
    """Why it has nothing to check, if it does not apply."""


class SubjectAnswer(Record):
    """One thing that was audited: a run folder, a result, a server's settings."""

    kind: SubjectKind
    name: str
    place: str
    """File and line, or the folder."""
    known_as: str
    """What it was recognised as: ``sysbench 1.0 OLTP``."""
    verdict: Message
    """What it does and does not support."""
    figure: Message = NOTHING
    """A result's own figure, with how it was measured."""
    uses: Message = NOTHING
    """The rest of a result's verdict, which results that were made alike share."""
    remarks: list[Message] = Field(default_factory=list)
    """What the tool itself, or the importer, said about it."""
    checks: list[CheckAnswer]
    own: bool = False
    """Whether diskproof measured it."""

    def within(self, state: State) -> list[CheckAnswer]:
        """Return the checks in one state."""
        return [one for one in self.checks if one.state == state]

    @property
    def failed(self) -> bool:
        """Whether a check failed."""
        return any(one.state == "failed" for one in self.checks)


class AuditAnswer(Record):
    """Everything that was audited together."""

    subjects: list[SubjectAnswer]
    refused: list[str] = Field(default_factory=list)
    """Why files were not read, each with its name."""

    @property
    def failed(self) -> bool:
        """Whether a check of any subject failed."""
        return any(subject.failed for subject in self.subjects)
