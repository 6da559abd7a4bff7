"""The check of placement: each open file of the server lies where its role was declared."""

from collections.abc import Callable, Iterable
from pathlib import Path

from diskproof.results.machine import Place
from diskproof.results.record import Role
from diskproof.results.trial import OpenFile


def prove_placement(
    files: Iterable[tuple[str, str]],
    role_of: Callable[[str], Role | None],
    folders: dict[Role, Path],
    places: list[Place],
    elsewhere: list[Path],
) -> list[OpenFile]:
    """Judge each open file, given as (path, ``major:minor``).

    `role_of` knows the server's files. A role's file must lie inside that role's folder and on that folder's
    device; a file of no role only in `elsewhere` (the folders of the trial's log and of the socket).
    """
    devices = {place.role: place.device_number for place in places}
    judged = []
    for path, device in files:
        role = role_of(path)
        if role is None:
            as_declared = _inside_any(path, elsewhere)
        else:
            as_declared = _inside_any(path, [folders[role]]) and device == devices[role]
        judged.append(OpenFile(path=path, role=role, device_number=device, as_declared=as_declared))
    return judged


def _inside_any(path: str, folders: Iterable[Path]) -> bool:
    # A deleted file's path still shows where it was made; the kernel adds this suffix.
    location = Path(path.removesuffix(" (deleted)"))
    return any(location.is_relative_to(folder) for folder in folders)
