"""Whether a replay was the load that its log has."""

from collections.abc import Iterator

from diskproof.audit.check import Evidence, NothingToCheckError, Said, check, invalid, warning
from diskproof.results.replay import Certificate
from diskproof.wording import share
from diskproof.wording.numbers import duration

MOST_UNSENT = 0.01
"""Of the statements."""

MOST_REFUSED = 0.01
"""Of the statements sent: more refusals than the log has are those of other data."""

MOST_OTHER_ROWS = 0.1
"""Of the replies whose rows the log has. Sessions that overlap see each other's rows in either order."""

OWN_LATENESS_S = 0.005
"""Of 99 statements in 100: about a commit on a fast disk."""

ASKED_FOR = ("of another database", "no mere read, and only reads were asked for")
"""Reasons that the study gives."""


def _certificate(evidence: Evidence) -> Certificate:
    if evidence.load.replay is None:
        raise NothingToCheckError("no replay of a log")
    return evidence.load.replay


@check(
    "replay-data",
    reason="Statements that fail, or find other rows than in the log, do other work: the data are not those "
    "of the log.",
    remedy="begin with the data as they were when the log began: `prepare` with a dump of that moment",
    source="diskproof: refusals and rows of each reply beside those in the log",
)
def same_data(evidence: Evidence) -> Iterator[Said]:
    """Find replies that differ from the log's."""
    said = _certificate(evidence)
    if said.sent and said.refusals_in_replay_only > MOST_REFUSED * said.sent:
        yield invalid(
            "the server refused {refused:.1f} of the statements, which it did not in the log",
            refused=share(said.refusals_in_replay_only / said.sent),
        )
    if said.rows_different > MOST_OTHER_ROWS * said.rows_compared:
        yield invalid(
            "{different:.1f} of the replies had other rows than in the log",
            different=share(said.rows_different / said.rows_compared),
        )


@check(
    "replay-sent",
    reason="Statements that are left out are load that the server did not have.",
    remedy="see which statements leave the database, and whether connections were lost",
    source="diskproof: at most 1 statement in 100",
)
def sent(evidence: Evidence) -> Iterator[Said]:
    """Find statements that were not sent for a reason that the study does not give."""
    said = _certificate(evidence)
    wanted = said.statements - sum(said.left_out.get(reason, 0) for reason in ASKED_FOR)
    if wanted and wanted - said.sent > MOST_UNSENT * wanted:
        yield invalid("{unsent:.1f} of the statements were not sent", unsent=share(1 - said.sent / wanted))


@check(
    "replay-late",
    reason="A replayer that is behind the log's times by its own fault makes another load.",
    remedy="replay slower or fewer sessions, leave the machine alone, or put the load on another machine",
    source="diskproof: 5 ms for 99 statements in 100",
)
def replayer(evidence: Evidence) -> Iterator[Said]:
    """Find a replayer that could not keep the log's times."""
    said = _certificate(evidence)
    if said.speed is not None and said.own_us.p99 > OWN_LATENESS_S * 1e6:
        yield invalid(
            "1 in 100 statements was sent {late} late or more by the load generator's own fault",
            late=duration(said.own_us.p99 / 1e6),
        )


@check(
    "replay-order",
    reason="Commits in another order than in the log may leave other rows.",
    remedy="none: sessions that overlapped in the log may change places",
    source="diskproof: commits by their ends in the log",
)
def order(evidence: Evidence) -> Iterator[Said]:
    """Find an order of commits that was given up."""
    said = _certificate(evidence)
    if said.gave_up_order:
        yield warning(
            "{count} statements did not wait any longer for commits before them", count=said.gave_up_order
        )
