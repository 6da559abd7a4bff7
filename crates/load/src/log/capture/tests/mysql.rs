//! What MySQL's clients and servers say.

use super::super::{CURSOR, EARLIER, LOST};
use super::{CLIENT, Conversation, PLAIN, SERVER, file, fresh, from_middle, read_bytes};
use crate::log::{Value, What};

fn packet(number: u8, content: &[u8]) -> Vec<u8> {
    let length = u32::try_from(content.len()).unwrap().to_le_bytes();
    [&length[..3], &[number], content].concat()
}

/// `PROTOCOL_41`, `TRANSACTIONS`, `SECURE_CONNECTION`, `CONNECT_WITH_DB`, `PLUGIN_AUTH`.
const FLAGS: u32 = 0x0200 | 0x2000 | 0x8000 | 8 | 0x8_0000;

fn greeting() -> Vec<u8> {
    let flags = (FLAGS | 0x0800 | 0x20).to_le_bytes();
    let content = [
        b"\x0a8.0.36\0\x05\0\0\0abcdefgh\0",
        &flags[..2],
        b"\x21\x02\0",
        &flags[2..],
        &[21],
        &[0; 10],
        b"abcdefghijkl\0mysql_native_password\0",
    ]
    .concat();
    packet(0, &content)
}

fn answer(flags: u32) -> Vec<u8> {
    let content = [
        &flags.to_le_bytes()[..],
        &[0, 0, 0, 1, 0x21],
        &[0; 23],
        b"app\0\x04wxyzshop\0mysql_native_password\0",
    ]
    .concat();
    packet(1, &content)
}

pub(super) const DONE: &[u8] = b"\0\0\0\x02\0\0\0";

pub(super) fn logged_in() -> Conversation {
    let mut talk = Conversation::new();
    talk.say(SERVER, &greeting());
    talk.say(CLIENT, &answer(FLAGS));
    talk.say(SERVER, &packet(2, DONE));
    talk
}

pub(super) fn query(talk: &mut Conversation, sql: &str, reply: &[&[u8]]) {
    talk.say(CLIENT, &packet(0, &[b"\x03", sql.as_bytes()].concat()));
    let numbered = (1..)
        .zip(reply)
        .flat_map(|(number, content)| packet(number, content));
    talk.say(SERVER, &numbered.collect::<Vec<_>>());
}

const COLUMN: &[u8] = b"\x03def\0\0\0\x01a\0\x0c\x3f\0\x0b\0\0\0\x03\0\0\0\0\0";
const OLD_END: &[u8] = b"\xfe\0\0\x02\0";
const NEW_END: &[u8] = b"\xfe\0\0\x02\0\0\0";

pub(super) fn mysql() -> Conversation {
    let mut talk = logged_in();
    query(
        &mut talk,
        "SELECT a FROM t",
        &[b"\x01", COLUMN, OLD_END, b"\x011", b"\x012", OLD_END],
    );
    query(
        &mut talk,
        "SELECT a FROM u",
        &[b"\x01", COLUMN, b"\x011", NEW_END],
    );
    query(&mut talk, "UPDATE t SET a=1", &[b"\0\x03\0\x02\0\0\0"]);
    query(
        &mut talk,
        "SELECT nonsense",
        &[b"\xff\x1e\x04#42S22Unknown column"],
    );
    query(&mut talk, "USE other", &[DONE]);
    // Prepared: an integer, NULL, a string, a date; then again with the same types.
    let sql = b"\x16INSERT INTO t VALUES (?, ?, '?', ?, ?)";
    talk.say(CLIENT, &packet(0, sql));
    let mut reply = packet(1, b"\0\x07\0\0\0\0\0\x04\0\0\0\0");
    for number in 2..6 {
        reply.extend(packet(number, COLUMN));
    }
    reply.extend(packet(6, OLD_END));
    talk.say(SERVER, &reply);
    let first = b"\x17\x07\0\0\0\0\x01\0\0\0\x02\x01\x08\0\x06\0\xfd\0\x0a\0\xfe\xff\xff\xff\xff\xff\xff\xff\x04it's\x04\xea\x07\x0b\x1d";
    talk.say(CLIENT, &packet(0, first));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    let again = b"\x17\x07\0\0\0\0\x01\0\0\0\x0e\0\x05\0\0\0\0\0\0\0";
    talk.say(CLIENT, &packet(0, again));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    talk.say(CLIENT, &packet(0, b"\x02third"));
    talk.say(SERVER, &packet(1, DONE));
    talk.say(CLIENT, &packet(0, b"\x01"));
    talk.end();
    talk
}

pub(super) const MYSQL: [&str; 8] = [
    "SELECT a FROM t",
    "SELECT a FROM u",
    "UPDATE t SET a=1",
    "SELECT nonsense",
    "USE other",
    "INSERT INTO t VALUES (-2, NULL, '?', 'it\\'s', '2026-11-29')",
    "INSERT INTO t VALUES (5, NULL, '?', NULL, NULL)",
    "USE `third`",
];

#[test]
fn mysqls_statements_have_their_values_rows_and_times() {
    let kept = read_bytes(&mysql().file(), None);
    assert_eq!(kept.texts(), MYSQL);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
    assert_eq!(kept.events[0].what, What::Connect);
    assert_eq!(
        kept.events
            .iter()
            .filter(|event| event.what == What::Quit)
            .count(),
        2
    );
    let said = kept.statements();
    let rows: Vec<_> = said.iter().map(|said| (said.rows, said.affected)).collect();
    assert_eq!(
        rows[..4],
        [
            (Some(2), None),
            (Some(1), None),
            (Some(0), Some(3)),
            (None, None)
        ]
    );
    let failed: Vec<_> = said.iter().map(|said| said.failed).collect();
    assert_eq!(
        failed,
        [false, false, false, true, false, false, false, false]
    );
    assert!(said.iter().all(|said| said.duration_us == Some(100)));
    let databases: Vec<_> = said
        .iter()
        .map(|said| said.database.as_deref().unwrap())
        .collect();
    assert_eq!(databases[0], b"shop");
    assert_eq!(databases[5], b"other");
    assert_eq!(databases[7], b"other", "until it is done");
}

#[test]
fn a_connection_from_before_the_capture_is_read_from_its_next_statement() {
    let (kept, _) = from_middle(&mysql(), |own| own.ends_with(NEW_END));
    assert_eq!(kept.texts(), MYSQL[2..]);
    let [(reason, packet)] = kept.unread[..] else {
        panic!("{:?}", kept.unread)
    };
    assert!(reason.starts_with("a connection that began before"));
    assert_eq!(packet, 2);
    // Without what the client said that it can, changed rows are not comparable.
    assert_eq!(kept.statements()[0].affected, None);
    let (kept, prepared) = from_middle(&mysql(), |own| own.get(4) == Some(&0x17));
    assert_eq!(kept.texts(), MYSQL[7..]);
    assert_eq!(prepared, 2);
}

#[test]
fn what_cannot_be_read_is_said_with_its_packet() {
    for (flags, words) in [(FLAGS | 0x0800, "TLS"), (FLAGS | 0x20, "compressed")] {
        let mut talk = Conversation::new();
        talk.say(SERVER, &greeting());
        let answer = answer(flags);
        let is_tls = flags & 0x0800 != 0;
        let said = if is_tls {
            packet(1, &answer[4..36])
        } else {
            answer
        };
        talk.say(CLIENT, &said);
        talk.say(CLIENT, b"\x16\x03\x01 and so on");
        let kept = read_bytes(&talk.file(), None);
        assert!(kept.texts().is_empty());
        let [(reason, packet)] = kept.unread[..] else {
            panic!("{:?}", kept.unread)
        };
        assert!(reason.contains(words), "{reason}");
        assert_eq!(packet, 5);
    }
}

#[test]
fn a_statement_of_many_packets_is_whole() {
    let mut talk = logged_in();
    let sql = [
        b"\x03INSERT INTO t VALUES ('",
        &vec![b'x'; 40 << 20][..],
        b"')",
    ]
    .concat();
    let mut number = 0;
    let parts = sql.chunks(0xFF_FFFF);
    for part in parts {
        // As long as loopback's segments.
        for piece in packet(number, part).chunks(60_000) {
            talk.send(CLIENT, 0x18, piece);
        }
        number += 1;
    }
    talk.say(SERVER, &packet(number, DONE));
    query(&mut talk, "SELECT 1", &[DONE]);
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(kept.statements().len(), 2);
    assert_eq!(kept.statements()[0].sql, &sql[1..]);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
}

#[test]
fn what_mysqls_clients_send_and_get_beside_statements_is_passed_over() {
    let mut talk = logged_in();
    talk.say(
        CLIENT,
        &packet(0, b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t"),
    );
    talk.say(SERVER, &packet(1, b"\xfbf"));
    talk.say(CLIENT, &packet(2, b"1\t2\n"));
    talk.say(CLIENT, &packet(3, b""));
    talk.say(SERVER, &packet(4, DONE));
    // A cursor's rows come later.
    talk.say(CLIENT, &packet(0, b"\x16SELECT a FROM t"));
    let prepared = [
        packet(1, b"\0\x01\0\0\0\x01\0\0\0\0\0\0"),
        packet(2, COLUMN),
    ];
    talk.say(SERVER, &[prepared.concat(), packet(3, OLD_END)].concat());
    talk.say(CLIENT, &packet(0, b"\x17\x01\0\0\0\x01\x01\0\0\0"));
    let described = [packet(1, b"\x01"), packet(2, COLUMN)].concat();
    talk.say(SERVER, &[described, packet(3, b"\xfe\0\0\x42\0")].concat());
    talk.say(CLIENT, &packet(0, b"\x1c\x01\0\0\0\x02\0\0\0"));
    let rows = [packet(1, b"\0\0\x05\0\0\0"), packet(2, b"\0\0\x06\0\0\0")];
    talk.say(SERVER, &[rows.concat(), packet(3, OLD_END)].concat());
    // Two results.
    let one = [&b"\x01"[..], COLUMN, OLD_END, b"\x011"];
    let mut reply = one.to_vec();
    reply.push(b"\xfe\0\0\x0a\0");
    reply.extend_from_slice(&one);
    reply.push(OLD_END);
    query(&mut talk, "CALL p()", &reply);
    query(&mut talk, "SELECT 1", &[DONE]);
    let kept = read_bytes(&talk.file(), None);
    let texts = [
        "LOAD DATA LOCAL INFILE 'f' INTO TABLE t",
        "SELECT a FROM t",
        "CALL p()",
        "SELECT 1",
    ];
    assert_eq!(kept.texts(), texts);
    assert_eq!(kept.reasons(), [CURSOR]);
    let said = kept.statements();
    let rows: Vec<_> = said.iter().map(|said| said.rows).collect();
    assert_eq!(rows, [Some(0), None, Some(2), Some(0)]);
    assert_eq!(said[0].duration_us, Some(400), "with the file");
}

#[test]
fn a_long_files_packets_are_no_commands() {
    let mut talk = logged_in();
    let load = b"\x03LOAD DATA LOCAL INFILE 'f' INTO TABLE t";
    talk.say(CLIENT, &packet(0, load));
    talk.say(SERVER, &packet(1, b"\xfbf"));
    // The numbers begin anew behind 255.
    for number in 2..600_u16 {
        talk.say(CLIENT, &packet(number.to_le_bytes()[0], b"\x03SELECT 0"));
    }
    talk.say(CLIENT, &packet(600_u16.to_le_bytes()[0], b""));
    talk.say(
        SERVER,
        &packet(601_u16.to_le_bytes()[0], b"\0\x05\0\x02\0\0\0"),
    );
    query(&mut talk, "SELECT 1", &[DONE]);
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(
        kept.texts(),
        [str::from_utf8(&load[1..]).unwrap(), "SELECT 1"]
    );
    assert_eq!(kept.statements()[0].affected, Some(5));
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
}

#[test]
fn values_that_are_sent_ahead_are_those_of_the_next_execution() {
    let mut talk = logged_in();
    talk.say(CLIENT, &packet(0, b"\x16INSERT INTO t VALUES (?, ?)"));
    let reply = [
        packet(1, b"\0\x07\0\0\0\0\0\x02\0\0\0\0"),
        packet(2, COLUMN),
    ];
    talk.say(
        SERVER,
        &[reply.concat(), packet(3, COLUMN), packet(4, OLD_END)].concat(),
    );
    let ahead =
        |place: u8, text: &[u8]| packet(0, &[&b"\x18\x07\0\0\0"[..], &[place, 0], text].concat());
    let execution = |value: &[u8]| {
        let head = b"\x17\x07\0\0\0\0\x01\0\0\0\0\x01\xfc\0\x08\0";
        packet(0, &[&head[..], value, &5_i64.to_le_bytes()].concat())
    };
    talk.say(CLIENT, &ahead(0, b"it's "));
    talk.say(CLIENT, &ahead(0, b"long"));
    talk.say(CLIENT, &execution(b""));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    talk.say(CLIENT, &execution(b"\x02ab"));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    // What is reset was never sent.
    talk.say(CLIENT, &ahead(0, b"cd"));
    talk.say(CLIENT, &packet(0, b"\x1a\x07\0\0\0"));
    talk.say(SERVER, &packet(1, DONE));
    talk.say(CLIENT, &execution(b"\x02ef"));
    talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    let kept = read_bytes(&talk.file(), None);
    let texts =
        ["'it\\'s long'", "'ab'", "'ef'"].map(|own| format!("INSERT INTO t VALUES ({own}, 5)"));
    assert_eq!(kept.texts(), texts);
    assert!(kept.unread.is_empty(), "{:?}", kept.unread);
    let bound = kept.statements()[0].bound.clone().unwrap();
    assert_eq!(bound.sql, b"INSERT INTO t VALUES (?, ?)");
    assert_eq!(
        bound.values,
        [Value::Text(b"it's long".to_vec()), Value::Int(5)]
    );
}

#[test]
fn each_preparation_by_mysqls_protocol_is_that_of_the_next_execution() {
    let mut talk = logged_in();
    let executed = |talk: &mut Conversation, id: u8| {
        talk.say(CLIENT, &packet(0, &[0x17, id, 0, 0, 0, 0, 1, 0, 0, 0]));
        talk.say(SERVER, &packet(1, DONE));
    };
    let refusal: &[u8] = b"\xff\x1e\x04#42S22Unknown column";
    for id in [7, 8] {
        let refused = id == 8;
        for reply in [refusal, &[0, id, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]]
            .into_iter()
            .skip(usize::from(!refused))
        {
            talk.say(CLIENT, &packet(0, b"\x16SELECT 1"));
            talk.say(SERVER, &packet(1, reply));
        }
        executed(&mut talk, id);
        executed(&mut talk, id);
        talk.say(CLIENT, &packet(0, &[0x19, id, 0, 0, 0]));
    }
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(kept.texts(), ["SELECT 1"; 5]);
    // The third is the preparation that was refused.
    assert_eq!(fresh(&kept), [true, false, false, true, false]);
}

#[test]
fn nothing_is_bound_by_what_may_be_lost() {
    const TYPES: &[u8] = b"\x01\xfc\0\x08\0";
    let prepare = |talk: &mut Conversation, sql: &[u8]| {
        talk.say(CLIENT, &packet(0, &[b"\x16", sql].concat()));
        let columns = [packet(2, COLUMN), packet(3, COLUMN)].concat();
        let begin = packet(1, b"\0\x07\0\0\0\0\0\x02\0\0\0\0");
        talk.say(SERVER, &[begin, columns, packet(4, OLD_END)].concat());
    };
    let execute = |talk: &mut Conversation, id: &[u8; 4], types: &[u8], value: &[u8]| {
        let head = [b"\x17", &id[..], b"\0\x01\0\0\0\0", types].concat();
        let values = [value, &5_i64.to_le_bytes()].concat();
        talk.say(CLIENT, &packet(0, &[head, values].concat()));
        talk.say(SERVER, &packet(1, b"\0\x01\0\x02\0\0\0"));
    };
    let ahead = |talk: &mut Conversation, text: &[u8]| {
        let content = [b"\x18\x07\0\0\0\0\0", text].concat();
        talk.say(CLIENT, &packet(0, &content));
    };
    let mut talk = logged_in();
    prepare(&mut talk, b"SELECT ?, ?");
    execute(&mut talk, b"\x07\0\0\0", TYPES, b"\x02ab");
    let reply = talk.sent.len() - 1;
    ahead(&mut talk, b"half");
    let half = talk.sent.len();
    ahead(&mut talk, b" a value");
    execute(&mut talk, b"\x07\0\0\0", TYPES, b"");
    execute(&mut talk, b"\x07\0\0\0", b"\0", b"\x02cd");
    execute(&mut talk, b"\xff\xff\xff\xff", TYPES, b"\x02ef");
    let [first, third, last] = ["'ab'", "'cd'", "'ef'"].map(|own| format!("SELECT {own}, 5"));
    let whole = "SELECT 'half a value', 5".to_owned();
    // What the server says is lost, then what the client says.
    let mut sent = talk.sent.clone();
    sent.remove(reply);
    let kept = read_bytes(&file(PLAIN, &sent), None);
    assert_eq!(
        kept.texts(),
        [&first, &whole, &third, &last].map(String::as_str)
    );
    talk.sent.remove(half);
    let kept = read_bytes(&talk.file(), None);
    assert_eq!(kept.texts(), [first]);
    let unknown = "a prepared statement whose values are not understood";
    assert_eq!(kept.reasons(), [LOST, unknown, unknown, EARLIER]);
}

#[test]
fn the_last_request_is_missed_if_the_server_has_it() {
    let mut talk = logged_in();
    query(&mut talk, "SELECT 1", &[DONE]);
    query(&mut talk, "SELECT 2", &[DONE]);
    let last = talk.sent.len() - 2;
    talk.sent.remove(last);
    for ends in [false, true] {
        if ends {
            talk.end();
        }
        let kept = read_bytes(&talk.file(), None);
        assert_eq!(kept.texts(), ["SELECT 1"]);
        assert_eq!(kept.reasons(), [LOST]);
    }
}
