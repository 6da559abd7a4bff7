"""Certificates of replays."""

from typing import Any

from diskproof.results.replay import Certificate, Lateness


def make_certificate(own_p99_us: float = 40.0, **changes: Any) -> Certificate:
    """Return the certificate of a true replay, with changes."""
    late = Lateness(p99=own_p99_us, max=2 * own_p99_us)
    fields = {
        "speed": 1.0,
        "copies": 1,
        "sessions": 5,
        "statements": 1000,
        "sent": 1000,
        "left_out": {},
        "refused": None,
        "late_us": late,
        "own_us": late,
        "server_us": late,
        "concurrency": 1.5,
        "recorded_concurrency": 1.4,
        "seconds": 10.0,
        "refusals_in_log_only": 0,
        "refusals_in_replay_only": 0,
        "rows_compared": 900,
        "rows_different": 0,
        "commits": 100,
        "commits_overtook": 0,
        "held": 3,
        "gave_up_order": 0,
    }
    return Certificate.model_validate(fields | changes)
