"""How true a replay was to its log, as diskproof-load certifies it."""

from pydantic import Field

from diskproof.results.record import Record


class Lateness(Record):
    """How late statements were sent, in microseconds."""

    p99: float
    max: float


class Certificate(Record):
    """What a replay did, beside its log."""

    speed: float | None
    """Times as fast as the log; None: as fast as the order of commits allows."""
    ordered: tuple[int, int] | None = None
    """The log's commits that have the binary log's order, of all; None: by the log's times."""
    copies: int
    sessions: int
    statements: int
    """Statements that came to their turn: sent, or left out for a reason."""
    sent: int
    prepared: int = 0
    """Sent as prepared statements, as the log has them."""
    prepared_as_text: int = 0
    """The log has them prepared, and the server refused to prepare them, or had too many."""
    preparations: int = 0
    preparations_recorded: int = 0
    """Those in the log that an execution followed; 0 also if the log does not have them."""
    left_out: dict[str, int]
    """By reason."""
    refused: str | None
    """The first statement that would have left the database, without its values."""
    late_us: Lateness
    """Behind the log's schedule; the three after it are its parts."""
    own_us: Lateness
    """The session was free, and the load generator was late."""
    server_us: Lateness
    """The session still waited for a reply, or for a commit of another one."""
    concurrency: float
    """Mean number of statements under way."""
    recorded_concurrency: float | None
    """The same in the log; None if it has no durations."""
    seconds: float
    refusals_in_log_only: int
    refusals_in_replay_only: int
    rows_compared: int
    """Replies whose rows the log has."""
    rows_different: int
    commits: int
    commits_overtook: int
    """Commits that came before one that the log has earlier."""
    held: int
    """Statements that waited for commits of other sessions."""
    gave_up_order: int
    """Those that waited in vain."""
    plans: dict[str, str] = Field(default_factory=dict)
    """Of what was read, by its name in the statement types: access types, keys, kinds of nodes."""
