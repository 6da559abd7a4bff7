"""A device file made from measurements: its figures beside the model's, and what no measurement shows."""

from diskproof.results.modelled import ModelledFigure
from diskproof.results.profile import Profile
from diskproof.results.record import Record
from diskproof.wording import Message


class Tried(Record):
    """A kind of device whose parameters were fitted."""

    kind: str
    """Such as ``flash``, or ``bridge over spinning``."""
    error: float
    """Mean over the fitted figures of log(1 + d^2); d is the logarithm of model over measured, divided by
    that of the goal. 0: all agree; 0.69: each is at its goal."""


class Clone(Record):
    """A disk, imitated."""

    diskproof_version: str
    started_at: str
    device_file: str
    title: str
    kind: str
    tried: list[Tried]
    """All kinds that were fitted, the nearest first; the first was written."""
    figures: list[ModelledFigure]
    """`published` is what was measured. Those that are not `fitted` were held back."""
    unknown: list[Message]
    """What no figure shows; the file assumes it."""
    notes: list[Message]
    """Remarks that a reader must know before trusting the clone."""
    profile: Profile | None = None
    """All that was measured; None if others measured."""

    def of(self, *, fitted: bool) -> list[ModelledFigure]:
        """Return the figures that parameters were fitted to, or those that were held back."""
        return [figure for figure in self.figures if figure.fitted is fitted]
