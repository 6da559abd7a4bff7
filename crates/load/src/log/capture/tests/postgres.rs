//! What PostgreSQL's clients and servers say.

use super::super::super::bind;
use super::super::{EARLIER, LOST, value};
use super::mysql::mysql;
use super::{CLIENT, Conversation, SERVER, from_middle, read_bytes};
use crate::driver::Dialect;
use crate::log::{Format, Value, What};

fn message(kind: u8, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 4).unwrap().to_be_bytes();
    [&[kind], &length[..], body].concat()
}

fn opening(code: u32, body: &[u8]) -> Vec<u8> {
    let length = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
    [&length[..], &code.to_be_bytes(), body].concat()
}

const READY: &[u8] = b"I";

pub(super) fn postgres() -> Conversation {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(80_877_103, b""));
    talk.say(SERVER, b"N");
    talk.say(CLIENT, &opening(196_608, b"user\0app\0database\0shop\0\0"));
    let ready = message(b'Z', READY);
    talk.say(SERVER, &[message(b'R', &[0; 4]), ready.clone()].concat());
    // One text of two statements.
    talk.say(CLIENT, &message(b'Q', b"SELECT 1; SELECT 2\0"));
    let row = message(b'D', b"\0\x01\0\0\0\x011");
    let done = |tag: &[u8]| message(b'C', tag);
    talk.say(
        SERVER,
        &[
            &row[..],
            &done(b"SELECT 1\0"),
            &row,
            &done(b"SELECT 1\0"),
            &ready,
        ]
        .concat(),
    );
    talk.say(CLIENT, &message(b'Q', b"SELECT nonsense\0"));
    let refusal = message(b'E', b"SERROR\0C42703\0Mno\0\0");
    talk.say(SERVER, &[&refusal[..], &ready].concat());
    // Prepared under a name, described, then executed in both forms.
    let parse = message(b'P', b"s1\0INSERT INTO t VALUES ($1, $2, '$1')\0\0\0");
    let describe = message(b'D', b"Ss1\0");
    let sync = message(b'S', b"");
    talk.say(CLIENT, &[&parse[..], &describe, &sync].concat());
    let described = message(b't', b"\0\x02\0\0\0\x17\0\0\0\x19");
    let none = message(b'n', b"");
    talk.say(
        SERVER,
        &[message(b'1', b""), described, none, ready.clone()].concat(),
    );
    let execute = message(b'E', b"\0\0\0\0\0");
    for values in [
        &b"\0s1\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0\x07\0\0\0\x04it's\0\0"[..],
        b"\0s1\0\0\0\0\x02\0\0\0\x018\xff\xff\xff\xff\0\0",
    ] {
        talk.say(
            CLIENT,
            &[&message(b'B', values)[..], &execute, &sync].concat(),
        );
        let bound = message(b'2', b"");
        talk.say(SERVER, &[&bound[..], &done(b"INSERT 0 1\0")].concat());
        // The commit takes its time.
        talk.say(SERVER, &ready);
    }
    // Two statements before one Sync, the first of which is refused.
    let both = [b"SELECT 1/0\0", b"SELECT 4/1\0"].map(|sql| {
        let parse = message(b'P', &[b"\0", &sql[..], b"\0\0"].concat());
        [parse, message(b'B', b"\0\0\0\0\0\0\0\0"), execute.clone()].concat()
    });
    talk.say(CLIENT, &[&both.concat()[..], &sync].concat());
    let bound = [message(b'1', b""), message(b'2', b"")].concat();
    talk.say(SERVER, &[&bound[..], &refusal, &ready].concat());
    talk.say(CLIENT, &message(b'Q', b"COPY t FROM STDIN\0"));
    talk.say(SERVER, &message(b'G', b"\0\0\0"));
    talk.say(
        CLIENT,
        &[message(b'd', b"1\t2\n"), message(b'c', b"")].concat(),
    );
    talk.say(SERVER, &[done(b"COPY 1\0"), ready].concat());
    talk.say(CLIENT, &message(b'X', b""));
    talk.end();
    talk
}

const POSTGRES: [&str; 6] = [
    "SELECT 1; SELECT 2",
    "SELECT nonsense",
    "INSERT INTO t VALUES (7, 'it''s', '$1')",
    "INSERT INTO t VALUES (8, NULL, '$1')",
    "SELECT 1/0",
    "COPY t FROM STDIN",
];

#[test]
fn postgresqls_statements_have_their_values_rows_and_times() {
    let kept = read_bytes(&postgres().file(), None);
    assert_eq!(kept.texts(), POSTGRES);
    assert_eq!(
        kept.reasons(),
        ["a statement that the server passed over after an error"]
    );
    assert_eq!(kept.events[0].what, What::Connect);
    let said = kept.statements();
    let counts: Vec<_> = said
        .iter()
        .map(|said| (said.rows, said.affected, said.failed))
        .collect();
    let refused = (None, None, true);
    let inserted = (Some(0), Some(1), false);
    let expected = [
        (Some(2), Some(0), false),
        refused,
        inserted,
        inserted,
        refused,
        inserted,
    ];
    assert_eq!(counts, expected);
    // With its commit.
    assert_eq!(said[2].duration_us, Some(200));
    // The last of them has no name, and is sent as text.
    let prepared = [false, false, true, false, true, false];
    assert_eq!(super::fresh(&kept), prepared);
    assert!(
        said.iter()
            .all(|said| said.database.as_deref() == Some(b"shop"))
    );
}

#[test]
fn a_cancel_tls_and_strangers_are_counted() {
    let mut cancel = Conversation::new();
    cancel.say(CLIENT, &opening(80_877_102, &[0; 8]));
    let mut tls = Conversation::new();
    tls.say(CLIENT, &opening(80_877_103, b""));
    tls.say(SERVER, b"S");
    let mut web = Conversation::new();
    web.say(CLIENT, b"GET / HTTP/1.1\r\n\r\n");
    web.say(SERVER, b"HTTP/1.1 200 OK\r\n\r\n");
    for (talk, words) in [
        (cancel, "a request to cancel"),
        (tls, "TLS"),
        (web, "another protocol"),
        (mysql(), "the other family"),
    ] {
        let kept = read_bytes(&talk.file(), Some(Format::PostgresPackets));
        assert!(kept.texts().is_empty());
        let [reason] = kept.reasons()[..] else {
            panic!("{:?}", kept.unread)
        };
        assert!(reason.contains(words), "{reason}");
    }
}

#[test]
fn a_session_of_postgresql_from_before_the_capture_is_read() {
    let (kept, prepared) = from_middle(&postgres(), |own| own.starts_with(b"B"));
    assert_eq!(kept.texts(), POSTGRES[4..]);
    assert_eq!(prepared, 2);
}

#[test]
fn binary_values_are_read() {
    let text = |oid: u32, bytes: &[u8]| {
        value::literal(oid, bytes, true).map(|text| String::from_utf8(text).unwrap())
    };
    let known: [(u32, &[u8], &str); 17] = [
        (16, &[1], "'true'"),
        (17, b"a\0'", "'\\x610027'"),
        (20, &(-5_i64).to_be_bytes(), "'-5'::int8"),
        (21, &[0, 7], "7"),
        (25, b"it's", "'it''s'"),
        (701, &0.25_f64.to_be_bytes(), "'0.25'::float8"),
        (1082, &9830_i32.to_be_bytes(), "'2026-11-30'"),
        (1083, &3_723_000_004_i64.to_be_bytes(), "'01:02:03.000004'"),
        (1114, &(-1_i64).to_be_bytes(), "'1999-12-31 23:59:59.999999'"),
        (1184, &i64::MAX.to_be_bytes(), "'infinity'"),
        (1700, b"\0\x02\0\0\0\0\0\x02\0\x0c\x0d\x48", "'12.34'::numeric"),
        (1700, b"\0\x01\xff\xff\x40\0\0\x04\0\x05", "'-0.0005'::numeric"),
        (1700, b"\0\x01\0\x01\0\0\0\0\0\x03", "'30000'::numeric"),
        (2950, &[0x11; 16], "'11111111111111111111111111111111'"),
        (3802, b"\x01{\"a\": 1}", "'{\"a\": 1}'"),
        (70_000, b"blue", "'blue'"),
        (
            1007,
            b"\0\0\0\x01\0\0\0\x01\0\0\0\x17\0\0\0\x02\0\0\0\x01\0\0\0\x04\0\0\0\x09\xff\xff\xff\xff",
            "'{\"9\",NULL}'",
        ),
    ];
    for (oid, bytes, expected) in known {
        assert_eq!(text(oid, bytes).as_deref(), Some(expected), "type {oid}");
        // What breaks off, or is of a type that is not known, is not guessed at.
        assert_eq!(text(600, bytes), None);
    }
    assert_eq!(text(23, &[1, 2]), None);
    assert_eq!(text(70_000, &[0, 1, 2, 3]), None);
    assert_eq!(
        value::literal(23, b"1 OR 1=1", false).unwrap(),
        b"'1 OR 1=1'::int4"
    );
}

#[test]
fn what_is_asked_together_has_its_duration_and_no_rows_if_a_part_is_asked_for() {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(196_608, b"user\0app\0\0"));
    talk.say(SERVER, &message(b'Z', READY));
    let asked = [
        message(b'P', b"\0SELECT $1\0\0\0"),
        message(b'B', b"\0\0\0\0\0\x01\0\0\0\x017\0\0"),
        message(b'D', b"P\0"),
        message(b'E', b"\0\0\0\0\x02"),
        message(b'S', b""),
    ];
    let row = message(b'D', b"\0\x01\0\0\0\x017");
    let answered = [
        message(b'1', b""),
        message(b'2', b""),
        message(b'T', b"\0\0"),
        row.repeat(2),
        message(b's', b""),
        message(b'Z', READY),
    ];
    talk.say(CLIENT, &asked.concat());
    talk.say(SERVER, &answered.concat());
    let kept = read_bytes(&talk.file(), None);
    let last = kept.statements().last().copied().unwrap().clone();
    let (sql, rows) = (String::from_utf8(last.sql).unwrap(), last.rows);
    assert_eq!(
        (&*sql, last.duration_us, rows),
        ("SELECT '7'", Some(100), None)
    );
}

#[test]
fn what_is_asked_ahead_of_a_sync_is_bound_all_the_same() {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(196_608, b"user\0app\0\0"));
    talk.say(SERVER, &message(b'Z', READY));
    let parse = message(b'P', b"s\0SELECT $1 + $2\0\0\x02\0\0\0\x17\0\0\0\0");
    let bind = |value: u8| {
        let values = [
            b"\0s\0\0\x02\0\x01\0\0\0\x02\0\0\0\x04\0\0\0",
            &[value][..],
            b"\0\0\0\x01x\0\0",
        ];
        message(b'B', &values.concat())
    };
    let execute = message(b'E', b"\0\0\0\0\0");
    let sync = message(b'S', b"");
    talk.say(
        CLIENT,
        &[&parse[..], &bind(7), &execute, &sync, &bind(8)].concat(),
    );
    let done = [
        message(b'2', b""),
        message(b'C', b"SELECT 0\0"),
        message(b'Z', READY),
    ]
    .concat();
    talk.say(SERVER, &[message(b'1', b""), done.clone()].concat());
    // It was bound before the first Sync was answered, and is executed behind that.
    talk.say(CLIENT, &[&execute[..], &sync, &execute, &sync].concat());
    let refused = [
        message(b'E', b"SERROR\0C34000\0Mno\0\0"),
        message(b'Z', READY),
    ]
    .concat();
    talk.say(SERVER, &[done, refused].concat());
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(kept.texts(), ["SELECT 7 + 'x'", "SELECT 8 + 'x'"]);
    assert_eq!(kept.reasons(), ["a cursor's further rows"]);
    let bound = kept.statements()[1].bound.clone().unwrap();
    assert_eq!(bound.sql, b"SELECT $1::int4 + $2");
    assert_eq!(bound.values, [Value::Int(8), Value::Text(b"x".to_vec())]);
}

#[test]
fn nothing_is_bound_to_a_text_that_may_be_anothers() {
    let mut talk = Conversation::new();
    talk.say(CLIENT, &opening(196_608, b"user\0app\0\0"));
    talk.say(SERVER, &message(b'Z', READY));
    let bind = |name: &[u8]| {
        message(
            b'B',
            &[b"\0", name, b"\0\0\0\0\x01\0\0\0\x017\0\0"].concat(),
        )
    };
    let ends = [message(b'E', b"\0\0\0\0\0"), message(b'S', b"")].concat();
    let done = [
        message(b'2', b""),
        message(b'C', b"SELECT 1\0"),
        message(b'Z', READY),
    ]
    .concat();
    for (name, sql) in [
        (&b"s"[..], &b"SELECT 1, $1"[..]),
        (b"", b"SELECT 2, $1"),
        (b"", b"SELECT 3, $1"),
    ] {
        let parse = message(b'P', &[name, b"\0", sql, b"\0\0\0"].concat());
        talk.say(CLIENT, &[&parse[..], &bind(name), &ends].concat());
        talk.say(SERVER, &[message(b'1', b""), done.clone()].concat());
    }
    let lost = talk.sent.len() - 2;
    talk.sent.remove(lost);
    for name in [&b"s"[..], b""] {
        talk.say(CLIENT, &[bind(name), ends.clone()].concat());
        talk.say(SERVER, &done);
    }
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(
        kept.texts(),
        ["SELECT 1, '7'", "SELECT 2, '7'", "SELECT 1, '7'"]
    );
    assert_eq!(kept.reasons(), [LOST, EARLIER]);
}

#[test]
fn a_value_that_is_named_too_often_is_not_multiplied() {
    let sql = b"SELECT 1".iter().chain(b",$1".iter().cycle().take(900));
    let sql: Vec<u8> = sql.copied().collect();
    let literals = [vec![b'x'; 1 << 20]];
    assert_eq!(bind(&sql, Dialect::Postgres, &literals), None);
}
