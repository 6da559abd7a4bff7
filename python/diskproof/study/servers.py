"""Servers in a study file: those that the lab finds and starts, and those that are there already."""

from typing import Annotated

from pydantic import ConfigDict, Field, StringConstraints, model_validator

from diskproof.families import FAMILIES, Database, of
from diskproof.families.address import Address, parse
from diskproof.results.record import FAMILY_OF, Flavour
from diskproof.study.part import Location, Part, mistake

THEIRS = "theirs"
"""The storage of a server that is there already."""


EnvironmentVariable = Annotated[str, StringConstraints(pattern=r"^[A-Za-z_][A-Za-z0-9_]*$")]


ImageName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._/:@-]*$", max_length=255)]


class ServerChoice(Part):
    """A database server under test."""

    model_config = ConfigDict(json_schema_extra={"required": []})  # a `url` has the family

    family: Database = Field(
        description="Server family: "
        + "; ".join(f"`{family}`, {of(family).title}" for family in FAMILIES)
        + ". A `url` says it, too"
    )
    flavour: Flavour | None = Field(None, description="Server of the family that it must be; default: any")
    basedir: Location | None = Field(
        None,
        description="Folder of an unpacked server; default: the installed one. "
        "`--basedir NAME=DIR` names it for one run, so that a study needs no machine's paths",
    )
    image: ImageName | None = Field(
        None,
        description="Image of a container, such as `postgres:17` or `mariadb:11`, that Podman or Docker has "
        "on this machine (docs/hosts.md). The server's own program is run in it, on the study's storage",
    )
    optional: bool = Field(
        False,
        description="Leave it out if the machine has no such server, and with it every workload that no "
        "other server runs",
    )
    url: str | None = Field(
        None,
        description="Database of a server that is there already (docs/hosts.md): "
        "`mysql://USER@HOST/DATABASE` or `postgresql://USER@HOST/DATABASE`, without the password. The "
        "database must be empty, or one that diskproof has filled",
    )
    password_file: Location | None = Field(
        None,
        description="With `url`: file with the password in its first line, which its owner alone may use",
    )
    password_env: EnvironmentVariable | None = Field(
        None, description="With `url`: environment variable that has the password"
    )
    reset: str | None = Field(
        None,
        min_length=1,
        description="With `url`: command that puts the loaded data back, such as the restore of a snapshot; "
        "default: diskproof loads them again",
    )
    reload: bool = Field(
        True,
        description="With `url`: put the data back before a trial if an earlier load has written. `false`: "
        "later trials find what earlier ones left, and the report says so",
    )

    read_only: bool = Field(
        False,
        description="With `url`: only read. The account must have no right to write, or the server be a "
        "replica. The database may then be anybody's, with tables of its own; only workloads of kind "
        "`script` without `prepare` can read it",
    )

    any_database: bool = Field(
        False,
        description="With `url`: let the SQL of workloads of kind `script` and `lua` reach other databases "
        "and the server itself, as far as the account may",
    )

    @property
    def is_given(self) -> bool:
        """Whether it is there already: it is never started, stopped or placed."""
        return self.url is not None

    @property
    def address(self) -> Address:
        """Where a server is that is there already."""
        assert self.url is not None
        return parse(self.url)

    @model_validator(mode="before")
    @classmethod
    def _an_image_has_the_family(cls, given: object) -> object:
        if not isinstance(given, dict) or "family" in given or not isinstance(given.get("image"), str):
            return given
        last = given["image"].rpartition("/")[2]
        families = [family for family in FAMILIES if any(name in last for name in of(family).called)]
        return {**given, "family": families[0]} if families else given

    @model_validator(mode="before")
    @classmethod
    def _a_url_has_the_family(cls, given: object) -> object:
        if not isinstance(given, dict) or "family" in given or not isinstance(given.get("url"), str):
            return given
        try:
            return {**given, "family": parse(given["url"]).protocol}  # the first to speak it has its name
        except ValueError:
            return {**given, "family": "mysql"}  # the URL itself is refused

    def _check_whole(self) -> None:
        if self.image is not None and self.basedir is not None:
            raise mistake("the server is in an image: leave this or `image` out", "basedir")
        if self.image is not None and of(self.family).embedded:
            raise mistake("SQLite is built into the load generator: leave `image` out", "image")
        self._check_kind()
        if self.flavour is not None and FAMILY_OF[self.flavour] != self.family:
            raise ValueError(
                f"`{self.flavour}` is of family `{FAMILY_OF[self.flavour]}`; "
                f"leave `flavour` out for `{self.family}`"
            )

    def _check_kind(self) -> None:
        if self.url is None:
            keys = ("password_file", "password_env", "reset", "reload", "read_only", "any_database")
            self.leave_out("it belongs to a server with a `url`", keys)
            return
        try:
            address = parse(self.url)
        except ValueError as error:
            raise mistake(str(error), "url") from None  # without the URL, which may have a password
        why = "it is for a server that diskproof starts: leave it out beside `url`"
        self.leave_out(why, ("basedir", "flavour", "image", "optional"))
        if of(self.family).protocol != address.protocol:
            raise mistake(f"the URL is of family `{address.protocol}`: leave `family` out", "family")
        if self.password_file is not None and self.password_env is not None:
            raise mistake("name one place of the password: leave this or `password_file` out", "password_env")
        if self.read_only:
            self.leave_out("nothing is written with `read_only`: leave it out", ("reset", "reload"))
        if self.reset is not None and not self.reload:
            raise mistake("with `reload = false` nothing is put back: leave one of the two out", "reset")
