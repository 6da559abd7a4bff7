"""What in a run identifies a host, a person or a network: taken out of all texts before they are published.

The same thing gets the same word in its place everywhere, so that what was equal stays equal, and what lay
below a folder still lies below it.
"""

import ipaddress
import json
import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any

KNOWN = frozenset(
    re.findall(
        r"\w+",
        "base bin binlog boot data db dev disk etc global home lib lib64 local lock log main mariadb "
        "mariadbd media mnt mysql mysqld opt pg_tblspc pg_wal pgdata postgres postgresql proc redo root "
        "run runs sbin share shm socket sockets srv sys tmp undo usr var",
    )
)
"""Names of folders that tell nothing of anybody."""

OURS = re.compile(
    r"\d+|(?:folder|address|host|user|serial)\d+|diskproof(?:-[0-9a-f]+)?"
    r"|(?:mysql|mariadb|postgresql|percona)[\w.-]*",
    re.ASCII,
)
"""Numbers, what stands here in the place of something, what we make, and releases: ``postgresql-15.4``."""

_PATH = re.compile(r"""(?<![\w./%])/(?:[^\s/"'`,;:()<>|{}\[\]=]+/)+[^\s/"'`,;:()<>|{}\[\]=]*""")
"""A path of two parts or more; a fraction, a rate or a form's gap is none."""

_URL = re.compile(
    r"\b(?:(mysql|mariadb|postgres|postgresql|sqlite)://([^\s\"'`]*[^\s\"'`,.;:)])"
    r"|([a-z][a-z0-9+.-]{1,20})://([^\s\"'`/@]+@[^\s\"'`]*[^\s\"'`,.;:)]))"
)
"""Of a database, or with a log-in."""

_MAIL = re.compile(r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})*\b")
_MAC = re.compile(r"\b(?:[0-9a-fA-F]{2}:){5}[0-9a-fA-F]{2}\b")
_UUID = re.compile(r"\b[0-9a-fA-F]{8}-(?:[0-9a-fA-F]{4}-){3}[0-9a-fA-F]{12}\b")
_SERIAL = re.compile(r"(?i)\b(?:wwn-0x|naa\.|eui\.)[\w.-]+|(?<=serial[:=])\s*[\w-]{4,}")
_IP = re.compile(
    r"(?:(?<![\w.])|(?<=-h))(?:\d{1,3}\.){3}\d{1,3}(?!\w|\.\d)"
    r"|(?<![\w.:])(?:[0-9a-fA-F]{0,4}:){2,7}[0-9a-fA-F]{0,4}(?!\w|:|\.\d)"
)
"""Also before a port, after a scheme and in ``-h10.0.0.5``; of ``::ffff:10.0.0.5`` the last part."""

AS_THEY_ARE = ("form", "histogram", "sha256")
"""Keys of our own words, and of figures that are coded in letters."""

FEWEST_LETTERS = 3
"""Of a name that is looked for in texts: shorter ones are also parts of other things."""


class Identity:
    """Takes out what identifies; remembers what, to be shown before anything is published."""

    def __init__(
        self,
        names: Mapping[str, Iterable[str]],
        levels: Iterable[str],
        places: Iterable[str] = (),
        *,
        keep: bool = False,
    ) -> None:
        """`names` are known ones by their kind (`host`, `user`); `levels` of a study are words, and stay.

        What lies below `places` is the server's, and tells nothing of anybody.
        """
        self._places = sorted(set(places), key=len, reverse=True)
        self.found: dict[str, dict[str, str]] = {}
        self._keep = keep
        known = KNOWN | {"localhost", "127.0.0.1", "nobody"} | set(levels)
        self._names = {
            name: kind
            for kind, some in names.items()
            for name in sorted(set(some) - known, key=len, reverse=True)
            if len(name) >= FEWEST_LETTERS and not OURS.fullmatch(name)
        }
        found = "|".join(rf"(?<![\w.-]){re.escape(name)}(?![\w-])" for name in self._names)
        self._name = re.compile(found or r"(?!)")

    def text(self, text: str) -> str:
        """Return a text without what identifies."""
        for pattern, replaced in self._patterns():
            text = pattern.sub(replaced, text)
        return text

    def _patterns(self) -> Iterable[tuple[re.Pattern[str], Callable[[re.Match[str]], str]]]:
        return (
            (_URL, self._url),
            (_PATH, lambda found: self._path(found[0])),
            (_MAIL, lambda found: self._instead("address", found[0])),
            (_UUID, lambda found: self._instead("serial", found[0])),
            (_SERIAL, lambda found: self._instead("serial", found[0])),
            (_MAC, lambda found: self._instead("address", found[0])),
            (_IP, lambda found: self._address(found[0])),
            (self._name, lambda found: self._instead(self._names[found[0]], found[0])),
        )

    def value(self, value: Any) -> Any:  # noqa: ANN401 - any JSON
        """Return JSON without what identifies."""
        match value:
            case str():
                return self.text(value)
            case list():
                return [self.value(one) for one in value]
            case dict():
                return {
                    self.text(key): one if key in AS_THEY_ARE else self.value(one)
                    for key, one in value.items()
                }
        return value

    def json(self, text: str) -> str:
        """Return JSON without what identifies, on one line; all other values are as they were."""
        return json.dumps(self.value(json.loads(text)))

    def _url(self, found: re.Match[str]) -> str:
        return f"{found[1] or found[3]}://{self._instead('address', found[2] or found[4])}"

    def _path(self, path: str) -> str:
        place = next((one for one in self._places if f"{path}/".startswith(f"{one}/")), path)
        return self._folders(place) + path[len(place) :]

    def _folders(self, path: str) -> str:
        return "/".join(
            part if not part or part in KNOWN or OURS.fullmatch(part) else self._instead("folder", part)
            for part in path.split("/")
        )

    def _address(self, text: str) -> str:
        try:
            address = ipaddress.ip_address(text)
        except ValueError:
            return text
        return text if address.is_loopback or address.is_unspecified else self._instead("address", text)

    def _instead(self, kind: str, what: str) -> str:
        """Return what stands in the place of something."""
        if OURS.fullmatch(what):
            return what
        known = self.found.setdefault(kind, {})
        word = known.setdefault(what, f"{kind}{len(known) + 1}")
        return what if self._keep else word
