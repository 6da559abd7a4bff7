"""What `zpool iostat -v` prints is added up by disk, whatever its names and units look like."""

from diskproof.results.machine import PoolPart
from diskproof.results.usage import PoolUse
from diskproof.storage.poolwatch import read_uses

PARTS: dict[str, PoolPart] = {"loop0": "data", "loop1": "data", "loop2": "log", "loop3": "cache"}

RULE = "----------  -----  -----  -----  -----  -----  -----"
HEAD = f"""\
               capacity     operations    bandwidth
pool        alloc   free   read  write   read  write
{RULE}
"""


def report(*, data: str, log: str, cache: str) -> str:
    """Return one report of a mirrored pool, as zfs-fuse prints it."""
    return f"""{HEAD}pool        49.3M   455M      9    999     9M   999M
  mirror    49.3M   455M      9    999     9M   999M
    /tmp/disks/loop0      -      -  {data}
    loop1       -      -  {data}
logs
  loop2         0   123M  {log}
cache           -      -      -      -      -      -
  loop3      182K   268M  {cache}
{RULE}

"""


def uses(said: str) -> dict[str, PoolUse]:
    return {use.device: use for use in read_uses(said, PARTS)}


def test_reports_are_added_up_but_for_the_first() -> None:
    told = uses(
        report(data="99 99 9M 9M", log="99 99 9M 9M", cache="99 99 9M 9M")
        + report(data="1 2 4K 8K", log="0 120 0 2.20M", cache="33 25 1.50M 200K")
        + report(data="3 4.97K 1G 0", log="0 0 0 0", cache="0 0 0 0")
    )
    assert told["loop0"] == PoolUse(
        part="data", device="loop0", reads=4, writes=5091, read_bytes=2**30 + 4096, written_bytes=8192
    )
    assert told["loop1"].writes == 5091
    assert (told["loop2"].part, told["loop2"].writes, told["loop2"].written_bytes) == ("log", 120, 2306867)
    assert (told["loop3"].reads, told["loop3"].read_bytes) == (33, 1572864)


def test_a_report_of_the_time_before_counts_nothing() -> None:
    assert uses(report(data="1 1 1 1", log="1 1 1 1", cache="1 1 1 1")) == {}


def test_a_daemon_that_dies_says_nothing_that_could_be_added() -> None:
    said = report(data="1 1 1 1", log="1 1 1 1", cache="1 1 1 1") + HEAD + "connect: Connection refused\n"
    assert uses(said) == {}
    assert uses("") == {}
