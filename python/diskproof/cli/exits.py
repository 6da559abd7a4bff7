"""Exit codes, as docs/commands.md has them."""

DONE = 0
REFUSED = 2
"""The study file, an argument or a missing prerequisite."""
THRESHOLD_FAILED = 10
"""A threshold of the study was not proved, or a condition of `compare` was not kept."""
AUDIT_FAILED = 10
"""An audit found an error or a threat."""
TRIAL_INVALID = 12
"""At least one trial was invalid; the others count."""
INTERRUPTED = 130
"""Ctrl-C, SIGTERM or a closed terminal; the finished trials are kept."""
