import pytest

from diskproof.families.values import same


@pytest.mark.parametrize(
    ("requested", "observed", "unit"),
    [
        ("1", "ON", ""),
        ("off", "0", ""),
        ("TRUE", "on", ""),
        ("O_DIRECT", "o_direct", ""),
        ("128M", "134217728", ""),
        ("1G", "1073741824", ""),
        ("0.90", "0.9", ""),
        (".9", "0.9", ""),
        ("1.1e0", "1.1", ""),
        ("/var/tmp/", "/var/tmp", ""),
        ("'full'", "full", ""),
        ("", "", ""),
        ("204800kB", "25600", "8kB"),
        ("1GB", "1024", "MB"),
        ("16384", "16384", "8kB"),
        ("5min", "300", "s"),
        ("0.2s", "200", "ms"),
        ("NO_ZERO_DATE,STRICT_TRANS_TABLES", "STRICT_TRANS_TABLES,NO_ZERO_DATE", ""),
    ],
)
def test_one_value_in_two_spellings(requested: str, observed: str, unit: str) -> None:
    assert same(requested, observed, unit=unit)


@pytest.mark.parametrize(
    ("requested", "observed", "unit"),
    [
        ("2", "ON", ""),
        ("1", "0", ""),
        ("128M", "134217729", ""),
        ("O_DIRECT", "fsync", ""),
        ("5min", "5", "s"),
        ("1GB", "1", "MB"),
        ("a,b", "a,c", ""),
        ("5min", "300", ""),
        ("", "0", ""),
    ],
)
def test_two_values(requested: str, observed: str, unit: str) -> None:
    assert not same(requested, observed, unit=unit)
