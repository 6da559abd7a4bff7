"""A sysbench script in Lua."""

import hashlib
import re
from collections.abc import Iterator, Mapping
from functools import partial
from pathlib import Path
from typing import Annotated, ClassVar, Literal

from pydantic import BeforeValidator, ByteSize, Field, PrivateAttr, StringConstraints

from diskproof.reading import UnreadableError, read_bytes
from diskproof.results.size import Size
from diskproof.study.loads.base import Option, Steady
from diskproof.study.loads.described import described
from diskproof.study.part import PATH, Finite, KeptFile, kept_file
from diskproof.wording import Message, say

MAX_LUA_BYTES = 4 * 2**20

SYSBENCH_FOLDERS = (Path("/usr/share/sysbench"), Path("/usr/local/share/sysbench"))
"""Where sysbench keeps its own scripts: diskproof-load looks there, too."""

REQUIRED = re.compile(r"""\b(?:require|dofile|loadfile)\s*\(?\s*["']([\w./-]+)["']""")
"""A module that a script names."""

COMMENT = re.compile(r"--(?:\[(=*)\[.*?\]\1\]|[^\n]*)", re.DOTALL)


_lua_file = partial(kept_file, most_bytes=MAX_LUA_BYTES, what="a script, such as `orders.lua`")
ScriptFile = Annotated[KeptFile, BeforeValidator(_lua_file), PATH]

OptionName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_-]*$")]


@described("lua", only=("protocol", "distribution"))
class Lua(Steady):
    """A sysbench script in Lua, as it stands (docs/lua.md)."""

    kind: Literal["lua"] = Field(description="Kind of workload")
    script: Annotated[ScriptFile, Option(("prepare", "run"), "SCRIPT")] = Field(
        description="The script. A relative path starts at the study file's folder. The modules that it "
        "requires lie beside it, unless sysbench has them"
    )
    options_: Annotated[
        dict[OptionName, bool | int | float | str], Finite, Option(("prepare", "run"), "option")
    ] = Field(
        {},
        alias="options",
        description="The script's own options, such as `{ tables = 4, table_size = 100000 }`",
    )
    prepare: bool = Field(True, description="Whether the script's command `prepare` makes the tables")
    size: Size = Field(
        ByteSize(256 * 2**20),
        description="About the largest size of the tables on disk: so much must be free",
    )
    rehearses: ClassVar[bool] = False
    sends_own_sql: ClassVar[bool] = True
    _kept_modules: dict[str, bytes] = PrivateAttr(default_factory=dict)

    def _check_whole(self) -> None:
        super()._check_whole()
        folder = self.script.path.parent
        self._kept_modules.update(_modules(self.script.content, folder, set()))
        for name in self._kept_modules:
            if "/" in name:
                raise ValueError(f"{name}: a module in another folder is not kept; put it beside the script")

    @property
    def in_short(self) -> Message:
        """What its statements are."""
        return say("the events of {script}", script=self.script.path.name)

    @property
    def prepares(self) -> bool:
        """Whether the script makes its tables."""
        return self.prepare

    @property
    def data_bytes(self) -> int:
        """Room for what the script makes."""
        return self.size + super().data_bytes

    @property
    def files_to_keep(self) -> Mapping[str, bytes]:
        """The script and its modules: a report must be repeatable."""
        return {self.script.path.name: self.script.content, **self._kept_modules}

    @property
    def why_it_writes(self) -> str:
        """Nobody can tell from a script what it will send."""
        return "a script in Lua may send anything"

    @property
    def data_identity(self) -> list[str]:
        """The contents of the script and of its modules."""
        return [hashlib.sha256(content).hexdigest() for content in self.files_to_keep.values()]


def _modules(script: bytes, folder: Path, seen: set[str]) -> Iterator[tuple[str, bytes]]:
    """Yield what a script requires and what that requires; sysbench's own names are no files."""
    text = COMMENT.sub(" ", script.decode(errors="replace"))
    for name in REQUIRED.findall(text):
        if name in seen:
            continue
        seen.add(name)
        path = name if name.endswith(".lua") else f"{name.replace('.', '/')}.lua"
        for place in (folder, *SYSBENCH_FOLDERS):
            try:
                content = read_bytes(place / path, MAX_LUA_BYTES)
            except UnreadableError:
                continue
            yield path, content
            yield from _modules(content, folder, seen)
            break
