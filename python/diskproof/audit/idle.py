"""Options that have no effect beside the others."""

from collections.abc import Iterator
from fnmatch import fnmatchcase

from diskproof.audit.check import Configuration, Said, check, warning
from diskproof.audit.configuration import effective, option_file, plainly, server_of, untold_groups
from diskproof.families import of
from diskproof.families.facts import FamilyFacts, Idle
from diskproof.families.values import Values, is_off, same
from diskproof.wording import say


@check(
    "idle-option",
    reason="An option that another one disables makes a reader believe in a tuning that was never there.",
    remedy="set what it needs, or take it out",
    source="the reference manual of the server, named with the finding",
)
def idle_option(configuration: Configuration) -> Iterator[Said]:
    """Find options that have no effect beside the others, on that server."""
    option_file(configuration, "the defaults too")
    asked = plainly(configuration)
    yield from untold_groups(configuration)
    values, server = effective(configuration), server_of(configuration)
    facts = of(server.family)
    for found in (*_disabled(facts, asked, values), *facts.idle(asked, values, server)):
        yield warning(
            "`{name}` has no effect: {because} ({source})",
            name=found.name,
            because=found.because,
            source=found.source,
        )


def _disabled(facts: FamilyFacts, asked: Values, values: Values) -> Iterator[Idle]:
    """Yield the options that are set and whose master switch is off."""
    for rule in facts.off_rules:
        set_to = [name for name, value in asked.items() if value and not same(value, "0")]
        name = next((one for one in set_to if fnmatchcase(one, rule.option)), None)
        off = next((one for one in rule.off if is_off(values, one)), None)
        if name and off:
            yield Idle(name, say("`{off}` is off", off=off), rule.source)
