"""What identifies a host, a person or a network is taken out, alike everywhere, and nothing else is."""

import json

import pytest

from diskproof.site.identity import Identity

PLACE = "/mnt/anna-ssd/bench/data"


def identity(*, keep: bool = False) -> Identity:
    names = {"host": ["db7.example.org", "db7", "disk"], "user": ["anna", "al"]}
    return Identity(names, ["disk", "safest"], [PLACE], keep=keep)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("on db7.example.org and db7", "on host1 and host2"),
        ("disk at safest, as anna says", "disk at safest, as user1 says"),
        (
            "al is too short a name, bananna is another word",
            "al is too short a name, bananna is another word",
        ),
        ("/home/anna/secret/my.cnf and /home/anna", "/home/folder1/folder2/folder3 and /home/folder1"),
        (f"{PLACE}/base/5/2619, {PLACE}", "/mnt/folder1/folder2/data/base/5/2619, /mnt/folder1/folder2/data"),
        ("/usr/sbin/mariadbd", "/usr/sbin/mariadbd"),
        ("--datadir=/srv/x/y", "--datadir=/srv/folder1/folder2"),
        ("mysql://anna@db7:3306/shop", "mysql://address1"),
        ("https://dev.mysql.com/doc/refman/9.7/en/", "https://dev.mysql.com/doc/refman/9.7/en/"),
        ("https://anna:secret@host/x", "https://address1"),
        ("anna@example.org asked", "address1 asked"),
        ("10.1.2.3 and fe80::1 but 127.0.0.1, ::1", "address1 and address2 but 127.0.0.1, ::1"),
        ("10.0.0.5:3306, addr:10.0.0.5", "address1:3306, addr:address1"),
        ("http://10.0.0.5:2379/v3 of 10.0.0.5.", "http://address1:2379/v3 of address1."),
        ("mysql -h10.0.0.5, ::ffff:10.0.0.5", "mysql -haddress1, ::ffff:address1"),
        ("127.0.0.1:3306, 1.2.3.4.5, v1.2.3.4, 1.2.3.4x", None),
        ("at 12:34:56, version 10.11.14", "at 12:34:56, version 10.11.14"),
        ("52:54:00:12:34:56", "address1"),
        ("serial=S5GXNX0T", "serial=serial1"),
        ("UUID 123e4567-e89b-12d3-a456-426614174000", "UUID serial1"),
        ("1,204 transactions/s, 16801.40/4800.40/2400.20 (r/w/o)", None),
        ("50%/s/x, a/b/c, and/or, 3 / 4", None),
        ("{what:/, } and {sides:/ or }", None),
        ("mariadb/disk/safest/complex/128MiB/8c", None),
    ],
)
def test_a_text(text: str, said: str | None) -> None:
    assert identity().text(text) == (text if said is None else said)


def test_the_same_gets_the_same_word_and_taking_out_again_changes_nothing() -> None:
    one = identity()
    first = one.text("/home/anna/a of db7, mysql://anna@db7/x, anna@example.org, 10.0.0.1, /opt/anna/b")
    assert (
        first == "/home/folder1/folder2 of host1, mysql://address1, address2, address3, /opt/folder1/folder3"
    )
    again = Identity({"host": ["host1"], "user": ["folder1"]}, [])
    assert again.text(first) == first
    assert not again.found.get("host")


def test_what_is_kept_is_still_listed() -> None:
    one = identity(keep=True)
    assert one.text("db7 at 10.0.0.1") == "db7 at 10.0.0.1"
    assert one.found == {"address": {"10.0.0.1": "address1"}, "host": {"db7": "host1"}}


def test_values_and_keys_of_json_lose_it_and_figures_stay_exact() -> None:
    value = {
        "others": {"db7": {"host": "db7"}},
        "figures": [0.1, 1e-300, 12345678901234567890, None, True],
        "message": {"form": "{files:/home/anna/x}", "values": {"files": ["/home/anna/x"]}},
    }
    made = json.loads(identity().json(json.dumps(value)))
    assert made["figures"] == value["figures"]
    assert made["others"] == {"host1": {"host": "host1"}}
    assert made["message"]["form"] == "{files:/home/anna/x}"
    assert made["message"]["values"] == {"files": ["/home/folder1/folder2"]}


def test_a_long_text_takes_a_moment() -> None:
    for piece in ("/a", "a/", ":", "1.", "a@", "serial=", "db7", "x" * 50):
        identity().text(piece * 100_000)
