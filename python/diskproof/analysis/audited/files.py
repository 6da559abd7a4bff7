"""The audit of other tools' results and of settings that were given beside them."""

from collections.abc import Sequence

from diskproof.analysis.audited.audit import (
    audit_configuration,
    audit_experiment,
    audit_results,
    configurations,
)
from diskproof.analysis.audited.shapes import SubjectAnswer
from diskproof.importers.assemble import assemble
from diskproof.importers.base import Found, ImportRefusedError
from diskproof.importers.belonging import belonging
from diskproof.results.imported import ImportedResult, Settings


def audit_found(found: Sequence[Found]) -> list[SubjectAnswer]:
    """Return what the checks say of everything that was read from files."""
    settings = [one for one in found if isinstance(one, Settings)]
    return [
        *_of_results([one for one in found if isinstance(one, ImportedResult)], settings),
        *(audit_configuration(one) for one in configurations(settings)),
    ]


def _of_results(measured: Sequence[ImportedResult], given: Sequence[Settings]) -> list[SubjectAnswer]:
    """Audit each result with its settings, and the comparison if there are several."""
    besides = belonging(measured, given)
    try:
        plan, trials, _ = assemble(measured, "imported")
    except ImportRefusedError:
        return audit_results(measured, [], besides)
    together = audit_experiment(plan, trials, measured, besides)
    return [*audit_results(measured, trials, besides), *([together] if together else [])]
