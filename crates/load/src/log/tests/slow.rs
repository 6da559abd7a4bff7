//! The slow log of the MySQL family.

use super::*;

const MYSQL_8: &str = "\
/usr/sbin/mysqld, Version: 8.0.36 (MySQL Community Server - GPL). started with:
Tcp port: 3306  Unix socket: /var/run/mysqld/mysqld.sock
Time                 Id Command    Argument
# Time: 2026-11-28T10:15:21.123456Z
# User@Host: app[app] @ web01 [10.0.0.7]  Id:    12
# Query_time: 0.000310  Lock_time: 0.000002 Rows_sent: 1  Rows_examined: 1
use shop;
SET timestamp=1764324921;
SELECT name
  FROM item WHERE id = 7;
# Time: 2026-11-28T10:15:21.200000Z
# User@Host: app[app] @ web01 [10.0.0.7]  Id:    12
# Query_time: 0.000001  Lock_time: 0.000000 Rows_sent: 0  Rows_examined: 0
SET timestamp=1764324921;
# administrator command: Quit;
";

#[test]
fn the_slow_log_of_mysql_is_read() {
    let (format, kept) = read_text(MYSQL_8.as_bytes());
    assert_eq!(format, Format::Slow);
    let expected = "SELECT name\n  FROM item WHERE id = 7".to_owned();
    assert_eq!(statements(&kept), [(12, expected, Some(310))]);
    let What::Statement(said) = &kept.events[0].what else {
        panic!("{:?}", kept.events)
    };
    assert_eq!(said.database.as_deref(), Some(&b"shop"[..]));
    assert_eq!(said.rows, Some(1));
    assert_eq!(kept.events[1].what, What::Quit);
    assert_eq!(kept.events[1].at_us - kept.events[0].at_us, 76_544);
    assert!(kept.unread.is_empty());
}

#[test]
fn entries_of_a_clock_in_seconds_are_spread() {
    let entry = |id: u64| {
        format!(
            "# User@Host: root[root] @ localhost []\n# Thread_id: {id}  Schema: test  QC_hit: No\n\
             # Query_time: 0.000100  Lock_time: 0.000000  Rows_sent: 0  Rows_examined: 0\n\
             # Rows_affected: 2  Bytes_sent: 52\nSET timestamp=1764324921;\nUPDATE t SET a={id};\n"
        )
    };
    let text = format!(
        "# Time: 261128  9:15:21\n{}{}{}{}",
        entry(8),
        entry(9),
        entry(8),
        entry(9)
    );
    let (_, kept) = read_text(text.as_bytes());
    let times: Vec<_> = kept
        .events
        .iter()
        .map(|event| event.at_us % 1_000_000)
        .collect();
    assert_eq!(times, [0, 250_000, 500_000, 750_000]);
    let What::Statement(said) = &kept.events[0].what else {
        panic!("{:?}", kept.events)
    };
    assert_eq!(
        (said.affected, said.database.as_deref()),
        (Some(2), Some(&b"test"[..]))
    );
}

#[test]
fn bytes_that_are_no_text_pass() {
    let mut text = MYSQL_8.as_bytes().to_vec();
    let at = text.windows(4).position(|own| own == b"name").unwrap();
    text[at..at + 4].copy_from_slice(b"\x00\xff\xfe'");
    let (_, kept) = read_text(&text);
    assert_eq!(statements(&kept).len(), 1);
}
