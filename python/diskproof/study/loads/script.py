"""The user's own SQL."""

from collections.abc import Mapping
from typing import Annotated, ClassVar, Literal

from pydantic import Field, StringConstraints

from diskproof.study.loads.base import Option, Steady
from diskproof.study.loads.described import described
from diskproof.study.loads.own_data import OwnData, Sql
from diskproof.study.part import Finite

Variable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


@described("script", only=("protocol",))
class Script(OwnData, Steady):
    """The user's own SQL with pgbench's variables (docs/scripts.md)."""

    does: ClassVar[str] = "your own SQL"
    kind: Literal["script"] = Field(description="Kind of workload")
    files: Annotated[list[Sql], Option(("check", "run"), "file")] = Field(
        min_length=1,
        description="Files of SQL, a transaction each; `hot.sql@9` is chosen nine times as often as one "
        "without a weight. A relative path starts at the study file's folder",
    )
    variables: Annotated[
        dict[Variable, int | float], Finite, Option(("prepare", "check", "run"), "variable")
    ] = Field({}, description="Variables of the scripts, such as `{ rows = 100000 }`")
    sends_own_sql: ClassVar[bool] = True

    def _check_whole(self) -> None:
        super()._check_whole()
        paths = [file.path for file in self.files] + ([self.prepare.path] if self.prepare else [])
        names = [path.name for path in dict.fromkeys(paths)]
        if len(set(names)) != len(names):
            raise ValueError("two files of one workload have the same name: rename one of them")

    @property
    def files_to_keep(self) -> Mapping[str, bytes]:
        """The scripts, too."""
        return {**super().files_to_keep, **{file.path.name: file.content for file in self.files}}
