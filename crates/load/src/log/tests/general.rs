//! The general log of the MySQL family, and what was prepared in it.

use super::super::AS_TEXT;
use super::*;

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
    assert_eq!(reasons, [AS_TEXT; 4]);
}

#[test]
fn each_preparation_is_that_of_the_next_execution() {
    let said = [
        (8, "Prepare\tSELECT ?"),
        (8, "Execute\tSELECT 1"),
        (9, "Execute\tSELECT 1"),
        (8, "Close stmt\t"),
        (8, "Prepare\tSELECT ?"),
        (8, "Execute\tSELECT 2"),
        (8, "Execute\tSELECT 3"),
        (8, "Query\tSELECT 4"),
    ];
    let entries =
        said.map(|(session, said)| format!("2026-11-28T10:15:21.000100Z\t    {session} {said}\n"));
    let (_, kept) = read_text(entries.concat().as_bytes());
    assert_eq!(fresh(&kept), [true, false, true, false, false]);
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
    assert_eq!(reasons, [AS_TEXT]);

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
