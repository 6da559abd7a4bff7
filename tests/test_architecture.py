"""The floors of ARCHITECTURE.md hold: an import goes down the house, never up."""

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[1] / "python" / "diskproof"

FLOORS = [
    {"refusal"},
    {"results", "stats"},
    {"system"},
    {"study", "load", "disk", "fio"},
    {"workload", "storage", "server", "importers"},
    {"audit"},
    {"analysis"},
    {"run", "profile", "report"},
    {"crash"},
    {"cli"},
]
"""From the ground up; a room may use the rooms below it, and itself."""

PURE = ("stats", "audit", "analysis")
SIDE_EFFECTS = {"os", "subprocess", "socket", "shutil", "psutil", "pymysql", "psycopg", "requests"}


def floor_of(room: str) -> int:
    return next(number for number, rooms in enumerate(FLOORS) if room in rooms)


def room_of(path: Path) -> str:
    return path.relative_to(PACKAGE).parts[0].removesuffix(".py")


def imports(path: Path) -> set[str]:
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module:
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
        elif isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
    return found


SOURCES = [path for path in PACKAGE.rglob("*.py") if path.parent != PACKAGE or not path.name.startswith("__")]


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: str(path.relative_to(PACKAGE)))
def test_imports_go_down(path: Path) -> None:
    own = room_of(path)
    rooms = {
        name.split(".")[1] for name in imports(path) if name.startswith("diskproof.") and name.count(".")
    }
    for room in rooms - {own, "__version__"}:
        assert floor_of(room) < floor_of(own), f"{own} may not use {room}"


@pytest.mark.parametrize(
    "path", [path for path in SOURCES if room_of(path) in PURE], ids=lambda path: path.name
)
def test_statistics_and_checks_do_no_io(path: Path) -> None:
    assert not {name.split(".")[0] for name in imports(path)} & SIDE_EFFECTS
    calls = {
        node.func.id
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    }
    assert not calls & {"open", "print"}


def test_every_room_stands_on_a_floor_and_in_the_map() -> None:
    rooms = {room_of(path) for path in SOURCES}
    assert rooms == set().union(*FLOORS)
    the_map = (PACKAGE.parents[1] / "ARCHITECTURE.md").read_text()
    assert not {room for room in rooms if f"  {room}/" not in the_map and f"  {room}.py" not in the_map}
