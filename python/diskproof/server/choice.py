"""Which of a study's servers this machine has: an optional one that it lacks is left out of the study."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TypeVar

from diskproof.server.base import ServerKind, ServerNotFoundError
from diskproof.server.program import ProgramKind
from diskproof.server.registry import find
from diskproof.study.crash import ControlChoice, CrashChoice, DocumentedChoice
from diskproof.study.loads.base import Load
from diskproof.study.model import Study
from diskproof.study.program import ProgramChoice
from diskproof.study.read import StudyError, StudyFile
from diskproof.study.servers import ServerChoice
from diskproof.study.tuning import Tuning
from diskproof.system.own_folder import expanded

Name = TypeVar("Name", bound=str)
Key = TypeVar("Key", str, int)
Served = TypeVar("Served", Load, Tuning, CrashChoice, ControlChoice, DocumentedChoice)


def find_chosen(name: str, choice: ServerChoice, program: ProgramChoice | None = None) -> ServerKind:
    """Find the server that a study has chosen under this name; ServerNotFoundError says what to do."""
    if program is not None:
        return ProgramKind(name, program)
    return find(choice.family, choice.basedir, name=name, flavour=choice.flavour, image=choice.image)


def with_present_servers(file: StudyFile, basedirs: Sequence[str] = ()) -> StudyFile:
    """Return the study without the optional servers that this machine lacks, with a note on each.

    `basedirs` are texts ``NAME=DIR``: the folders of servers. One that was named so is no longer optional,
    and may be of any flavour: a wrong folder is refused. StudyError where a text names no server of the
    study, ServerNotFoundError where no server is left.
    """
    folders = named_folders(basedirs, tuple(file.study.servers), whose=file.name)
    study = _in_folders(file.study, folders)
    missing: dict[str, ServerNotFoundError] = {}
    for name, choice in study.servers.items():
        if choice.optional:
            try:
                find_chosen(name, choice)
            except ServerNotFoundError as error:
                missing[name] = error
    left = _without(study, missing)
    if missing and not (left.servers and (left.workloads or left.crash)):
        raise next(iter(missing.values()))
    notes = [f"server `{name}` is optional and left out: {error}" for name, error in missing.items()]
    return replace(file, study=left, left_out=tuple(missing), notes=(*notes, *file.notes))


def named_folders(given: Sequence[str], known: Sequence[Name], whose: str) -> dict[Name, Path]:
    """Return the folders of servers from texts ``NAME=DIR``.

    `whose` are the names that are `known`: those of a study, or diskproof's own. StudyError for any other.
    """
    folders: dict[Name, Path] = {}
    for text in given:
        named, equals, folder = text.partition("=")
        if not (named and equals and folder):
            raise StudyError(f"--basedir {text}: write the name of a server and its folder, NAME=DIR")
        name = next((one for one in known if one == named), None)
        if name is None:
            raise StudyError(f"--basedir {text}: {whose} has no server `{named}`; it has {', '.join(known)}")
        if name in folders:
            raise StudyError(f"--basedir {text}: server `{name}` has a folder already, {folders[name]}")
        folders[name] = expanded(Path(folder)).absolute()
    return folders


def _in_folders(study: Study, folders: Mapping[str, Path]) -> Study:
    servers = {
        name: choice.model_copy(
            update={"basedir": folders[name], "image": None, "optional": False, "flavour": None}
        )
        if name in folders
        else choice
        for name, choice in study.servers.items()
    }
    return study.model_copy(update={"servers": servers})


def _without(study: Study, missing: Collection[str]) -> Study:
    """Return the study without some servers, and without what only those would run."""
    changes = {
        "servers": {name: choice for name, choice in study.servers.items() if name not in missing},
        "workloads": _for_others(study.workloads, missing),
        "tunings": _for_others(study.tunings, missing),
    }
    if study.crash is not None:
        changes["crash"] = _cuts_for_others(study.crash, missing)
    return study.model_copy(update=changes)


def _cuts_for_others(crash: CrashChoice, missing: Collection[str]) -> CrashChoice | None:
    documented = _for_others(dict(enumerate(crash.documented)), missing)
    controls = _for_others(dict(enumerate(crash.controls)), missing)
    said = {"documented": list(documented.values()), "controls": list(controls.values())}
    return _for_others({"crash": crash.model_copy(update=said)}, missing).get("crash")


def _for_others(parts: Mapping[Key, Served], missing: Collection[str]) -> dict[Key, Served]:
    """Return the parts of a study that are for a server that is not missing, each for those alone."""
    kept = {}
    for key, part in parts.items():
        if part.servers is None:
            kept[key] = part
        elif others := [server for server in part.servers if server not in missing]:
            kept[key] = part.model_copy(update={"servers": others})
    return kept
