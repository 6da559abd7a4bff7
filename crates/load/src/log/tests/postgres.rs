//! PostgreSQL's log as text, csvlog and jsonlog.

use super::super::prefix::Prefix;
use super::*;

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
fn postgresqls_preparations_are_those_of_their_names() {
    let said = [
        "duration: 0.1 ms  parse s1: SELECT 1",
        "duration: 0.1 ms  bind s1: SELECT 1",
        "duration: 0.1 ms  execute s1: SELECT 1",
        "duration: 0.1 ms  parse s2: SELECT 1",
        "duration: 0.1 ms  execute s1: SELECT 1",
        "execute s2/c1: SELECT 1",
        "duration: 0.1 ms  parse <unnamed>: SELECT 2",
        "statement: SELECT 3",
        "duration: 0.1 ms  execute s2: SELECT 1",
    ];
    let lines = said.map(|said| format!("2026-11-28 10:15:21.123 UTC [77] LOG:  {said}\n"));
    let (_, kept) = read_text(lines.concat().as_bytes());
    assert_eq!(fresh(&kept), [true, false, true, false, false]);
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
        let (format, kept) =
            read_text(three_statements(|word| format!("{prefix}{word}:  ")).as_bytes());
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
fn commas_do_not_make_text_csv() {
    let line = "2026-11-28 10:15:21.123 UTC [77] u@d LOG:  duration: 0.250 ms  statement: SELECT 1,2,3,4,5,6,7,8,9,10,11,12,13\n";
    assert_eq!(recognise(line.as_bytes()), Some(Format::Stderr));
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
