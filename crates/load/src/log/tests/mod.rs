//! Each kind of log as servers write it, and damaged ones.

mod audit;
mod binary;
mod general;
mod postgres;
mod slow;

use std::collections::HashSet;
use std::io::{self, Write};

use super::{Event, Format, Inputs, Sink, Spread, What, read, recognise};

/// What a reader has handed on.
#[derive(Default)]
pub(super) struct Kept {
    pub(super) events: Vec<Event>,
    pub(super) unread: Vec<(&'static str, u64)>,
}

impl Sink for Kept {
    fn take(&mut self, event: Event) -> io::Result<()> {
        self.events.push(event);
        Ok(())
    }

    fn unread(&mut self, reason: &'static str, line: u64) {
        self.unread.push((reason, line));
    }
}

fn read_text(text: &[u8]) -> (Format, Kept) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(text).unwrap();
    let (inputs, head) = Inputs::new(vec![file.path().to_owned()]).unwrap();
    let format = recognise(&head).expect("a log");
    let mut sink = Spread::new(Kept::default());
    read(format, inputs, None, &mut sink).unwrap();
    sink.flush().unwrap();
    (format, sink.to)
}

/// Session, statement and duration of each event that has one.
fn statements(kept: &Kept) -> Vec<(u64, String, Option<u64>)> {
    let told = |event: &Event| match &event.what {
        What::Statement(said) => Some((
            event.session,
            String::from_utf8_lossy(&said.sql).into_owned(),
            said.duration_us,
        )),
        _ => None,
    };
    kept.events.iter().filter_map(told).collect()
}

/// Each statement as it was prepared, with its values; empty if it was not, or nothing tells how.
fn bound(kept: &Kept) -> Vec<String> {
    let told = |event: &Event| match &event.what {
        What::Statement(said) => Some(said.bound.as_ref().map_or_else(String::new, |own| {
            format!("{} {:?}", String::from_utf8_lossy(&own.sql), own.values)
        })),
        _ => None,
    };
    kept.events.iter().filter_map(told).collect()
}

/// Whether each statement was prepared since it was executed last.
pub(super) fn fresh(kept: &Kept) -> Vec<bool> {
    let mut prepared = HashSet::new();
    let mut fresh = Vec::new();
    for event in &kept.events {
        match &event.what {
            What::Prepared(key) => {
                prepared.insert((event.session, *key));
            }
            What::Statement(said) => {
                let key = said.key.map(|key| (event.session, key));
                fresh.push(key.is_some_and(|key| prepared.remove(&key)));
            }
            _ => {}
        }
    }
    fresh
}

/// The same three statements, one of them with parameters, under a prefix.
fn three_statements(prefix: impl Fn(&str) -> String) -> String {
    let [log, detail] = ["LOG", "DETAIL"].map(&prefix);
    format!(
        "{log}duration: 0.250 ms  statement: SELECT a,\n\tb FROM t\n\
         {log}duration: 0.010 ms  parse <unnamed>: SELECT $1, $2\n\
         {log}duration: 1.500 ms  execute <unnamed>: SELECT $1, $2\n\
         {detail}parameters: $1 = 'it''s', $2 = NULL\n\
         {log}disconnection: session time: 0:00:01.000 user=u database=d host=[local]\n"
    )
}

#[test]
fn packed_and_rotated_files_are_one_log() {
    let folder = tempfile::tempdir().unwrap();
    let line = |second: u32| {
        format!(
            "2026-11-28 10:15:{second}.100 UTC [77] LOG:  duration: 1.0 ms  statement: SELECT {second}\n"
        )
    };
    let newest = folder.path().join("log");
    std::fs::write(&newest, line(22)).unwrap();
    let rotated = folder.path().join("log.1.gz");
    let file = std::fs::File::create(&rotated).unwrap();
    let mut packer = flate2::write::GzEncoder::new(file, flate2::Compression::fast());
    packer.write_all(line(21).as_bytes()).unwrap();
    packer.finish().unwrap();
    let (inputs, head) = Inputs::new(vec![newest, rotated]).unwrap();
    let mut kept = Kept::default();
    read(recognise(&head).unwrap(), inputs, None, &mut kept).unwrap();
    let texts: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(texts, ["SELECT 21", "SELECT 22"]);
}

#[test]
fn what_is_no_log_is_not_taken_for_one() {
    for text in [
        &b""[..],
        b"CREATE TABLE t (a INT);\nINSERT INTO t VALUES (1);\n",
        b"\x00\x01\x02\xff\xfe",
        b"PK\x03\x04",
    ] {
        assert_eq!(recognise(text), None, "{text:?}");
    }
}

/// Forms in which other servers and older versions write: what is read of each, and what is not.
#[test]
fn logs_of_many_servers_are_read() {
    let slow = |head: &str, sql: &str| {
        format!(
            "{head}\n# Query_time: 0.5  Lock_time: 0.0  Rows_sent: 1  Rows_examined: 1\n{sql}\n"
        )
    };
    let by = "# User@Host: app[app] @ web01 []  Id:    12";
    let cases: [(&str, String, &[&str], &[&str]); 23] = [
        ("MySQL 5.0 has no sessions", slow("# User@Host: app[app] @ web01 []", "use shop;\nSELECT 1;"), &[],
            &["an entry without its session's number (MySQL before 5.6)"]),
        ("an entry without a time", slow(by, "SELECT 1;"), &[], &["an entry without a time"]),
        ("Percona with microseconds", slow("# Time: 111128 10:15:21.000001 # User@Host: app[app] @  []\n# Thread_id: 7  Schema: shop", "SELECT 1;"), &["SELECT 1"], &[]),
        ("short format", slow("# Time: 111128 10:15:21\n# Thread_id: 7", "SELECT 1;") + &slow("# Thread_id: 7", "SELECT 2;"), &["SELECT 1", "SELECT 2"], &[]),
        ("an AUTO_INCREMENT beside the time", slow(by, "SET last_insert_id=3,insert_id=4,timestamp=1764324921;\nINSERT INTO t VALUES (NULL);"), &["INSERT INTO t VALUES (NULL)"], &[]),
        ("a USE and a SET of the client", slow(by, "SET timestamp=1764324921;\nuse shop;") + &slow(by, "SET timestamp=1764324921;\nSET timestamp=5;"), &["use shop", "SET timestamp=5"], &[]),
        ("a plan, comments, an empty line", slow(by, "#\n# explain: 1\tSIMPLE\n#\nSET timestamp=1764324921;\nSELECT /* # Time: */ 1\n\n-- two\n# three\n;"), &["SELECT /* # Time: */ 1\n\n-- two\n# three\n"], &[]),
        ("a banner without a path", format!("mysqld, Version: 10.2.13-MariaDB. started with:\nTCP Port: 0, Named Pipe: x\nTime\t\t    Id Command\tArgument\n{}", slow(by, "SET timestamp=1764324921;\nSELECT 1;")), &["SELECT 1"], &[]),
        ("half an entry", slow(by, "SET timestamp=1764324921;\nSELECT 1;") + slow(by, "SET timestamp=1764324921;\nSELECT 22").trim_end(), &["SELECT 1"], &["a statement that the log's end cuts short"]),
        ("the general log of 5.0", "111128 10:15:21\t      8 Query       SELECT 1\n\t\t      8 Init DB     shop\n111128  9:15:22      8 Quit       \n".into(), &["SELECT 1", "USE `shop`"], &[]),
        (
            "the general log with its tabs gone",
            "111128 10:15:21      8 Query       SELECT 1\n  FROM t\n                     8 Query       SELECT 2\n".into(),
            &["SELECT 1\n  FROM t", "SELECT 2"],
            &[],
        ),
        (
            "Windows",
            "2026-11-28 10:15:21.123 [77] LOG:  statement: SELECT 1\r\n".into(),
            &["SELECT 1"],
            &[],
        ),
        ("the general log with a zone", "2026-11-28T10:15:21.000100+08:00\t    8 Query\tSELECT 1\n2026-11-28T10:15:21.0002Z    8 Query\tSELECT 2\n".into(), &["SELECT 1", "SELECT 2"], &[]),
        ("Cloud SQL", three_statements(|word| format!("2026-11-28 10:15:21.123 UTC [77]: [3-1] db=d,user=u {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("a query's number", three_statements(|word| format!("2026-11-28 10:15:21.123 UTC [77] [queryid=-5] u@d {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("a line's number beside the process", three_statements(|word| format!("2026-11-28 10:15:21 UTC [77-3] u@d {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("Azure", three_statements(|word| format!("2026-11-28 10:15:21 UTC-65677f10.4d-{word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("verbose", "2026-11-28 10:15:21.123 UTC [77] LOG:  00000: duration: 1.0 ms  statement: SELECT 1\n2026-11-28 10:15:21.123 UTC [77] LOCATION:  check_log_duration, postgres.c:2\n".into(), &["SELECT 1"], &[]),
        ("German", "2026-11-28 10:15:21.123 CET [77] LOG:  Dauer: 0.250 ms  Anweisung: SELECT 1\n".into(), &[], &["a message that is not in English (lc_messages)"]),
        ("French", "2026-11-28 10:15:21.123 CET [77] LOG:  durée : 0.250 ms, instruction : SELECT 1\n".into(), &[], &["a message that is not in English (lc_messages)"]),
        ("half a line", "2026-11-28 10:15:21.123 CET [77] LOG:  duration: 1.0 ms  statement: SELECT 1\n2026-11-28 10:15:21.123 CET [77] LOG:  duration: 1.0 ms  statement: SEL".into(), &["SELECT 1"], &["a statement that the log's end cuts short"]),
        ("csvlog of 8.4", "2026-11-28 10:15:21.123 UTC,\"u\",\"d\",77,\"[local]\",65677f.4d,3,\"idle\",2026-11-28 10:15:00 UTC,3/4,0,LOG,00000,\"statement: SELECT 1\",,,,,,,,\n".into(), &["SELECT 1"], &[]),
        ("csvlog in quotation marks", "\"2026-11-28 10:15:21.123 UTC\",\"u\",\"d\",77,\"h:1\",65677f.4d,3,\"idle\",\"2026-11-28 10:15:00 UTC\",3/4,0,LOG,00000,\"duration: 1.5 ms  execute s/s: SELECT 1\",,,,,,,,,\"app\",\"client backend\",0\n".into(), &["SELECT 1"], &[]),
    ];
    for (name, text, expected, unread) in cases {
        let (_, kept) = read_text(text.as_bytes());
        let texts: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
        assert_eq!(texts, expected, "{name}");
        let reasons: Vec<_> = kept.unread.iter().map(|said| said.0).collect();
        assert_eq!(reasons, unread, "{name}");
    }
}

#[test]
fn a_file_is_named_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Inputs::new(vec![file.path().to_owned(), file.path().to_owned()]).is_err());
}
