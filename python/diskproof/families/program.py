"""A program of the user's own. Its commands are all that is known of it."""

from diskproof.families.facts import FamilyFacts

PROGRAM = FamilyFacts(
    name="program",
    title="a program",
    called=(),
    page_bytes=4096,
    tuning=(),
    memory_variable="",
    log_roles=("data",),
    needs=lambda _: {},
    relaxed=lambda _: {},
)
