"""Checks of a plan before anything starts: the programs read what the study names."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from diskproof import disk, load
from diskproof.families import of
from diskproof.fio import program as fio
from diskproof.results.plan import Phases, Plan
from diskproof.run.dataset import DUMP, IMAGES, check_stopped, is_dumped
from diskproof.run.option_files import left_out_in_words, server_variables
from diskproof.server.base import ServerError, ServerKind
from diskproof.server.dumps import dump
from diskproof.storage.claims import check_claims
from diskproof.storage.kinds.base import resolved, same_file_system
from diskproof.study.loads.base import Load
from diskproof.study.loads.fileio import Fileio
from diskproof.study.loads.lua import Lua
from diskproof.study.loads.own_data import OwnData
from diskproof.study.loads.script import Script
from diskproof.study.model import Study
from diskproof.study.places import PlaceChoice
from diskproof.study.plan import placed
from diskproof.study.read import StudyError, StudyFile
from diskproof.study.servers import ServerChoice
from diskproof.system.temporary import temporary_folder
from diskproof.workload.arguments import check_arguments, prepare_arguments, run_arguments, verb_options
from diskproof.workload.fileio import descriptors

if TYPE_CHECKING:
    from diskproof.server.given import GivenServer


def check(
    file: StudyFile,
    plan: Plan,
    servers: Mapping[str, ServerKind],
    given: dict[str, "GivenServer"],
    images: Path,
) -> Iterator[str]:
    """Refuse what a run could only find out later; yield what must be known of it before.

    `images` is the folder of the loaded data sets.
    """
    check_claims(file.study, placed(file.study, plan))
    check_fio(file.study, plan)
    yield from check_variables(file.study, plan, servers)
    if given:
        from diskproof.run.given import check_given  # noqa: PLC0415 - it loads all that a trial needs

        yield from check_given(file.study, plan, given)
    if load.is_installed():
        yield from rehearse(file, plan, given, images)
    else:
        yield "diskproof-load is not installed, so the workloads were not checked"


def rehearse(
    file: StudyFile, plan: Plan, given: Mapping[str, "GivenServer"], images: Path = Path(IMAGES)
) -> list[str]:
    """Refuse now what the programs would refuse after the data sets are loaded.

    Return what of the user's SQL will be left out.
    """
    study = file.study
    _check_logs(study, plan)
    for name in dict.fromkeys(cell.storage for cell in plan.cells):
        for choice in study.places(name).values():
            for device in choice.virtual_disks:
                _check_disk(name, device)
    notes: list[str] = []
    rehearsed: set[tuple[str, str]] = set()
    for cell in plan.cells:
        name, workload = cell.workload, study.load(cell.workload)
        if not (workload.rehearses or isinstance(workload, Lua)):
            continue
        url, fenced = "null:", False
        if isinstance(workload, OwnData):
            server = study.servers[cell.server]
            fenced = server.is_given and not server.any_database
            url = _in_place_of(server, given.get(cell.server), workload.database)
        there = given.get(cell.server)
        if (name, cell.server if there else url) not in rehearsed:
            rehearsed.add((name, cell.server if there else url))
            phases = study.phases(name)
            notes += _rehearse_load(name, workload, phases, plan.seed, url, there, images, fenced=fenced)
    return list(dict.fromkeys(notes))


def _in_place_of(server: ServerChoice, given: "GivenServer | None", named: str | None) -> str:
    """Return the URL of no server, with what statements find on this one."""
    url = f"null:{of(server.family).protocol or server.family}"
    if given is None:
        return f"{url}?{urlencode({'database': named}, quote_via=quote)}" if named else url
    database, others = given.databases()
    return f"{url}?{urlencode([('database', database), *(('other', other) for other in others)])}"


def _rehearse_load(
    name: str,
    workload: Load,
    phases: Phases,
    seed: int,
    url: str,
    given: "GivenServer | None",
    images: Path,
    *,
    fenced: bool,
) -> list[str]:
    """Refuse a load by copies of its files, as its trials run it: another machine has no other ones.

    A `given` server reads its statements, too.
    """
    with temporary_folder() as copies:
        for file, content in workload.files_to_keep.items():
            (copies / file).write_bytes(content)
        try:
            if isinstance(workload, Lua):
                gaps = load.check_script(verb_options(workload, "prepare", copies))
                return [f"workload `{name}`: {gap}" for gap in gaps]
            clients = (workload.clients or [1])[0]
            arguments = run_arguments(workload, phases, clients, seed, copies, any_database=not fenced)
            load.rehearse(workload.kind, arguments, url)
            if isinstance(workload, Script) and given:
                arguments = check_arguments(
                    workload, copies, only_syntax=not given.read_only, any_database=not fenced
                )
                connection = given.open()
                connection.stop()  # diskproof-load makes its own
                load.check_statements(connection.url, arguments, connection.password)
            if isinstance(workload, OwnData) and workload.source:
                if is_dumped(images, workload):
                    return []
                dump(workload.source, copies / DUMP, only_tables=True)
                workload = workload.from_file(copies / DUMP)
            if isinstance(workload, OwnData) and workload.prepares and not workload.own_data:
                arguments = prepare_arguments(workload, seed, copies, any_database=not fenced)
                return [f"workload `{name}`: {line}" for line in load.rehearse_prepare(arguments, url)]
            return []  # noqa: TRY300
        except (load.LoadFailedError, ServerError) as error:
            why = str(error).replace(f"{copies}/", "").replace("--any-database", "`any_database = true`")
            raise StudyError(f"workload `{name}`: {why}") from None


def _check_logs(study: Study, plan: Plan) -> None:
    """Refuse a separate place for the redo log of a server that keeps its log beside its data."""
    for server, storage in dict.fromkeys(
        (cell.server, cell.storage) for cell in plan.cells if cell.has_server
    ):
        places = study.places(storage)
        family = study.servers[server].family
        if of(family).log_roles[0] == "data" and _lie_apart(storage, places["data"], places["redo"]):
            raise StudyError(
                f"`{server}` keeps its log beside its data, not on the `redo` of storage `{storage}`: leave "
                "that server out (`servers` of a workload, or of `[crash]`), or make two studies"
            )


def _lie_apart(storage: str, data: PlaceChoice, redo: PlaceChoice) -> bool:
    """Return whether two places are certain to be two file systems."""
    if data.directory is not None and redo.directory is not None:
        what = f"storage `{storage}`"
        return not same_file_system(resolved(what, data.directory), resolved(what, redo.directory))
    return data.key != redo.key


def check_variables(study: Study, plan: Plan, servers: Mapping[str, ServerKind]) -> list[str]:
    """Refuse what a server does not take, before it gets its data; return what it does not get."""
    notes: list[str] = []
    refused: list[str] = []
    for name, workload in dict.fromkeys((cell.server, cell.workload) for cell in plan.cells):
        if name in servers and study.load(workload).preloads and (why := servers[name].why_no_preload()):
            raise StudyError(f"workload `{workload}` cannot `preload` on server `{name}`: {why}")
        own = study.load(workload).own_data
        if name in servers and own:
            check_stopped(own)
            servers[name].check_data(own)
    for name, tuning in dict.fromkeys((cell.server, cell.tuning) for cell in plan.cells):
        if name in servers:
            asked = server_variables(study, tuning, servers[name])
            try:
                servers[name].check_variables(asked.variables, asked.places)
            except ServerError as error:
                refused.append(f"tuning `{tuning}` on server `{name}`: {error}")
            notes += left_out_in_words(tuning, name, asked)
    if refused:
        raise StudyError("\n".join([*refused, *notes]))
    return notes


def check_fio(study: Study, plan: Plan) -> None:
    """Refuse loads on bare files if fio is missing, too old, or may not open their files."""
    bare = [cell for cell in plan.cells if not cell.has_server]
    if bare:
        fio.version()
    for cell in bare:
        workload = study.load(cell.workload)
        if isinstance(workload, Fileio):
            fio.check_threads(cell.clients)
            fio.check_descriptors(descriptors(workload, cell.clients))


def _check_disk(storage: str, device: str) -> None:
    """Refuse an unknown virtual disk, or one with a wrong device file."""
    if not disk.is_installed():
        return  # the run reports it, with its remedy
    try:
        disk.show(device)
    except disk.DiskError as error:
        raise StudyError(f"storage `{storage}`: {error}") from None
