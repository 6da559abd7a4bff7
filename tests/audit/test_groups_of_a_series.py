"""Groups of an option file that servers of one series read alone: ``[mysqld-8.0]``."""

from collections.abc import Mapping
from dataclasses import replace

import pytest

from diskproof.analysis.audited.audit import audit_configuration
from diskproof.audit.check import Configuration
from diskproof.audit.configuration import with_its_groups
from diskproof.audit.durability import after_a_power_cut
from diskproof.results.imported import Settings
from support.samples import found_in

FILE = """[mysqld-8.0]
innodb_log_file_size = 1G
query_cache_size = 64M
[mysqld]
innodb_log_file_size = 256M
sync_binlog = 1
[mysqld-5.7]
query_cache_size = 16M
[mariadb-10.6]
sync_binlog = 0
[mariadb]
wsrep_on = 1
[embedded]
sync_binlog = 7
"""


def read(server: str | None, content: str = FILE) -> Configuration:
    (settings,) = found_in(content)
    assert isinstance(settings, Settings)
    return Configuration(settings, server=server)


def states(configuration: Configuration) -> dict[str, str]:
    return {one.check: one.state for one in audit_configuration(configuration).checks}


@pytest.mark.parametrize(
    ("server", "values"),
    [
        # The last line of the file holds, whichever group it stands in.
        (
            "MySQL 8.0.36",
            {"innodb_log_file_size": "256M", "sync_binlog": "1", "query_cache_size": "64M"},
        ),
        (
            "MySQL 5.7.30",
            {"innodb_log_file_size": "256M", "sync_binlog": "1", "query_cache_size": "16M"},
        ),
        ("MariaDB 10.6.4", {"innodb_log_file_size": "256M", "sync_binlog": "0", "wsrep_on": "1"}),
        ("MariaDB 10.11.2", {"innodb_log_file_size": "256M", "sync_binlog": "1", "wsrep_on": "1"}),
    ],
)
def test_a_server_reads_the_groups_of_its_own_series(server: str, values: Mapping[str, str]) -> None:
    assert with_its_groups(read(server)).settings.values == values


def test_what_stands_in_two_groups_that_are_read_is_set_twice() -> None:
    assert states(read("MySQL 8.0.36"))["repeated-option"] == "failed"
    assert states(read("MySQL 5.7.30"))["repeated-option"] == "passed"


@pytest.mark.parametrize("check", ["repeated-option", "mixed-durability"])
def test_without_a_version_nobody_knows_which_groups_are_read(check: str) -> None:
    assert states(read(None))[check] == "cannot be told"


def test_a_group_of_a_series_may_take_a_promise_back() -> None:
    settings = read(None, "[mysqld]\nsync_binlog = 1\n[mariadb-10.6]\nskip-innodb-doublewrite\n")
    assert (
        "what `innodb_doublewrite` does depends on the server's version" in after_a_power_cut(settings).text
    )
    at_10_11 = with_its_groups(replace(settings, server="MariaDB 10.11.2"))
    assert after_a_power_cut(at_10_11).text.startswith("A power cut takes no acknowledged commit")
