"""What an account may do beyond its database, as SHOW GRANTS of MariaDB and MySQL says it."""

import pytest

from diskproof.server.given.rights import rights_of, roles_in

OTHERS = ["shop", "my1db", "mysql"]


def beyond(*grants: str, database: str = "my_db") -> list[str]:
    return rights_of(grants, database, OTHERS).beyond


@pytest.mark.parametrize(
    "grant",
    [
        "GRANT USAGE ON *.* TO `app`@`%` IDENTIFIED BY PASSWORD '*SECRET'",
        "GRANT PROCESS, REPLICATION CLIENT, BINLOG MONITOR, SHOW DATABASES ON *.* TO 'app'@'%'",
        "GRANT SELECT ON `performance_schema`.* TO `app`@`%`",
        "GRANT SELECT (`a`, `b`), SHOW VIEW ON `shop`.`orders` TO `app`@`%`",
        "GRANT ALL PRIVILEGES ON `my\\_db`.* TO `app`@`%`",
        "GRANT INSERT (`a`), TRIGGER ON `my_db`.`t` TO `app`@`%`",
        "GRANT EXECUTE ON PROCEDURE `my_db`.`p` TO `app`@`%`",
        "GRANT `reader`@`%` TO `app`@`%`",
        "SET DEFAULT ROLE `reader` FOR `app`@`%`",
        "REVOKE SELECT ON `mysql`.* FROM `app`@`%`",
    ],
)
def test_what_ends_at_the_database_is_allowed(grant: str) -> None:
    database_is_alone = rights_of([grant], "my_db", ["shop"])
    assert (database_is_alone.beyond, database_is_alone.variables) == ([], [])


@pytest.mark.parametrize(
    ("grant", "right"),
    [
        ("GRANT ALL PRIVILEGES ON *.* TO `root`@`localhost` WITH GRANT OPTION", "ALL PRIVILEGES ON *.*"),
        ("GRANT FILE ON *.* TO `app`@`%` IDENTIFIED BY PASSWORD '*SECRET'", "FILE ON *.*"),
        ("GRANT BACKUP_ADMIN,CLONE_ADMIN ON *.* TO `app`@`%`", "CLONE_ADMIN ON *.*"),
        ("GRANT SELECT, INSERT ON `shop`.* TO `app`@`%`", "INSERT ON `shop`.*"),
        ("GRANT UPDATE (`a`) ON `shop`.`orders` TO `app`@`%`", "UPDATE ON `shop`.`orders`"),
        ("GRANT ALL PRIVILEGES ON `my\\_%`.* TO `app`@`%`", "ALL PRIVILEGES ON `my\\_%`.*"),
        ("GRANT ALL PRIVILEGES ON `%`.* TO `app`@`%`", "ALL PRIVILEGES ON `%`.*"),
        ("GRANT ALL PRIVILEGES ON `my_db`.* TO `app`@`%`", "ALL PRIVILEGES ON `my_db`.*"),
        ("GRANT ALL PRIVILEGES ON `my\\_db`.* TO `app`@`%` WITH GRANT OPTION", "GRANT OPTION ON `my\\_db`.*"),
        ("GRANT EXECUTE ON FUNCTION `shop`.`f` TO `app`@`%`", "EXECUTE ON `shop`.`f`"),
        ("GRANT PROXY ON ''@'%' TO 'root'@'localhost' WITH GRANT OPTION", "PROXY ON ''@'%'"),
    ],
)
def test_what_goes_further_is_named(grant: str, right: str) -> None:
    found = beyond(grant)
    assert right in found
    assert "SECRET" not in str(found)


def test_rights_for_variables_are_told_apart() -> None:
    found = rights_of(["GRANT SUPER, BINLOG ADMIN ON *.* TO `app`@`%`"], "my_db", OTHERS)
    assert (found.beyond, found.variables) == (["SUPER ON *.*"], ["BINLOG ADMIN ON *.*"])


def test_what_an_installation_of_mariadb_grants_to_everybody_is_allowed() -> None:
    public = [
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON `{name}`.* TO PUBLIC" for name in ("test", r"test\_%")
    ]
    assert rights_of(public, "own", ["test", "own"]).beyond == []
    assert rights_of(["GRANT INSERT ON `shop`.* TO PUBLIC"], "own", ["shop"]).beyond
    assert rights_of(["GRANT INSERT ON `test`.* TO `app`@`%`"], "own", ["test"]).beyond


def test_a_database_with_parentheses_is_another_one() -> None:
    found = rights_of(["GRANT ALL PRIVILEGES ON `own(x)`.* TO `app`@`%`"], "own", ["own(x)"])
    assert found.beyond == ["ALL PRIVILEGES ON `own(x)`.*"]
    columns = rights_of(["GRANT SELECT (`a`, `b`), INSERT (`c`) ON `own`.`t` TO `app`@`%`"], "own", [])
    assert columns.beyond == []


def test_roles_are_found() -> None:
    grants = ["GRANT `a`@`%`,`b`@`%` TO `app`@`%`", "GRANT `c` TO `app`@`%` WITH ADMIN OPTION"]
    assert list(roles_in([*grants, "GRANT SELECT ON *.* TO `app`@`%`"])) == ["`a`@`%`", "`b`@`%`", "`c`"]
