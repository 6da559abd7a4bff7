//! Logs by hostile authors: a replay or words, never a panic and never a long wait. Their digests are
//! right, since whoever writes a log can make one.
//!
//! `PROPTEST_CASES` sets the number of cases.

use std::fs::File;
use std::io::Write as _;
use std::time::{Duration, Instant};

use proptest::prelude::*;
use sha2::{Digest, Sha256};

use super::super::{Reader, replay};
use crate::contents::{Contents, Store};

/// A busy machine reads slowly; what takes longer hangs.
const PATIENCE: Duration = Duration::from_secs(10);
const BYTES_AT_MOST: u64 = 64 << 20;
/// A line of a write has no more bytes behind it, whatever it claims.
const WRITTEN_AT_MOST: u64 = 8192;

fn number() -> impl Strategy<Value = u64> {
    prop_oneof![
        4 => 0..40_u64,
        4 => (0..64_u64).prop_map(|sectors| sectors * 512),
        1 => (0..64_u32).prop_map(|bit| 1 << bit),
        1 => (0..64_u32).prop_map(|bit| (1 << bit) - 1),
        1 => Just(u64::MAX),
    ]
}

fn header() -> impl Strategy<Value = String> {
    let usual = prop::sample::select(vec![512_u64, 4096]);
    let size = prop_oneof![3 => Just(1 << 16), 1 => number()];
    let sector = prop_oneof![3 => usual, 1 => number()];
    (size, sector, any::<bool>()).prop_map(|(size, sector, flag)| {
        format!(
            r#"{{"log":"diskproof-disk requests","version":1,"device":"d","medium":{{"size_bytes":{size},"sector_bytes":{sector},"survives":{flag}}},"empty":true,"at_ns":0}}"#
        )
    })
}

/// The line of a record, and how many bytes follow it.
fn record() -> impl Strategy<Value = (String, u64)> {
    let asked = (number(), number(), number());
    prop_oneof![
        6 => (0..4_usize, asked).prop_map(|(kind, (number, offset, length))| {
            let kind = ["write", "discard", "read", "flush"][kind];
            let line = format!(
                r#"{{"{kind}":{{"number":{number},"offset_bytes":{offset},"length_bytes":{length},"at_ns":1}}}}"#
            );
            (line, if kind == "write" { length.min(WRITTEN_AT_MOST) } else { 0 })
        }),
        3 => (any::<bool>(), number(), 0..5_u64).prop_map(|(stable, number, writes)| {
            let kind = if stable { "stable" } else { "answered" };
            let line = format!(r#"{{"{kind}":{{"number":{number},"writes":{writes},"at_ns":2}}}}"#);
            (line, 0)
        }),
        1 => Just((r#"{"settled":{"at_ns":3}}"#.to_owned(), 0)),
        1 => (".{0,60}", 0..9_u64),
    ]
}

fn cut(keep: &str, seed: u64) -> String {
    format!(
        r#"{{"cut":{{"at_ns":9,"choice":{{"seed":{seed},"keep":"{keep}"}},"survivors":{{"at_risk_writes":0,"at_risk_bytes":0,"answered_at_risk_writes":0,"kept":"all","kept_bytes":0,"lost_bytes":0,"torn_writes":0,"emptied":false,"digest":""}}}}}}"#
    )
}

fn log(header: &str, records: &[(String, u64)], cut: &str) -> Vec<u8> {
    let mut log = format!("{header}\n").into_bytes();
    for (line, bytes) in records {
        writeln!(log, "{line}").expect("memory");
        log.resize(log.len() + usize::try_from(*bytes).expect("few"), b'x');
    }
    writeln!(log, "{cut}").expect("memory");
    let digest = hex::encode(Sha256::digest(&log));
    let count = records.len() + 1;
    writeln!(
        log,
        r#"{{"end":{{"records":{count},"digest":"{digest}"}}}}"#
    )
    .expect("memory");
    log
}

/// Whether it was replayed.
fn attempt(log: &[u8]) -> bool {
    let mut file: File = tempfile::tempfile().expect("a file");
    file.write_all(log).expect("written");
    let begun = Instant::now();
    let replayed = Reader::begin(&file).is_ok_and(|reader| {
        let store = Store::memory(BYTES_AT_MOST);
        let mut contents = Contents::new(reader.header.medium.size_bytes, store, None);
        replay(&file, &mut contents).is_ok()
    });
    assert!(begun.elapsed() < PATIENCE, "{:?}", begun.elapsed());
    replayed
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn hostile_bytes(bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        prop_assert!(!attempt(&bytes));
    }

    #[test]
    fn hostile_records(
        header in header(),
        records in prop::collection::vec(record(), 0..12),
        keep in prop::sample::select(vec!["random", "nothing", "all", "subset", "prefix"]),
        seed in any::<u64>(),
    ) {
        attempt(&log(&header, &records, &cut(keep, seed)));
    }

    #[test]
    fn hostile_changes(
        records in prop::collection::vec(record(), 0..6),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        shorter in any::<bool>(),
    ) {
        let header = r#"{"log":"diskproof-disk requests","version":1,"device":"d","medium":{"size_bytes":65536,"sector_bytes":512,"survives":true},"empty":true,"at_ns":0}"#;
        let mut log = log(header, &records, &cut("all", 1));
        let at = at.index(log.len());
        let changed = shorter || log[at] != byte;
        log[at] = byte;
        if shorter {
            log.truncate(at);
        }
        prop_assert!(!(changed && attempt(&log)));
    }
}

#[test]
fn hostile_logs_of_old() {
    let medium = |size: u64, sector: u64| {
        format!(
            r#"{{"log":"diskproof-disk requests","version":1,"device":"d","medium":{{"size_bytes":{size},"sector_bytes":{sector},"survives":true}},"empty":true,"at_ns":0}}"#
        )
    };
    let discard = |length: u64| {
        let line = format!(
            r#"{{"discard":{{"number":0,"offset_bytes":0,"length_bytes":{length},"at_ns":1}}}}"#
        );
        vec![(line, 0)]
    };
    assert!(
        attempt(&log(&medium(1 << 16, 512), &discard(512), &cut("all", 1))),
        "a good one"
    );
    for (size, sector) in [
        (u64::MAX, 512),
        (1 << 60, 512),
        (u64::MAX, 1 << 63),
        (1 << 16, 1 << 40),
        (1 << 16, 1),
    ] {
        let log = log(&medium(size, sector), &discard(512), &cut("all", 1));
        assert!(!attempt(&log), "{size} {sector}");
    }
    // A discard of the largest disk.
    for keep in ["all", "nothing", "subset", "prefix"] {
        attempt(&log(
            &medium(64 << 40, 512),
            &discard(64 << 40),
            &cut(keep, 3),
        ));
    }
}
