"""sysbench's fileio: a storage's own file I/O, without a database."""

from typing import ClassVar, Literal

from pydantic import ByteSize, Field

from diskproof.results.plan import Metric
from diskproof.results.size import Size
from diskproof.study.loads.base import Timed
from diskproof.wording import Message, bytes_, numbers, say

Mode = Literal["rndrd", "rndwr", "rndrw", "seqrd", "seqwr"]

REQUESTS: dict[Mode, str] = {
    "rndrd": "random reads",
    "rndwr": "random writes",
    "rndrw": "random reads and writes",
    "seqrd": "reads in sequence",
    "seqwr": "writes in sequence",
}
"""What each mode does."""

SYNC_EVERY = 100
"""sysbench's --file-fsync-freq by its default, for the modes that write at random."""

SYNCED_MODES: tuple[Mode, ...] = ("rndwr", "rndrw")

MAX_FILES = 1_000
"""fio takes their names on one line of 8 KiB."""

SECTOR_BYTES = 512

METADATA_BYTES = 8 * 2**20
"""The metadata of some files, with room to spare."""


class Fileio(Timed):
    """sysbench's fileio on bare files of the storage, without any server: made by fio.

    `seqrd` and `seqwr` through the page cache (`direct = false`) are one pass, as `dd` makes it.
    """

    needs_server: ClassVar[bool] = False
    rehearses: ClassVar[bool] = False
    sized_by: ClassVar[tuple[str, ...]] = ("files", "file_bytes")
    kind: Literal["fileio"] = Field(description="Kind of workload")
    mode: Mode = Field(
        description="sysbench's words: `rnd` at random or `seq` in sequence; `rd` reads, `wr` writes, `rw` "
        "three reads to two writes. All use files that already exist"
    )
    total_size: Size = Field(
        ByteSize(2 * 2**30),
        ge=2**20,
        description="Size of all files together; a virtual disk needs no memory for them",
    )
    files: int = Field(128, ge=1, le=MAX_FILES, description="Number of files, all of one size")
    block_size: Size = Field(
        ByteSize(16 * 2**10), ge=SECTOR_BYTES, le=64 * 2**20, description="Bytes of a request"
    )
    sync_every: int | None = Field(
        None,
        ge=0,
        le=1_000_000,
        description="Requests of all clients together after which every file is synced; 0: "
        f"never. Default: {SYNC_EVERY} for `rndwr` and `rndrw`, as in sysbench 0.4, and 0 for the others",
    )
    direct: bool = Field(True, description="Bypass the page cache (O_DIRECT)")

    def _check_whole(self) -> None:
        for key in ("servers", "tunings"):
            if getattr(self, key) is not None:
                raise ValueError(f"`{key}`: a load on bare files has no server: leave it out")
        if self.sync_every and not self.writes:
            raise ValueError(f"`sync_every`: `{self.mode}` writes nothing that could be synced: leave it out")
        if self.total_size < self.files * self.block_size:
            raise ValueError(
                f"`total_size` of {numbers.size(self.total_size)} is less than one block of "
                f"{numbers.size(self.block_size)} for each of {self.files} files: a larger `total_size`, or "
                "fewer `files`"
            )
        if self.direct and self.block_size % SECTOR_BYTES:
            kib, rest = divmod(int(self.block_size), 1000)  # `4k` is 4000 bytes, and meant otherwise
            meant = f"did you mean `{kib} KiB`?" if not rest else "another size, or `direct = false`"
            raise ValueError(
                f"`block_size` of {self.block_size} bytes: what passes the page cache by comes in whole "
                f"sectors of {SECTOR_BYTES} bytes; {meant}"
            )
        if self.is_pass and self.warm_up_s:
            raise ValueError(
                "`warm_up_s`: one pass through the page cache has no warm-up, which would fill the cache: "
                "leave it out, or set `direct = true`"
            )

    @property
    def begins_cold(self) -> bool:
        """A pass has no warm-up."""
        return self.is_pass

    @property
    def is_pass(self) -> bool:
        """Whether it ends after one pass over all files, with a sync of what is cached."""
        return self.mode in ("seqrd", "seqwr") and not self.direct

    @property
    def at_random(self) -> bool:
        """Whether its requests are at random offsets."""
        return self.mode not in ("seqrd", "seqwr")

    @property
    def syncs_every(self) -> int:
        """Requests between two syncs of all files; 0: never."""
        if self.sync_every is not None:
            return self.sync_every
        return SYNC_EVERY if self.mode in SYNCED_MODES else 0

    @property
    def blocks_per_file(self) -> int:
        """Whole blocks of a file."""
        return int(self.total_size) // self.files // int(self.block_size)

    @property
    def file_bytes(self) -> int:
        """Size of a file."""
        return self.blocks_per_file * int(self.block_size)

    @property
    def in_short(self) -> Message:
        """What its requests are."""
        return say(
            "{what} of {size} in files, without a database",
            what=REQUESTS[self.mode],
            size=bytes_(self.block_size),
        )

    @property
    def data_bytes(self) -> int:
        """Size of the files and of their metadata."""
        return self.files * self.file_bytes + METADATA_BYTES

    @property
    def held_bytes(self) -> int:
        """What a virtual disk keeps of them: blocks of zeroes are not kept."""
        return METADATA_BYTES

    @property
    def writes(self) -> bool:
        """Whether the mode writes."""
        return self.mode not in ("rndrd", "seqrd")

    @property
    def metric(self) -> Metric:
        """Reads and writes a second, syncs not counted."""
        return "requests_per_s"
