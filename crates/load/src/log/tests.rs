//! Each kind of log as servers write it, and damaged ones.

use std::io::{self, Write};

use super::prefix::Prefix;
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
fn the_general_log_is_read() {
    let text = "\
2026-11-28T10:15:21.000100Z\t    8 Connect\troot@localhost on shop using Socket
2026-11-28T10:15:21.000200Z\t    8 Query\tSELECT 1,
       2
2026-11-28T10:15:21.000300Z\t    8 Prepare\tSELECT ?
2026-11-28T10:15:21.000400Z\t    8 Execute\tSELECT 3
\t\t    9 Query\tSELECT 4
2026-11-28T10:15:21.000500Z\t    8 Quit\t
";
    let (format, kept) = read_text(text.as_bytes());
    assert_eq!(format, Format::General);
    let texts: Vec<_> = statements(&kept)
        .into_iter()
        .map(|said| (said.0, said.1))
        .collect();
    let expected = [
        (8, "USE `shop`"),
        (8, "SELECT 1,\n       2"),
        (8, "SELECT 3"),
        (9, "SELECT 4"),
    ];
    assert_eq!(texts, expected.map(|(id, text)| (id, text.to_owned())));
    assert_eq!(kept.events.last().unwrap().what, What::Quit);
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

#[test]
fn executions_are_those_of_statements_that_their_session_has_prepared() {
    let text = "\
2026-11-28T10:15:21.000100Z\t    8 Prepare\tSELECT a
  FROM t WHERE b=? AND c=? LIMIT ?
2026-11-28T10:15:21.000200Z\t    8 Prepare\tSELECT '?'
2026-11-28T10:15:21.000300Z\t    8 Execute\tSELECT a
  FROM t WHERE b=-5 AND c='it''s ''so''' LIMIT '20'
2026-11-28T10:15:21.000400Z\t    8 Execute\tSELECT a
  FROM t WHERE b=NULL AND c=1.5 LIMIT 1e0
2026-11-28T10:15:21.000450Z\t    8 Execute\tSELECT a
  FROM t WHERE b=-1.5e-7 AND c=1E+20 LIMIT 1e-05
2026-11-28T10:15:21.000500Z\t    8 Execute\tSELECT '?'
2026-11-28T10:15:21.000600Z\t    8 Query\tSELECT '?'
2026-11-28T10:15:21.000700Z\t    9 Execute\tSELECT '?'
2026-11-28T10:15:21.000800Z\t    8 Execute\tSELECT a
  FROM t WHERE b=DATE'2026-11-28' AND c=1 LIMIT 1
2026-11-28T10:15:21.000850Z\t    8 Execute\tSELECT a
  FROM t WHERE b=1 AND c='C:\\temp' LIMIT 1
2026-11-28T10:15:21.000900Z\t    8 Quit\t
2026-11-28T10:15:21.001000Z\t    8 Execute\tSELECT '?'
";
    let (_, kept) = read_text(text.as_bytes());
    let marks = "SELECT a\n  FROM t WHERE b=? AND c=? LIMIT ?";
    let text = |text: &str| format!("Text({:?})", text.as_bytes());
    let values = [
        ["Int(-5)", &text("it's 'so'"), &text("20")].join(", "),
        ["Null", &text("1.5"), "Double(1.0)"].join(", "),
        "Double(-1.5e-7), Double(1e20), Double(1e-5)".to_owned(),
    ];
    let expected = [
        format!("{marks} [{}]", values[0]),
        format!("{marks} [{}]", values[1]),
        format!("{marks} [{}]", values[2]),
        "SELECT '?' []".to_owned(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
        String::new(),
    ];
    assert_eq!(bound(&kept), expected);
    let reasons: Vec<_> = kept.unread.iter().map(|said| said.0).collect();
    assert_eq!(reasons, [super::AS_TEXT; 4]);
}

#[test]
fn what_one_session_prepares_makes_no_other_forget() {
    let entry =
        |session: u64, said: &str| format!("2026-11-28T10:15:21.000100Z\t    {session} {said}\n");
    let mut text = entry(8, "Prepare\tSELECT ?");
    // A text that is prepared again is no further one.
    let large = "x".repeat(1 << 20);
    for _ in 0..100 {
        text += &entry(9, &format!("Prepare\tSELECT '{large}'"));
    }
    for number in 0..1001 {
        text += &entry(10, &format!("Prepare\tSELECT {number}, ?"));
    }
    let executed = [(8, "SELECT 7"), (10, "SELECT 0, 7"), (10, "SELECT 1, 7")];
    for (session, sql) in executed {
        text += &entry(session, &format!("Execute\t{sql}"));
    }
    let (_, kept) = read_text(text.as_bytes());
    let expected = ["SELECT ? [Int(7)]", "", "SELECT 1, ? [Int(7)]"];
    assert_eq!(bound(&kept), expected);
    let reasons: Vec<_> = kept.unread.iter().map(|said| said.0).collect();
    assert_eq!(reasons, [super::AS_TEXT]);

    // What has ended holds nothing any more.
    let sessions = (0..70).map(|session| {
        let prepared = format!("Prepare\tSELECT '{large}', ?");
        let executed = format!("Execute\tSELECT '{large}', 7");
        [prepared, executed, "Quit\t".to_owned()].map(|said| entry(session, &said))
    });
    let text: String = sessions.flatten().collect();
    let (_, kept) = read_text(text.as_bytes());
    assert_eq!(bound(&kept).len(), 70);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
}

#[test]
fn postgresqls_statements_with_a_name_were_prepared() {
    let line = |name: &str| {
        let prefix = "2026-11-28 10:15:21.123 UTC [77] ";
        format!(
            "{prefix}LOG:  duration: 1.0 ms  execute {name}: SELECT $2, a$1, $1\n\
             {prefix}DETAIL:  parameters: $1 = 'it''s', $2 = NULL\n"
        )
    };
    let (_, kept) = read_text([line("s1"), line("<unnamed>")].concat().as_bytes());
    let values = format!("[Text({:?}), Null]", b"it's");
    assert_eq!(
        bound(&kept),
        [format!("SELECT $2, a$1, $1 {values}"), String::new()]
    );
    let texts: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(texts, ["SELECT NULL, a$1, 'it''s'"; 2]);
}

#[test]
fn server_audit_is_read() {
    let text = r#"20261129 18:20:22,vm,root,localhost,3,0,CONNECT,shop,,0
20261129 18:20:22,vm,root,localhost,3,5,WRITE,shop,t,
20261129 18:20:22,vm,root,localhost,3,5,QUERY,shop,'INSERT INTO t VALUES (1, \'it\'\'s "a" \\\\ back\\\'slash\')',0
20261129 18:20:23,vm,root,localhost,3,6,QUERY,shop,'SELECT \'line\ntwo\ttab\', 7',0
20261129 18:20:23,vm,root,localhost,3,7,QUERY,shop,'SELECT 'next' FROM t',0
20261129 18:20:23,vm,root,localhost,3,8,QUERY,,'SELECT nothing FROM nowhere',1146
20261129 18:20:23,vm,root,localhost,3,0,DISCONNECT,shop,,0
"#;
    let long = format!(
        "20261129 18:20:24,vm,a,b,4,9,QUERY,d,'{}',0\n",
        "a".repeat(1023)
    );
    let (format, kept) =
        read_text(format!("{text}{long}20261129 18:20:24,vm,a,b,4,9,QUE").as_bytes());
    assert_eq!(format, Format::Audit);
    let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(
        said,
        [
            r#"INSERT INTO t VALUES (1, 'it''s "a" \\ back\'slash')"#,
            "SELECT 'line\ntwo\ttab', 7",
            "SELECT 'next' FROM t",
            "SELECT nothing FROM nowhere",
        ]
    );
    assert_eq!(kept.events[0].what, What::Connect);
    assert_eq!(kept.events.last().unwrap().what, What::Quit);
    let refused = |event: &Event| matches!(&event.what, What::Statement(said) if said.failed);
    assert_eq!(kept.events.iter().filter(|event| refused(event)).count(), 1);
    assert_eq!(kept.unread.len(), 2, "{:?}", kept.unread);
}

/// The same three statements, one of them with parameters, under a prefix.
fn postgres(prefix: impl Fn(&str) -> String) -> String {
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
fn postgresqls_text_is_read_with_the_usual_prefixes() {
    let at = "2026-11-28 10:15:21";
    let prefixes: [(&str, String); 5] = [
        ("default", format!("{at}.123 UTC [77] ")),
        ("Debian", format!("{at}.123 CET [77] u@d ")),
        ("RDS", format!("{at} UTC:10.0.0.7(5432):u@d:[77]:")),
        ("pgreplay", format!("{at}.123 UTC|u|d|65677f.4d|")),
        (
            "pgBadger",
            format!("{at} UTC [77]: [3-1] user=u,db=d,app=psql,client=10.0.0.7 "),
        ),
    ];
    for (name, prefix) in prefixes {
        let (format, kept) = read_text(postgres(|word| format!("{prefix}{word}:  ")).as_bytes());
        assert_eq!(format, Format::Stderr, "{name}");
        let said: Vec<_> = statements(&kept)
            .into_iter()
            .map(|said| (said.1, said.2))
            .collect();
        let expected = [
            ("SELECT a,\nb FROM t".to_owned(), Some(250)),
            ("SELECT 'it''s', NULL".to_owned(), Some(1500)),
        ];
        assert_eq!(said, expected, "{name}");
        assert_eq!(kept.events.last().unwrap().what, What::Quit, "{name}");
    }
}

#[test]
fn a_prefix_that_tells_too_little_is_refused() {
    for prefix in ["", "%m ", "%p ", "%m [%p] %"] {
        assert!(Prefix::new(prefix).is_err(), "{prefix}");
    }
}

#[test]
fn csvlog_and_jsonlog_are_read() {
    let csv = "2026-11-28 10:15:21.123 UTC,\"u\",\"d\",77,\"[local]\",65677f.4d,3,\"SELECT\",\
               2026-11-28 10:15:00 UTC,3/4,0,LOG,00000,\"duration: 1.500 ms  execute <unnamed>: SELECT $1\",\
               \"parameters: $1 = '5'\",,,,,,,,\"psql\",\"client backend\",,0\n";
    let (format, kept) = read_text(csv.as_bytes());
    assert_eq!(format, Format::Csvlog);
    assert_eq!(statements(&kept)[0].1, "SELECT '5'");
    let json = "{\"timestamp\":\"2026-11-28 10:15:21.123 UTC\",\"user\":\"u\",\"dbname\":\"d\",\"pid\":77,\
                \"session_id\":\"65677f.4d\",\"line_num\":3,\"error_severity\":\"LOG\",\
                \"message\":\"duration: 1.500 ms  statement: SELECT 6\"}\n{\"timestamp\":\"2026-";
    let (format, kept) = read_text(json.as_bytes());
    assert_eq!(format, Format::Jsonlog);
    assert_eq!(statements(&kept)[0].1, "SELECT 6");
    assert_eq!(kept.unread, [("a line that is no JSON of a message", 2)]);
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

#[test]
fn bytes_that_are_no_text_pass() {
    let mut text = MYSQL_8.as_bytes().to_vec();
    let at = text.windows(4).position(|own| own == b"name").unwrap();
    text[at..at + 4].copy_from_slice(b"\x00\xff\xfe'");
    let (_, kept) = read_text(&text);
    assert_eq!(statements(&kept).len(), 1);
}

#[test]
fn commas_do_not_make_text_csv() {
    let line = "2026-11-28 10:15:21.123 UTC [77] u@d LOG:  duration: 0.250 ms  statement: SELECT 1,2,3,4,5,6,7,8,9,10,11,12,13\n";
    assert_eq!(recognise(line.as_bytes()), Some(Format::Stderr));
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
        ("Cloud SQL", postgres(|word| format!("2026-11-28 10:15:21.123 UTC [77]: [3-1] db=d,user=u {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("a query's number", postgres(|word| format!("2026-11-28 10:15:21.123 UTC [77] [queryid=-5] u@d {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("a line's number beside the process", postgres(|word| format!("2026-11-28 10:15:21 UTC [77-3] u@d {word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
        ("Azure", postgres(|word| format!("2026-11-28 10:15:21 UTC-65677f10.4d-{word}:  ")), &["SELECT a,\nb FROM t", "SELECT 'it''s', NULL"], &[]),
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
fn the_database_stands_in_many_prefixes() {
    for head in [
        "db=d,user=u,app=a@b ",
        "u@d ",
        "[user=u,db=d,app=x] ",
        "user=u,database=d ",
    ] {
        let text = format!("2026-11-28 10:15:21.123 UTC [77] {head}LOG:  statement: SELECT 1\n");
        let (_, kept) = read_text(text.as_bytes());
        let What::Statement(said) = &kept.events[0].what else {
            panic!("{:?}", kept.events)
        };
        assert_eq!(said.database.as_deref(), Some(&b"d"[..]), "{head}");
    }
}

#[test]
fn a_file_is_named_once() {
    let file = tempfile::NamedTempFile::new().unwrap();
    assert!(Inputs::new(vec![file.path().to_owned(), file.path().to_owned()]).is_err());
}

/// Records as the plugins' manuals have them; each in the forms that it may have.
#[test]
#[expect(clippy::too_many_lines, reason = "a log in each form")]
fn audit_logs_of_mysql_and_percona_are_read() {
    let old = r#"<?xml version="1.0" encoding="UTF-8"?>
<AUDIT>
  <AUDIT_RECORD
    NAME="Audit" TIMESTAMP="2026-11-29T10:00:00 UTC" SERVER_ID="1"/>
  <AUDIT_RECORD
    NAME="Connect"
    TIMESTAMP="2026-11-29T10:00:01 UTC"
    CONNECTION_ID="7"
    STATUS="0"
    DB="shop"/>
  <AUDIT_RECORD NAME="Query" TIMESTAMP="2026-11-29T10:00:01 UTC" CONNECTION_ID="7" STATUS="0" SQLTEXT="SELECT &apos;a&quot; &lt;&#10;&#x41;&amp;lt;'
  FROM t"/>
  <AUDIT_RECORD NAME="Query" TIMESTAMP="2026-11-29T10:00:02 UTC" CONNECTION_ID="7" STATUS="1146" SQLTEXT="SELECT b FROM nowhere"/>
  <AUDIT_RECORD NAME="Quit" TIMESTAMP="2026-11-29T10:00:03 UTC" CONNECTION_ID="7" STATUS="0"/>
"#;
    let element = |name: &str, more: &str| {
        format!(
            " <AUDIT_RECORD>\n  <NAME>{name}</NAME>\n  <TIMESTAMP>2026-11-29T10:00:01 UTC</TIMESTAMP>\n  \
             <CONNECTION_ID>7</CONNECTION_ID>\n  {more}\n </AUDIT_RECORD>\n"
        )
    };
    let text = "<STATUS>0</STATUS><SQLTEXT>SELECT &apos;a&quot; &lt;&#10;&#x41;&amp;lt;'\n  FROM t</SQLTEXT>";
    let refused = "<STATUS>1146</STATUS><SQLTEXT>SELECT b FROM nowhere</SQLTEXT>";
    let connect = element("Connect", "<STATUS>0</STATUS><DB>shop</DB>");
    let new = [
        "<?xml version=\"1.0\"?>\n<AUDIT>\n".to_owned(),
        connect.clone(),
        element("Query", text),
        element("Execute", refused),
        element("Quit", "<STATUS>0</STATUS>"),
    ]
    .concat();
    // Percona's filter tells of a statement when it begins, and again when it ends.
    let twice = [
        "<AUDIT>\n".to_owned(),
        connect,
        element("Query", text),
        element("Query Start", text),
        element("Query Status End", text),
        element("Query", text),
        element("Query", &refused.replace("1146", "0")),
        element("Query Start", refused),
        element("Query", refused),
        element("Disconnect", ""),
    ]
    .concat();
    let sql = r#"SELECT 'a\" <\nA&lt;'\n  FROM t"#;
    let percona = |name: &str, more: &str| {
        format!(
            "{{\"audit_record\":{{\"name\":\"{name}\",\"timestamp\":\"2026-11-29T10:00:01 UTC\",\
             \"connection_id\":\"7\",{more}}}}}\n"
        )
    };
    let flat = [
        percona("Connect", r#""status":0,"db":"shop""#),
        percona(
            "Query",
            &format!(r#""status":0,"sqltext":"{sql}","db":"shop""#),
        ),
        percona(
            "Query",
            r#""status":1146,"sqltext":"SELECT b FROM nowhere","db":"shop""#,
        ),
        percona("Quit", r#""status":0"#),
    ]
    .concat();
    let general = |event: &str, status: u32, sql: &str, more: &str| {
        format!(
            "  {{ \"timestamp\": \"2026-11-29 10:00:01\", \"id\": 1, \"class\": \"general\", \"event\": \"{event}\",\n    \
             \"connection_id\": 7, \"login\": {{ \"user\": \"a{{\" }}, {more}\n    \"general_data\": {{ \
             \"command\": \"Query\", \"query\": \"{sql}\", \"status\": {status} }} }},\n"
        )
    };
    let connection = |event: &str| {
        format!(
            "  {{ \"timestamp\": \"2026-11-29 10:00:01\", \"class\": \"connection\", \"event\": \"{event}\", \
             \"connection_id\": 7, \"connection_data\": {{ \"status\": 0, \"db\": \"shop\" }} }},\n"
        )
    };
    let statistics = "\"query_statistics\": { \"query_time\": 0.5, \"rows_sent\": 3 },";
    let nested = [
        "[\n".to_owned(),
        connection("connect"),
        general("log", 0, sql, ""),
        general("status", 0, sql, statistics),
        general("status", 1146, "SELECT b FROM nowhere", ""),
        connection("disconnect"),
        "  { \"class\": \"general\", \"event\": \"sta".to_owned(),
    ]
    .concat();
    for (name, text, format) in [
        ("old style", old.to_owned(), Format::AuditXml),
        ("new style", new, Format::AuditXml),
        ("a filter's", twice, Format::AuditXml),
        ("Percona's JSON", flat, Format::AuditJson),
        ("a filter's JSON", nested, Format::AuditJson),
    ] {
        let (found, kept) = read_text(text.as_bytes());
        assert_eq!(found, format, "{name}");
        let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
        let first = "SELECT 'a\" <\nA&lt;'\n  FROM t";
        let expected = ["USE `shop`", first, "SELECT b FROM nowhere"];
        // A further message says that the last statement was refused.
        let again: &[&str] = if name == "a filter's" {
            &expected[2..]
        } else {
            &[]
        };
        assert_eq!(said, [&expected[..], again].concat(), "{name}");
        assert_eq!(kept.events.last().unwrap().what, What::Quit, "{name}");
        let refused = |event: &Event| matches!(&event.what, What::Statement(said) if said.failed);
        assert_eq!(
            kept.events.iter().filter(|event| refused(event)).count(),
            1,
            "{name}"
        );
        let halves = usize::from(name == "a filter's JSON");
        assert_eq!(kept.unread.len(), halves, "{name}: {:?}", kept.unread);
        let What::Statement(said) = &kept.events[2].what else {
            panic!("{name}: {:?}", kept.events)
        };
        if halves == 1 {
            assert_eq!((said.duration_us, said.rows), (Some(500_000), Some(3)));
        }
    }
}

#[test]
fn statements_that_server_audit_cut_at_any_length_are_found() {
    let entry = |number: u32, sql: &str, code: u32| {
        format!("20261129 18:20:22,vm,root,localhost,3,{number},QUERY,shop,'{sql}',{code}\n")
    };
    let long = "INSERT INTO t VALUES (1, 2, 3, 4, 5, 6, 7, 8, 9";
    let text = [
        entry(1, "SELECT 1", 0),
        // The server refused what the client had not finished.
        entry(2, "SELECT (1", 1064),
        entry(3, &long[..40], 0),
        entry(4, "SELECT a FROM t WHERE b = 17 AND c = 400", 0),
        entry(5, "SELECT 2", 0),
        entry(6, "SELECT a FROM t WHERE b = 17 AND", 0),
    ];
    let (_, kept) = read_text(text.concat().as_bytes());
    let said: Vec<_> = statements(&kept).into_iter().map(|said| said.1).collect();
    assert_eq!(
        said,
        [
            "SELECT 1",
            "SELECT (1",
            "SELECT 2",
            "SELECT a FROM t WHERE b = 17 AND"
        ]
    );
    let reason = "a statement cut short (server_audit_query_log_limit)";
    assert_eq!(kept.unread, [(reason, 3), (reason, 4)]);
}
