"""Settings that are given beside results: whose they are is said by somebody, or it is not known."""

import pytest

from diskproof.importers.belonging import belonging, servers_given
from diskproof.results.imported import Beside, ImportedResult, Settings
from support.imported import make_file_result, make_option_file, make_result


def given(*files: str) -> list[Settings]:
    """Return an option file of each name; what is called variables is a server's answer."""
    return [make_option_file("sync_binlog=1", file, observed="variables" in file) for file in files]


def results(*files: str) -> list[ImportedResult]:
    return [make_result(source__file=file) for file in files]


def told(one: Beside) -> str:
    return (one.missing().text if one.misfit else "") or ", ".join(one.files) or "nothing"


@pytest.mark.parametrize(
    ("files", "beside", "whose"),
    [
        # The only settings that were named beside results are of their server.
        (["old.txt"], ["my.cnf"], ["my.cnf"]),
        (["old.txt"], ["/etc/mysql/my.cnf", "variables.txt"], ["/etc/mysql/my.cnf, variables.txt"]),
        (["ssd/oltp.txt", "hdd/oltp.txt"], ["my.cnf"], ["my.cnf", "my.cnf"]),
        (["oltp.txt"], ["safest.cnf"], ["safest.cnf"]),
        # A name or a folder that some of the results share keeps them to these.
        (["ssd.txt", "hdd.txt"], ["ssd.cnf"], ["ssd.cnf", "whether the settings given (ssd.cnf) are"]),
        (["ssd/a.txt", "hdd/a.txt"], ["ssd/my.cnf"], ["ssd/my.cnf", "whether the settings"]),
        (["my-ssd.txt", "hdd.txt"], ["my.cnf"], ["my.cnf", "my.cnf"]),
        (["ssd-run1.txt", "ssd-run2.txt"], ["ssd.cnf"], ["ssd.cnf", "ssd.cnf"]),
        # Of several servers each result has the one that lies nearest, then the one whose name it has.
        (
            ["fast.txt", "safest.txt", "oltp.txt"],
            ["safest.cnf", "fast.cnf"],
            ["fast.cnf", "safest.cnf", "which of the settings given (safest.cnf and fast.cnf) are"],
        ),
        (["a/x.txt", "b/x.txt"], ["b/my.cnf", "a/my.cnf"], ["a/my.cnf", "b/my.cnf"]),
        (
            ["a/x.txt", "b/x.txt"],
            ["b/my.cnf", "a/my.cnf", "a/variables.txt", "b/variables.txt"],
            ["a/my.cnf, a/variables.txt", "b/my.cnf, b/variables.txt"],
        ),
        (["ssd/fast.txt", "ssd/safest.txt"], ["ssd/fast.cnf", "ssd/my.cnf"], ["ssd/fast.cnf", "which"]),
        (["ssd-1.txt", "nvme-1.txt"], ["ssd.cnf", "hdd.cnf"], ["ssd.cnf", "which"]),
        (
            ["storage=ssd,tuning=safest.txt", "storage=hdd,tuning=fast.txt"],
            ["tuning=fast.cnf", "tuning=safest.cnf"],
            ["tuning=safest.cnf", "tuning=fast.cnf"],
        ),
        (["ssd-fast.txt", "ssd.txt"], ["ssd-fast.cnf", "ssd.cnf"], ["ssd-fast.cnf", "ssd.cnf"]),
        (
            ["mysql-80.txt", "mysql-57.txt"],
            ["mysql-57.cnf", "mysql-80.cnf"],
            ["mysql-80.cnf", "mysql-57.cnf"],
        ),
        # Nothing tells which is whose.
        (
            ["old.txt"],
            ["safest.cnf", "fast.cnf"],
            ["which of the settings given (safest.cnf and fast.cnf) are"],
        ),
        (["old.txt"], [], ["nothing"]),
        # What stands in one file with results is theirs, and no other's.
        (["post.txt", "other.txt"], ["post.txt"], ["post.txt", "whether the settings given (post.txt) are"]),
        # A folder below one that only some results share is theirs.
        (["ssd/oltp.txt", "hdd/oltp.txt"], ["ssd/conf/my.cnf"], ["ssd/conf/my.cnf", "whether the settings"]),
        (["/a/ssd/x.txt", "/a/hdd/x.txt"], ["/a/conf/my.cnf"], ["/a/conf/my.cnf", "/a/conf/my.cnf"]),
        (["/ssd/x.txt", "hdd.txt"], ["/etc/my.cnf"], ["/etc/my.cnf", "/etc/my.cnf"]),
        (
            ["ssd/x.txt", "hdd/x.txt"],
            ["hdd/conf/my.cnf", "ssd/conf/my.cnf"],
            ["ssd/conf/my.cnf", "hdd/conf/my.cnf"],
        ),
        # A server that is named is of its family and its series; the answers here are MySQL's 8.0.36.
        (["server=mysql-8.0.txt"], ["variables.txt"], ["variables.txt"]),
        (["server=mysql-2.txt"], ["variables.txt"], ["variables.txt"]),
        (
            ["server=mysql-5.7.txt"],
            ["variables.txt"],
            ["the server's settings (those given, variables.txt, are of another version"],
        ),
        (["server=mariadb.txt"], ["variables.txt"], ["the server's settings (those given, variables.txt"]),
        (
            ["server=postgresql-15.txt"],
            ["my.cnf"],
            ["the server's settings (those given, my.cnf, are of another kind of server)"],
        ),
    ],
)
def test_whose_settings(files: list[str], beside: list[str], whose: list[str]) -> None:
    found = [told(one) for one in belonging(results(*files), given(*beside))]
    assert [said[: len(wanted)] for said, wanted in zip(found, whose, strict=True)] == whose


def test_bare_files_have_no_server() -> None:
    (found,) = belonging([make_file_result()], given("my.cnf"))
    assert found == Beside()


def test_settings_of_another_family_are_no_ones() -> None:
    pgbench = make_result(source__file="pg.txt", source__format="pgbench")
    ours, other = belonging([make_result(), pgbench], given("my.cnf"))
    assert told(ours) == "my.cnf"
    assert (
        other.missing().text == "the server's settings (those given, my.cnf, are of another kind of server)"
    )
    driven = make_result(asked={"db-driver": "pgsql"})
    assert belonging([driven], given("my.cnf"))[0].misfit == "another kind"


def test_the_only_settings_of_a_loads_family_are_its_servers() -> None:
    conf = make_option_file("fsync=on", "postgresql.conf")
    conf = conf.model_copy(update={"source": conf.source.model_copy(update={"format": "postgresql.conf"})})
    pgbench = make_result(source__file="pg.txt", source__format="pgbench")
    ours, other = belonging([pgbench, make_result()], [conf, *given("my.cnf")])
    assert told(ours) == "postgresql.conf"
    assert other.misfit == "which"  # sysbench asks either


def test_more_than_one_of_a_kind_stand_for_themselves() -> None:
    one, other, third = servers_given(given("a.cnf", "b.cnf", "variables.txt"))
    assert [told(found) for found in (one, other, third)] == ["a.cnf", "b.cnf", "variables.txt"]
    assert servers_given([]) == []


def test_settings_between_two_outputs_of_a_post_are_of_the_one_below() -> None:
    measured = [make_result(source__file="post.md", source__line=line) for line in (5, 40)]
    for line, whose in ((20, ["whether", "post.md"]), (2, ["post.md"] * 2), (60, ["whether", "post.md"])):
        answer = make_option_file("sync_binlog=1", "post.md", observed=True)
        answer = answer.model_copy(update={"last_line": line})
        assert [
            told(one)[: len(said)] for one, said in zip(belonging(measured, [answer]), whose, strict=True)
        ] == whose
