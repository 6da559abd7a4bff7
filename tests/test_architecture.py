"""The floors of ARCHITECTURE.md hold: an import goes down the house, never up."""

import ast
from collections.abc import Iterable
from functools import cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1] / "python" / "diskproof"

FLOORS = [
    {"refusal", "visible", "wording"},
    {"reading"},
    {"results", "stats"},
    {"families", "history"},
    {"database"},
    {"system"},
    {"study", "load", "disk", "fio"},
    {"workload", "storage", "server", "importers"},
    {"audit", "crash"},
    {"analysis"},
    {"run", "profile", "report"},
    {"hosts", "site"},
    {"cli"},
]
"""From the ground up; a room may use the rooms below it, and itself."""

PURE = ("wording", "stats", "families", "audit", "analysis")
SIDE_EFFECTS = {"os", "subprocess", "socket", "shutil", "psutil", "pymysql", "psycopg", "requests"}

DRIVERS = {"subprocess", "socket", "psutil", "pymysql", "psycopg"}
"""A pure room loads none of these, and none of the rooms that use them, through any chain of imports."""
IMPURE = {
    "database",
    "system",
    "server",
    "storage",
    "load",
    "disk",
    "fio",
    "run",
    "profile",
    "crash",
    "hosts",
    "site",
    "cli",
}


def floor_of(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


@cache
def nodes(path: Path) -> list[ast.AST]:
    return list(ast.walk(ast.parse(path.read_text())))


@cache
def imports(path: Path) -> frozenset[str]:
    found = set()
    for node in nodes(path):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return frozenset(found)


SOURCES = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__")]


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(PACKAGE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in SOURCES}


def loads(name: str) -> list[str]:
    """Return the modules that an import of `name` loads: itself and the packages it lies in."""
    parts = name.split(".")
    return [name for end in range(len(parts)) if (name := ".".join(parts[: end + 1])) in MODULES]


def chains(path: Path) -> dict[str, list[str]]:
    """Return everything that a module loads, each with the chain of modules through which it does."""
    begun = module_of(path)
    found = {begun: [begun]}
    waiting = [begun]
    while waiting:
        module = waiting.pop()
        for name in sorted(imports(MODULES[module])):
            ours = loads(name)
            for loaded in ours if name.startswith("diskproof") else [name.split(".")[0]]:
                if loaded not in found:
                    found[loaded] = [*found[module], loaded]
                    waiting += [loaded] if loaded in MODULES else []
    return found


def rooms_of(names: Iterable[str]) -> set[str]:
    return {name.split(".")[1] for name in names if name.startswith("diskproof.")}


def test_imports_go_down() -> None:
    upward = [
        (path, room)
        for path in SOURCES
        for room in rooms_of(imports(path)) - {room_of(path), "__version__"}
        if floor_of(room) >= floor_of(room_of(path))
    ]
    assert not upward


STARTING = PACKAGE / "system" / "programs.py"


def test_programs_start_in_one_way() -> None:
    """Each has the run's mark, a death signal, a session of its own, and no password."""
    starters = {"subprocess", "pty", "multiprocessing"}
    assert [path for path in SOURCES if imports(path) & starters] == [STARTING]


PURE_SOURCES = [path for path in SOURCES if room_of(path) in PURE]


def test_statistics_and_checks_do_no_io() -> None:
    io = [
        (path, node.lineno)
        for path in PURE_SOURCES
        for node in nodes(path)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Name)
        and node.func.id in {"open", "print"}
    ]
    drivers = [path for path in PURE_SOURCES if {name.split(".")[0] for name in imports(path)} & SIDE_EFFECTS]
    assert not io + drivers


def test_only_rooms_that_write_ask_for_the_words_of_a_message() -> None:
    asked = [
        (path, node.lineno)
        for path in PURE_SOURCES
        if room_of(path) != "wording"
        for node in nodes(path)
        if isinstance(node, ast.Attribute) and node.attr == "text"
    ]
    assert not asked


def test_pure_rooms_load_no_driver_through_any_import() -> None:
    wrong = [
        " -> ".join(chain)
        for path in PURE_SOURCES
        for name, chain in chains(path).items()
        if name in DRIVERS or rooms_of([name]) & IMPURE
    ]
    assert not wrong


def test_every_room_stands_on_a_floor_and_in_the_map() -> None:
    rooms = {room_of(path) for path in SOURCES}
    assert rooms == set().union(*FLOORS)
    the_map = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text()
    assert not {room for room in rooms if f"  {room}/" not in the_map and f"  {room}.py" not in the_map}


WRITERS = [*(PACKAGE / "report" / "write").glob("*.py"), PACKAGE / "report" / "document.py"]


def test_writers_know_nothing_of_databases() -> None:
    allowed = ("document", "one_screen", "write", "ratio_scale")
    for path in WRITERS:
        ours = {name for name in imports(path) if name.startswith("diskproof.")}
        assert rooms_of(ours) <= {"report", "visible", "wording"}, path
        of_report = {name for name in ours if name.startswith("diskproof.report.") and name.count(".") == 2}
        assert of_report <= {f"diskproof.report.{name}" for name in allowed}, path


READERS = ("study", "importers", "results", "fio", "site", "cli")
"""Rooms that read what others made, all through `diskproof.reading`."""

WRITING = {PACKAGE / file for file in ("results/durable.py", "cli/__init__.py", "cli/disk/files.py")}
"""They open what they write, and /dev/null."""

OPENING = {"open", "fdopen", "read_text", "read_bytes", "read_table", "memory_map"}


def test_files_from_outside_are_read_by_one_function() -> None:
    readers = [path for path in SOURCES if room_of(path) in READERS and path not in WRITING]
    opened = [
        (path, node.lineno)
        for path in readers
        for node in nodes(path)
        if isinstance(node, ast.Call) and opens(node.func)
    ]
    assert not opened


def opens(function: ast.expr) -> bool:
    match function:
        case ast.Attribute(value=value, attr=name):
            return name in OPENING and not (isinstance(value, ast.Name) and value.id == "RunFolder")
        case ast.Name(id=name):
            return name == "open"
    return False


def test_temporary_places_are_on_record() -> None:
    """A kill leaves nothing behind that the next command would not remove."""
    allowed = PACKAGE / "system" / "temporary.py"
    assert [path for path in SOURCES if imports(path) & {"tempfile"}] == [allowed]
