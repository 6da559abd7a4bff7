"""A page that was half written when the power failed: damage without full pages in the log, none with."""

import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from diskproof.results.cut import CutTrial
from diskproof.results.folder import RunFolder
from support.command import diskproof_here
from support.virtual import needs_virtual_disks

pytestmark = [
    needs_virtual_disks,
    pytest.mark.skipif(
        not list(Path("/usr/lib/postgresql").glob("*/bin/postgres")), reason="no PostgreSQL here"
    ),
    pytest.mark.timeout(300),
]

OFF = "postgresql/disk/off"

STUDY = """
question = "Does a torn page damage a database?"
[design]
memory = ["8 MiB"]
[servers.postgresql]
family = "postgresql"
[storages.disk]
virtual = "desktop-7200"
size = "500 MiB"
[tunings.on]
base = "fast"
[tunings.on.variables]
full_page_writes = true
bgwriter_delay = "10ms"
bgwriter_lru_maxpages = 1000
bgwriter_flush_after = "8kB"
backend_flush_after = "8kB"
[tunings.off]
base = "fast"
[tunings.off.variables]
full_page_writes = false
bgwriter_delay = "10ms"
bgwriter_lru_maxpages = 1000
bgwriter_flush_after = "8kB"
backend_flush_after = "8kB"
[crash]
cuts = 1
clients = 16
accounts = 15_000
filler_bytes = 1000
keep = "subset"
cut_after_s = 1.0
cut_before_s = 1.5
[[crash.controls]]
tunings = ["off"]
must = "break"
[[crash.documented]]
tunings = ["on"]
says = "may lose"
[[crash.documented]]
tunings = ["off"]
says = "may corrupt"
"""

TRIES = ("1", "2", "4")
"""Cuts of each level. Chance decides which writes are torn: mostly one cut is enough for both."""


@pytest.fixture
def folder() -> Iterator[Path]:
    """A folder that PostgreSQL's own user reaches."""
    with tempfile.TemporaryDirectory(prefix="diskproof-tests-") as path:
        Path(path).chmod(0o755)
        yield Path(path)


def test_a_torn_page_damages_what_has_no_full_pages_and_nothing_else(folder: Path) -> None:
    (folder / "study.toml").write_text(STUDY)
    for tries in TRIES:
        done = diskproof_here(folder, "crash", "study.toml", "--cuts", tries)
        cuts = RunFolder.open(max((folder / "runs" / "study").glob("*"))).cuts()
        assert all(cut.tells for cut in cuts), [cut.findings for cut in cuts]
        broken = [cut for cut in cuts if cut.is_damaged]
        assert {cut.cell for cut in broken} <= {OFF}, done.stdout
        assert all(torn(cut) for cut in broken), "the log goes before the pages: whole ones cannot harm"
        assert done.returncode == (0 if broken else 10)  # the control: without full pages it must break
        assert ("a control failed" in done.stderr) == (not broken)
        if broken and any(torn(cut) for cut in cuts if cut.cell != OFF):
            noticed = broken[0].recovery
            assert noticed
            told = [*noticed.complaints, *noticed.damaged_tables]  # the log's, though no server came up
            assert any("invalid page in block" in line for line in told), noticed
            return
    pytest.fail("of all these cuts none tore a page that counted")


def torn(cut: CutTrial) -> int:
    [disk] = cut.disks
    return disk.torn_writes
