"""`diskproof init`: a first study."""

import json
import os
import re
from collections.abc import Sequence
from difflib import get_close_matches
from pathlib import Path

from diskproof import disk
from diskproof.cli.plan import check_as_run
from diskproof.cli.screen import say
from diskproof.families import FAMILIES, Family, of
from diskproof.families.address import parse
from diskproof.history.shelf import RUNS
from diskproof.refusal import RefusalError
from diskproof.results.durable import write_whole
from diskproof.server.base import ServerNotFoundError
from diskproof.server.registry import installed
from diskproof.storage.places import check
from diskproof.study.places import PlaceChoice, PlaceKind
from diskproof.study.plan import make_plan
from diskproof.study.read import StudyFile, parse_study
from diskproof.system.programs import NOT_INHERITED

STORAGES = ("ram", ".diskproof/disk")
ROOM = "2 GiB"

TEMPLATE = """\
# `diskproof plan {file}` shows what it does and how long it takes; `diskproof run {file}` runs it.
# `diskproof schema` has every option.
question = "How fast is {server} on {storages}, with durable commits and without?"

[design]
blocks = 5           # passes over all cells (combinations), each in a new random order
warm_up_s = 2
measure_s = 5        # longer trials are surer; a disk that slows down under load needs minutes
clients = [1, 8]
memory = ["128 MiB"] # buffer pool; with more data than that, reads reach the storage, too

[servers.{server}]
family = "{family}"

{places}
[tunings.safest]     # meant to keep every commit at a power cut
[tunings.fast]       # a power cut may take the last moments

"""

GIVEN = """\
# `diskproof plan {file}` shows what it does and how long it takes; `diskproof run {file}` runs it.
# `diskproof schema` has every option.
question = "How fast is this server with 8 clients?"

[design]
blocks = 5           # measurements, each on data that are loaded anew
warm_up_s = 5
measure_s = 20
clients = [8]

[servers.mine]
url = {url}
{password}
"""

WORKLOAD = """\
[workloads.complex]
kind = "oltp"        # sysbench's transactions; kind = "script" runs your own SQL
mix = "complex"
tables = 4
rows = 70_000        # in each table: about 64 MB of data
"""


Storage = tuple[str, PlaceKind, str]
"""Its name in the study, its kind, and what it is."""


def init(
    study: Path = Path("study.toml"),
    /,
    *,
    storage: list[str] | None = None,
    server: str | None = None,
) -> None:
    """Write a first study, with comments.

    Parameters
    ----------
    study
        The study file to write; an existing file is never overwritten.
    storage
        What to compare: a directory on a disk, a virtual disk (`diskproof disk list`), or `ram`; can be
        repeated. Default: main memory and a directory here.
    server
        Server to test: `mysql`, `postgresql` or `sqlite`; default: the first that is installed. Or the URL of
        a database of a server that is there already: `mysql://USER@HOST/DATABASE`. If it has a password, set
        DISKPROOF_PASSWORD.

    """
    _check_new(study)
    if server is not None and "://" in server:
        if storage:
            raise RefusalError("a server with a URL stays where it is: leave --storage out")
        text = _given_study(study, server)
    else:
        text = _study(study, _storages(storage or STORAGES), _family(server))
    file = StudyFile(study.stem, text, parse_study(text, str(study)))
    try:
        check_as_run(file, make_plan(file), RUNS)
    except ServerNotFoundError as refused:
        named = (
            "" if NOT_INHERITED in os.environ else f"; set {NOT_INHERITED}, and the study names that variable"
        )
        raise RefusalError(
            f"{refused}{named if file.study.servers and 'password_env' in str(refused) else ''}"
        ) from None
    _check_new(study)
    write_whole(study, text)
    say(f"{study} is written. Next: `diskproof plan {study}`, then `diskproof run {study}`")


def _check_new(study: Path) -> None:
    if study.exists() or study.is_symlink():
        raise RefusalError(
            f"{study} exists and is not overwritten: name another file, such as {study.stem}-2.toml"
        )
    if study.suffix != ".toml":
        raise RefusalError(f"{study}: a study file ends in .toml: name it {study}.toml")
    if not study.parent.is_dir():
        raise RefusalError(f"{study.parent} is no folder; make it first")


# ---------------------------------------------------------------- answers


def _storages(words: Sequence[str]) -> list[Storage]:
    storages: list[Storage] = []
    for word in dict.fromkeys(words):
        kind, what = _place(word)
        name = _name(word, [name for name, *_ in storages])
        check(name, PlaceChoice.model_validate({kind: what}), 0)
        storages.append((name, kind, what))
    return storages


def _place(word: str) -> tuple[PlaceKind, str]:
    devices = [device["name"] for device in disk.devices()] if disk.is_installed() else []
    if word == "ram":
        return "ram", ROOM
    if word in devices or word.endswith(".toml"):
        return "virtual", word
    if "://" in word:
        raise RefusalError(f"{word} is a server, not a storage: `diskproof init --server {word}`")
    if word.startswith("/dev/"):
        raise RefusalError(f"{word} is a device: mount it, and name a directory on it")
    if "/" in word or word.startswith((".", "~")):
        return "directory", word
    near = get_close_matches(word, [*devices, "ram"], n=1)
    meant = f"did you mean `{near[0]}`?" if near else "`diskproof disk list` shows the virtual disks"
    raise RefusalError(f"`{word}` is not `ram`, no virtual disk and no path such as `./{word}`; {meant}")


def _name(word: str, taken: Sequence[str]) -> str:
    """Return a storage's name: its disk's, or the last part of its path that says something."""
    parts = [part for part in Path(word).parts if part.strip("./~") not in ("", "diskproof")]
    plain = (
        re.sub(r"[^A-Za-z0-9-]+", "-", Path(parts[-1]).stem if parts else "here").strip("-")[:30] or "here"
    )
    return plain if plain not in taken else f"{plain}-{len(taken) + 1}"


def _family(answer: str | None) -> Family:
    if answer is None:
        return next((found.family for found in installed() if found.facts), "sqlite")
    for family in FAMILIES:
        if answer.lower() in (family, *of(family).called):
            return family
    raise RefusalError(f"`{answer}` is no server: give {', '.join(FAMILIES)}")


# ---------------------------------------------------------------- the file


def _study(study: Path, storages: Sequence[Storage], family: Family) -> str:
    names = [name for name, *_ in storages]
    called = next((one.facts.flavour for one in installed() if one.family == family and one.facts), family)
    return (
        TEMPLATE.format(
            file=study,
            storages=" and ".join(filter(None, [", ".join(names[:-1]), names[-1]])),
            server=called.lower().replace(" ", "-"),
            family=family,
            places="\n".join(_place_lines(*one) for one in storages),
        )
        + WORKLOAD
    )


def _given_study(study: Path, url: str) -> str:
    try:
        parse(url)
    except ValueError as wrong:
        there = f"; `init` finds it in {NOT_INHERITED}" if "password" in str(wrong) else ""
        raise RefusalError(f"--server: {wrong}{there}") from None
    password = f'password_env = "{NOT_INHERITED}"\n' if NOT_INHERITED in os.environ else ""
    return GIVEN.format(file=study, url=json.dumps(url), password=password) + WORKLOAD


def _place_lines(name: str, kind: PlaceKind, what: str) -> str:
    size = f'size = "{ROOM}"\n' if kind == "virtual" else ""
    return f"[storages.{name}]\n{kind} = {json.dumps(what)}\n{size}"
