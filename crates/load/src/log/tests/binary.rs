//! Binary logs of several servers, and damaged ones.

use std::io::Write;

use ruzstd::encoding::{CompressionLevel, compress_to_vec};

use super::Kept;
use crate::log::{BinaryLog, Commit};

const MARK: &[u8] = b"\xfebin";
const OURS: u32 = 7;
const CHECKSUM: [u8; 4] = [0x10, 0x51, 0x52, 0x53];

fn event(second: u32, kind: u8, server: u32, body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(19 + body.len()).unwrap();
    let mut event = second.to_le_bytes().to_vec();
    event.push(kind);
    event.extend(server.to_le_bytes());
    event.extend(size.to_le_bytes());
    event.extend([0; 6]);
    event.extend(body);
    event
}

fn format(second: u32) -> Vec<u8> {
    [MARK, &event(second, 15, OURS, &[0; 100])].concat()
}

fn query(second: u32, connection: u32, text: &str) -> Vec<u8> {
    query_of(OURS, second, connection, text)
}

fn query_of(server: u32, second: u32, connection: u32, text: &str) -> Vec<u8> {
    let variables = vec![b'v'; 300];
    let mut body = connection.to_le_bytes().to_vec();
    body.extend([0, 0, 0, 0, 4, 0, 0]);
    body.extend(u16::try_from(variables.len()).unwrap().to_le_bytes());
    body.extend(variables);
    body.extend(b"shop\0");
    body.extend(text.as_bytes());
    body.extend(CHECKSUM);
    event(second, 2, server, &body)
}

fn rows(second: u32) -> Vec<u8> {
    event(second, 30, OURS, &[b'r'; 9000])
}

fn xid(second: u32) -> Vec<u8> {
    event(second, 16, OURS, &[1; 8])
}

fn mysql_mark(second: u32, kind: u8) -> Vec<u8> {
    event(second, kind, OURS, &[2; 50])
}

/// MariaDB's mark, of a group commit or of none, with its connection or without.
fn mariadb_mark(second: u32, group: Option<u64>, connection: Option<u32>) -> Vec<u8> {
    let mut body = [3; 12].to_vec();
    body.push(4 | if group.is_some() { 2 } else { 0 });
    body.extend(group.iter().flat_map(|group| group.to_le_bytes()));
    if let Some(connection) = connection {
        body.push(0x10);
        body.extend(connection.to_le_bytes());
    }
    body.resize(body.len().max(19), 0);
    body.extend(CHECKSUM);
    event(second, 162, OURS, &body)
}

fn packed(second: u32, inner: &[u8]) -> Vec<u8> {
    let mut body = vec![2, 1, 0, 3, 3, 0xFC, 0x40, 0x23, 0];
    body.extend(compress_to_vec(inner, CompressionLevel::Fastest));
    body.extend(CHECKSUM);
    event(second, 40, OURS, &body)
}

fn commits(files: &[&[u8]]) -> Result<(Vec<Commit>, usize), String> {
    let mut log = BinaryLog::default();
    for bytes in files {
        log.read_file(*bytes)?;
    }
    let mut kept = Kept::default();
    log.tell_unread(&mut kept);
    Ok((log.commits, kept.unread.len()))
}

#[test]
fn transactions_of_each_server_are_found_with_their_connections() {
    let mysql_5_6 = [
        format(10),
        query(20, 5, "BEGIN"),
        rows(20),
        xid(23),
        query(24, 6, "CREATE TABLE t (a INT)"),
        query(24, 8, "BEGIN"),
        query(24, 8, "INSERT INTO t VALUES (1)"),
        query(25, 8, "COMMIT"),
        query(26, 9, "BEGIN"),
        xid(26),
    ];
    let expected = vec![(5, 23), (6, 24), (8, 25), (9, 26)];
    assert_eq!(commits(&[&mysql_5_6.concat()]).unwrap(), (expected, 0));

    let inner = [query(30, 12, "BEGIN"), rows(30), rows(31), xid(33)].concat();
    let mysql_9 = [
        format(10),
        mysql_mark(23, 34),
        query(20, 5, "BEGIN"),
        rows(20),
        xid(23),
        mysql_mark(24, 33),
        query(24, 6, "CREATE TABLE t (a INT)"),
        mysql_mark(33, 42),
        packed(33, &inner),
        // Of another server, by whose number nothing is known.
        mysql_mark(34, 33),
        query_of(OURS + 1, 34, 5, "BEGIN"),
        mysql_mark(35, 33),
        event(35, 40, OURS, b"packed otherwise"),
    ];
    let expected = vec![(5, 23), (6, 24), (12, 33), (0, 34), (0, 35)];
    assert_eq!(commits(&[&mysql_9.concat()]).unwrap(), (expected, 2));

    let mariadb = [
        format(10),
        mariadb_mark(20, None, Some(300_000)),
        rows(20),
        xid(25),
        mariadb_mark(21, Some(77), Some(6)),
        xid(21),
        // Before 11.5 queries alone have it.
        mariadb_mark(22, None, None),
        query(21, 7, "INSERT INTO t VALUES (1)"),
        xid(22),
        mariadb_mark(23, Some(78), None),
        rows(23),
        xid(23),
    ];
    let expected = vec![(300_000, 20), (6, 21), (7, 22), (0, 23)];
    assert_eq!(commits(&[&mariadb.concat()]).unwrap(), (expected, 1));
}

#[test]
fn files_follow_one_another_and_may_end_within_an_event() {
    let whole = [format(10), query(20, 5, "CREATE TABLE t (a INT)")].concat();
    let next = [format(30), query(40, 6, "DROP TABLE t"), rows(40)].concat();
    let cut = &next[..next.len() - 1];
    let expected = vec![(5, 20), (6, 40)];
    assert_eq!(commits(&[&whole, cut]).unwrap(), (expected, 1));
    let told = commits(&[&next, &whole]).unwrap_err();
    assert!(told.contains("in their order"), "{told}");
}

#[test]
fn what_is_no_binary_log_is_refused() {
    for (bytes, words) in [
        (b"".to_vec(), "no binary log"),
        (b"# Time: 2026".to_vec(), "no binary log"),
        (b"\xfdbin and what nobody reads".to_vec(), "encrypted"),
        (
            [format(10), event(10, 164, OURS, &[1; 17])].concat(),
            "encrypted",
        ),
    ] {
        let told = commits(&[&bytes]).unwrap_err();
        assert!(told.contains(words), "{told}");
    }
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(b"text").unwrap();
    let told = BinaryLog::read(&[file.path().to_owned()]).unwrap_err();
    assert!(
        told.starts_with(&file.path().display().to_string()),
        "{told}"
    );
}

#[test]
fn damaged_files_end_in_words_or_a_count() {
    let inner = [query(30, 12, "BEGIN"), rows(30)].concat();
    let whole = [
        format(10),
        query(20, 5, "BEGIN"),
        xid(23),
        mysql_mark(24, 33),
        packed(24, &inner),
        mariadb_mark(25, Some(77), Some(6)),
    ]
    .concat();
    for at in 0..whole.len() {
        let _ = commits(&[&whole[..at]]);
        for flipped in [0x01, 0x80, 0xFF] {
            let mut damaged = whole.clone();
            damaged[at] ^= flipped;
            let _ = commits(&[&damaged]);
        }
    }
}
