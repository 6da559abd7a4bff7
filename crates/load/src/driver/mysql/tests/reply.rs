//! Replies whole and cut up.

use std::task::Poll;

use super::{acknowledgement, packet, packets, result};
use crate::driver::mysql::reply::{ReplyReader, parse_number};
use crate::driver::mysql::wire::LONGEST_CONTENT;
use crate::driver::{Fault, Reply};

fn read(pieces: &[&[u8]]) -> Result<Reply, Fault> {
    let mut reader = ReplyReader::default();
    reader.begin(1);
    for (index, piece) in pieces.iter().enumerate() {
        let complete = reader.feed(piece)?;
        assert_eq!(complete, index + 1 == pieces.len(), "piece {index}");
    }
    match reader.take() {
        Poll::Ready(outcome) => outcome,
        Poll::Pending => panic!("a complete reply has an outcome"),
    }
}

#[test]
fn an_acknowledgement_tells_what_was_changed() {
    assert_eq!(
        read(&[&acknowledgement(7)]).unwrap(),
        Reply {
            rows: 0,
            affected: 7
        }
    );
}

#[test]
fn rows_are_counted_text_and_binary() {
    let long = [b"\xFC\x2C\x01".as_slice(), &[b'x'; 300]].concat();
    let rows: [&[u8]; 4] = [b"\x03abc", b"\0\0\x03abc", &long, b"\xFB"];
    assert_eq!(read(&[&result(&rows)]).unwrap().rows, 4);
    assert_eq!(read(&[&result(&[])]).unwrap().rows, 0);
}

/// As `MariaDB` sends a result whose columns were described when the statement was prepared.
#[test]
fn columns_may_have_been_described_before() {
    let end = b"\xFE\0\0\x02\0".as_slice();
    let described = packets(
        1,
        &[b"\x01\x01".as_slice(), b"\x03def", end, b"\0\0\x03abc", end],
    );
    let known = packets(
        1,
        &[
            b"\x01\0".as_slice(),
            end,
            b"\0\0\x03abc",
            b"\0\0\x03def",
            end,
        ],
    );
    assert_eq!(read(&[&described]).unwrap().rows, 1);
    assert_eq!(read(&[&known]).unwrap().rows, 2);
    let strange = packets(1, &[b"\x01\x02".as_slice(), end, end]);
    assert!(matches!(read(&[&strange]), Err(Fault::Protocol(_))));
}

#[test]
fn a_long_row_may_begin_like_an_end() {
    // A text column of 2^24 bytes or more has 0xFE before its length.
    let row = [b"\xFE\x0A\0\0\0\0\0\0\0".as_slice(), &[b'x'; 10]].concat();
    assert_eq!(read(&[&result(&[&row, b"\x01a"])]).unwrap().rows, 2);
}

#[test]
fn a_reply_may_be_cut_anywhere() {
    let whole = result(&[b"\x03abc", b"\x05hello"]);
    for cut in 1..whole.len() {
        let reply = read(&[&whole[..cut], &whole[cut..]]).unwrap();
        assert_eq!(reply.rows, 2, "cut at {cut}");
    }
    let bytes: Vec<&[u8]> = whole.chunks(1).collect();
    assert_eq!(read(&bytes).unwrap().rows, 2);
}

#[test]
fn a_row_of_several_packets_is_one_row() {
    let long = vec![b'x'; LONGEST_CONTENT];
    for rest in [&b"tail"[..], b""] {
        let mut whole = packets(1, &[b"\x01", b"\x03def", b"\xFE\0\0\x02\0"]);
        whole.extend(packets(4, &[&long, rest, b"\xFE\0\0\x02\0"]));
        assert_eq!(read(&[&whole]).unwrap().rows, 1);
    }
}

#[test]
fn several_results_are_added_up() {
    let more = b"\xFE\0\0\x0A\0";
    let whole = packets(
        1,
        &[
            b"\x01",
            b"\x03def",
            b"\xFE\0\0\x02\0",
            b"\x01a",
            more,
            b"\0\x03\0\x02\0\0\0",
        ],
    );
    assert_eq!(
        read(&[&whole]).unwrap(),
        Reply {
            rows: 1,
            affected: 3
        }
    );
}

#[test]
fn a_refusal_at_the_head_or_between_rows() {
    let refusal = b"\xFF\xBD\x04#40001Deadlock found";
    let between = packets(
        1,
        &[b"\x01", b"\x03def", b"\xFE\0\0\x02\0", b"\x01a", refusal],
    );
    for whole in [packet(1, refusal), between] {
        match read(&[&whole]) {
            Err(Fault::Server(error)) => assert!(error.transient && error.code == "1213"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn nonsense_is_a_protocol_fault() {
    let broken: [(&str, Vec<u8>); 10] = [
        ("out of order", packet(2, b"\0\0\0\x02\0\0\0")),
        ("an empty head", packet(1, b"")),
        ("a cut acknowledgement", packet(1, b"\0\xFC\x01")),
        ("no status", packet(1, b"\0\0\0")),
        ("too many columns", packet(1, b"\xFC\xFF\xFF")),
        ("more after the column count", packet(1, b"\x01\x02")),
        ("a local file", packet(1, b"\xFB/etc/passwd")),
        ("a huge head", packet(1, &vec![0; LONGEST_CONTENT])),
        (
            "rows without an end of columns",
            packets(1, &[b"\x01", b"\x03def", b"\x03abc"]),
        ),
        (
            "an empty row",
            packets(1, &[b"\x01", b"\x03def", b"\xFE\0\0\x02\0", b""]),
        ),
    ];
    for (name, bytes) in broken {
        let mut reader = ReplyReader::default();
        reader.begin(1);
        assert!(
            matches!(reader.feed(&bytes), Err(Fault::Protocol(_))),
            "{name}"
        );
    }
}

#[test]
fn words_out_of_turn_are_a_protocol_fault() {
    let mut reader = ReplyReader::default();
    assert!(
        matches!(reader.feed(b"\x01"), Err(Fault::Protocol(_))),
        "nothing was asked"
    );
    reader.begin(1);
    let twice = [acknowledgement(0), acknowledgement(0)].concat();
    assert!(matches!(reader.feed(&twice), Err(Fault::Protocol(_))));
}

#[test]
fn numbers_of_every_width() {
    assert_eq!(parse_number(b"\xFAx"), Some((250, &b"x"[..])));
    assert_eq!(parse_number(b"\xFC\x01\x02"), Some((0x0201, &b""[..])));
    assert_eq!(
        parse_number(b"\xFD\x01\x02\x03"),
        Some((0x03_0201, &b""[..]))
    );
    assert_eq!(
        parse_number(b"\xFE\xFF\xFF\xFF\xFF\xFF\xFF\xFF\xFF"),
        Some((u64::MAX, &b""[..]))
    );
    for broken in [&b""[..], b"\xFB", b"\xFF", b"\xFC\x01", b"\xFE\x01\x02\x03"] {
        assert_eq!(parse_number(broken), None);
    }
}
