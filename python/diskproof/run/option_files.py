"""Option files of a study's tunings: what each server of the study reads in them becomes its variables."""

import re
from collections.abc import Callable, Collection
from dataclasses import dataclass, field, replace

from diskproof.families import Family, of
from diskproof.families.facts import FamilyFacts
from diskproof.families.mysql.option_file import is_read, resolved
from diskproof.families.options import server_named
from diskproof.families.values import same
from diskproof.results.imported import AskedOption
from diskproof.results.machine import ServerFacts
from diskproof.server.base import ServerKind
from diskproof.study.model import Study
from diskproof.study.part import KeptOptions
from diskproof.study.read import StudyError, StudyFile
from diskproof.study.tuning import Tuning

_PATH = re.compile(r"(?:/|~|\.\./|[A-Za-z]:[\\/]).*", re.DOTALL)
"""A value that leads out of the server's own folders, also one of Windows."""

KEYS = {"mysql": "my_cnf", "postgresql": "conf"}
"""The keys of a tuning for the option files of a family."""

LAB = "the lab decides it"


@dataclass
class Asked:
    """What a tuning asks of one server."""

    variables: dict[str, str] = field(default_factory=dict)
    """By the server's own names; one that adds up has a line for each value."""
    places: dict[str, str] = field(default_factory=dict)
    """Where each stands, of those that stand in the option file."""
    left_out: dict[str, list[str]] = field(default_factory=dict)
    """Names of options of the file, by the reason why the server does not get them."""


Read = tuple[list[AskedOption], list[str], str | None]
"""The options of a file, what it includes that could not be read, and with what it includes: its lines."""


def read_options(family: Family, kept: KeptOptions) -> Read:
    """Read an option file, and what it includes; ImportRefusedError or StudyError if it is none."""
    # They load slowly, and most studies name no option file.
    from diskproof.importers.options import FORMS, family_of, settings_of  # noqa: PLC0415
    from diskproof.importers.text import as_text  # noqa: PLC0415

    text, _ = as_text(kept.path, kept.content)
    whose = family_of(text)
    if whose not in {None, family}:
        raise StudyError(
            f"{kept.path} is a {FORMS[whose or family]}, and `{KEYS[family]}` is for a {FORMS[family]}"
        )
    settings, lines = settings_of(text, family)
    return settings.options, settings.missing, lines.whole.decode() if lines.included else None


def with_option_files(file: StudyFile, read: Callable[[Family, KeptOptions], Read]) -> StudyFile:
    """Return the study with the option file of each tuning read, and with what it includes.

    The notes say what could not be read.
    """
    tunings, notes = {}, []
    for name, tuning in file.study.tunings.items():
        tunings[name] = tuning
        if tuning.option_file is not None:
            family, kept = tuning.option_file
            asked, missing, whole = read(family, kept)
            content = kept.content if whole is None else whole.encode()
            kept = replace(kept, content=content, asked=tuple(asked))
            tunings[name] = tuning.model_copy(update={KEYS[family]: kept})
            notes += [f"tuning `{name}`: not read: {one} of {kept.path.name}" for one in missing]
    study = file.study.model_copy(update={"tunings": tunings})
    return replace(file, study=study, notes=(*file.notes, *notes))


def asked_of(tuning: Tuning, facts: ServerFacts, known: Collection[str]) -> Asked:
    """Return what a tuning asks of a server whose options are `known`; its own variables win over its file's.

    Paths are left out of a file: a run writes to its own places only.
    """
    own = {name.replace("-", "_").lower(): value for name, value in tuning.variables_as_text().items()}
    asked = Asked()
    if tuning.option_file is not None:
        _, kept = tuning.option_file
        for option in kept.asked:
            _take(asked, option, facts, known, kept.path.name)
    asked.variables |= own
    asked.places = {name: place for name, place in asked.places.items() if name not in own}
    return asked


def _take(asked: Asked, option: AskedOption, facts: ServerFacts, known: Collection[str], file: str) -> None:
    family, name, value = of(facts.family), option.name, option.value
    if family.name == "mysql":
        server = server_named(f"{facts.flavour} {facts.version}")
        if not is_read(option.group, server):
            _leave_out(asked, f"{server.title} does not read its group [{option.group}]", name)
            return
        name, value = resolved(name, value, known, server)
    if option.loose and name not in known:
        _leave_out(asked, f"it is `loose`, and {facts.flavour} {facts.version} does not know it", name)
        return
    said = "ON" if value is None else value.replace("\n", " ")
    if name == "log_bin":
        said = "OFF" if same(said, "OFF") else "ON"  # the storage layout says where it lies
    elif _is_the_labs(name, said, family):
        _leave_out(asked, LAB, name)
        return
    if name in asked.variables and re.fullmatch(family.adds_up, name):
        said = f"{asked.variables[name]}\n{said}"
    asked.variables[name] = said
    asked.places[name] = f"{option.file or file}, line {option.line}"


def _is_the_labs(name: str, value: str, family: FamilyFacts) -> bool:
    ours = {family.memory_variable, *family.places}
    return name in ours or re.fullmatch(family.ours, name) is not None or _PATH.fullmatch(value) is not None


def _leave_out(asked: Asked, why: str, name: str) -> None:
    names = asked.left_out.setdefault(why, [])
    if name not in names:
        names.append(name)


def given_variables(study: Study, tuning: str, facts: ServerFacts) -> dict[str, str]:
    """Return the variables that a tuning asks of a server that is there already."""
    asked = asked_of(study.tunings[tuning], facts, of(facts.family).known)
    return study.variables(tuning, facts.family, asked.variables)


def server_variables(study: Study, tuning: str, server: ServerKind) -> Asked:
    """Return what a tuning asks of a server that the lab starts."""
    return asked_of(study.tunings[tuning], server.facts, server.known)


def left_out_in_words(tuning: str, server: str, asked: Asked) -> list[str]:
    """Return a line for each reason why options of a tuning's file are left out."""
    return [
        f"tuning `{tuning}` on server `{server}`: {', '.join(names)}: left out, because {why}"
        for why, names in asked.left_out.items()
    ]
