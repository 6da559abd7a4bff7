//! What is written is read again, and what a statement is.

use std::io::Write;
use std::sync::Arc;

use super::fingerprint::{Effect, Reader};
use super::{Anonymiser, Known, OLD_MARKS, Recorded, Recorder, Recording, SessionReader};
use crate::driver::{Dialect, Kind};
use crate::log::{Bound, Commit, Event, Sink, Statement, Value, What};

fn fingerprint(sql: &str, dialect: Dialect) -> String {
    let mut reader = Reader::new(dialect);
    reader.read(sql.as_bytes());
    String::from_utf8(reader.text).unwrap()
}

#[test]
fn values_make_no_difference() {
    let alike = [
        [
            "SELECT c FROM sbtest1 WHERE id=5",
            "SELECT c  FROM sbtest1 WHERE id = -17 /* web 3 */",
        ],
        ["SELECT 1 WHERE a IN (1, 2, 3)", "SELECT 1 WHERE a IN ('x')"],
        [
            "INSERT INTO t (a, b) VALUES (1, 'x')",
            "INSERT INTO t (a, b) VALUES (2, NULL), (3, 'y'), (4, 'z')",
        ],
        ["SELECT \"a\"", "SELECT 'b'"],
    ];
    let [first, second] = &alike[0].map(|sql| fingerprint(sql, Dialect::Mysql));
    assert_eq!(first, "SELECT c FROM sbtest1 WHERE id=?");
    assert_eq!(first, second);
    for [first, second] in [&alike[1], &alike[3]] {
        assert_eq!(
            fingerprint(first, Dialect::Mysql),
            fingerprint(second, Dialect::Mysql)
        );
    }
    assert_ne!(
        fingerprint("SELECT \"a\" FROM t", Dialect::Postgres),
        fingerprint("SELECT \"b\" FROM t", Dialect::Postgres)
    );
}

#[test]
fn a_statements_effect_is_known() {
    let effect = |sql: &str| {
        let nature = Reader::new(Dialect::Postgres).read(sql.as_bytes());
        (nature.kind, nature.effect)
    };
    assert_eq!(effect("select 1 for update"), (Kind::Read, Effect::Writes));
    assert_eq!(
        effect("WITH x AS (DELETE FROM t RETURNING *) SELECT 1"),
        (Kind::Write, Effect::Writes)
    );
    assert_eq!(effect("begin"), (Kind::Other, Effect::Begins));
    assert_eq!(effect("ROLLBACK TO SAVEPOINT a").1, Effect::Session);
    assert_eq!(effect("COMMIT").1, Effect::Commits);
    for off in [
        "SET autocommit=0",
        "SET @@session.autocommit = OFF",
        "set autocommit = false",
    ] {
        assert_eq!(effect(off).1, Effect::Autocommit(false), "{off}");
    }
    assert_eq!(
        effect("SET SESSION autocommit = 1").1,
        Effect::Autocommit(true)
    );
    assert_eq!(
        effect("BEGIN; INSERT INTO t VALUES (1); COMMIT").1,
        Effect::Writes
    );
    let nature = Reader::new(Dialect::Postgres).read(b"SELECT $1");
    assert!(nature.lacks_values);
    assert!(Reader::new(Dialect::Mysql).read(b"SELECT ?").lacks_values);
    assert!(
        Reader::new(Dialect::Postgres)
            .read(b"COPY t FROM STDIN")
            .copies
    );
}

/// An event of a session that ends at an instant.
fn event(session: u64, end_us: i64, sql: &str) -> Event {
    Event {
        session,
        at_us: end_us,
        step_us: 1,
        line: 1,
        what: What::Statement(Statement {
            sql: sql.into(),
            duration_us: Some(10),
            database: Some(b"shop".to_vec()),
            ..Statement::default()
        }),
    }
}

fn record(events: Vec<Event>) -> (tempfile::NamedTempFile, Arc<Recording>) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::new(&mut file, Dialect::Mysql, false).unwrap();
    for event in events {
        recorder.take(event).unwrap();
    }
    recorder.finish("slow log").unwrap();
    let recording = Recording::open(file.path()).unwrap();
    (file, Arc::new(recording))
}

fn session(recording: &Arc<Recording>, number: usize) -> Vec<Recorded> {
    let mut reader = SessionReader::new(Arc::clone(recording), number);
    std::iter::from_fn(|| reader.next().unwrap()).collect()
}

#[test]
fn a_writer_follows_the_commits_before_it() {
    let (_file, recording) = record(vec![
        event(1, 1000, "BEGIN"),
        event(1, 1100, "UPDATE t SET a=1 WHERE id=1"),
        event(2, 1150, "UPDATE t SET a=2 WHERE id=2"),
        event(1, 1200, "COMMIT"),
        event(2, 1300, "UPDATE t SET a=3 WHERE id=1"),
        event(2, 1400, "SELECT 1"),
    ]);
    let order = |recorded: Vec<Recorded>| {
        recorded
            .iter()
            .map(|own| (own.after_commits, own.commit, own.ends))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        order(session(&recording, 0)),
        [
            (None, None, false),
            (Some(0), None, false),
            (None, Some(1), true)
        ]
    );
    assert_eq!(
        order(session(&recording, 1)),
        [
            (Some(0), Some(0), true),
            (Some(2), Some(2), true),
            (None, None, true)
        ]
    );
    let contents = &recording.contents;
    assert_eq!((contents.statements, contents.most_at_once), (6, 2));
    assert_eq!(contents.length_us, 410);
    assert_eq!(contents.databases[contents.main_database()].name, "shop");
}

/// What a statement that writes and commits waits for, and its number, by their numbers in the log.
fn ordered(known: &Known, after: u64, commit: u64) -> (u64, u64) {
    let mut recorded = Recorded {
        after_commits: Some(after),
        commit: Some(commit),
        ..Recorded::default()
    };
    known.give(&mut recorded);
    (recorded.after_commits.unwrap(), recorded.commit.unwrap())
}

#[test]
fn commits_have_the_binary_logs_order() {
    // A log without durations: that of session 1 waits for session 3, and that of session 2 comes before both.
    let begin_us = 1_000_000 * 1_795_860_000;
    let said = [
        (3, 100, "BEGIN"),
        (3, 200, "UPDATE held SET n=n+1"),
        (
            1,
            300,
            "UPDATE goods SET a=a*2 WHERE id=(SELECT id FROM held)",
        ),
        (2, 400, "UPDATE goods SET a=a+10"),
        (3, 500, "COMMIT"),
        (2, 600, "UPDATE goods SET a=a+10"),
    ];
    let read = |recorder: &mut Recorder<&mut Vec<u8>>| {
        for (session, at_us, sql) in said {
            let mut event = event(session, begin_us + at_us, sql);
            if let What::Statement(said) = &mut event.what {
                said.duration_us = None;
            }
            recorder.take(event).unwrap();
        }
    };
    let mut nothing = Vec::new();
    let mut first = Recorder::new(&mut nothing, Dialect::Mysql, false).unwrap();
    first.noted = Some(Vec::new());
    read(&mut first);
    let noted = first.noted.unwrap();
    let second = 1_795_860_000;
    assert_eq!(noted, [1, 2, 3, 2].map(|session| (session, second)));
    // It begins earlier, ends later, and has another zone.
    let theirs = second - 7200;
    let binary = [
        (2, theirs - 9),
        (0, theirs),
        (2, theirs),
        (3, theirs),
        (1, theirs),
        (2, theirs),
        (1, theirs + 2),
    ];
    let mut bytes = Vec::new();
    let mut second = Recorder::new(&mut bytes, Dialect::Mysql, false).unwrap();
    second.order = Some(Known::new(&noted, &binary).unwrap());
    read(&mut second);
    let contents = second.finish("general log").unwrap();
    assert_eq!(contents.ordered, Some((4, 4)));
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(&bytes).unwrap();
    let recording = Arc::new(Recording::open(file.path()).unwrap());
    assert_eq!(recording.contents.ordered, Some((4, 4)));
    let order = |number| {
        let told = session(&recording, number).into_iter();
        let told = told.map(|own| (own.after_commits, own.commit));
        told.filter(|own| *own != (None, None)).collect::<Vec<_>>()
    };
    assert_eq!(order(0), [(Some(0), None), (None, Some(1))]);
    assert_eq!(order(1), [(Some(0), Some(2))]);
    // By the log's times the first one would wait for the commit above.
    assert_eq!(order(2), [(Some(0), Some(0)), (Some(3), Some(3))]);
}

#[test]
fn a_commit_is_looked_for_in_the_second_in_which_it_began() {
    // A clock of whole seconds says when, whatever it took.
    for (step_us, second) in [(1, 99), (1_000_000, 100)] {
        let mut nothing = Vec::new();
        let mut recorder = Recorder::new(&mut nothing, Dialect::Mysql, false).unwrap();
        recorder.noted = Some(Vec::new());
        let event = event(1, 100_000_000, "UPDATE t SET a=1");
        recorder.take(Event { step_us, ..event }).unwrap();
        assert_eq!(recorder.noted, Some(vec![(1, second)]));
    }
}

#[test]
fn what_the_binary_log_does_not_tell_has_the_logs_order() {
    // In second 11 session 1 has changed no row once: nothing is known of its seconds 10 and 11 together.
    let log = [(1, 10), (1, 11), (2, 11), (1, 11), (3, 12), (4, 12)];
    let binary = [(1, 10), (2, 11), (1, 11), (4, 12), (3, 12)];
    let known = Known::new(&log, &binary).unwrap();
    assert_eq!(known.found, (4, 6));
    let numbers: Vec<_> = (0..6)
        .map(|commit| ordered(&known, commit, commit).1)
        .collect();
    assert_eq!(numbers, [0, 1, 2, 3, 5, 4]);
    // One began just before the second in which it was logged.
    let log = [(1, 10), (1, 10), (1, 11), (2, 11), (1, 11)];
    let binary = [(1, 10), (1, 10), (2, 10), (1, 10), (1, 11)];
    let known = Known::new(&log, &binary).unwrap();
    let numbers = (0..5).map(|commit| ordered(&known, commit, commit).1);
    assert_eq!(numbers.collect::<Vec<_>>(), [0, 1, 3, 2, 4]);
    let log = [(1, 10)];
    let others: [&[Commit]; 4] = [&[], &[(2, 10)], &[(1, 12)], &[(1, 10), (1, 3610)]];
    // None at all, another server's, another time's, and one whose zone is not plain.
    for binary in others {
        let told = Known::new(&log, binary).unwrap_err();
        assert!(told.contains("the same server and time"), "{told}");
    }
}

#[test]
fn no_order_lets_a_transaction_wait_for_its_own_session() {
    let mut chance = 1_u64;
    let mut draw = |most: usize| {
        chance = chance
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        usize::try_from(chance >> 33).unwrap() % most
    };
    for _ in 0..500 {
        let log: Vec<Commit> = (0..40).map(|at| (draw(4) as u64, at / 8)).collect();
        let mut binary = log.clone();
        for _ in 0..draw(60) {
            let (one, other) = (draw(binary.len()), draw(binary.len()));
            binary.swap(one, other);
        }
        binary.truncate(20 + draw(21));
        let Ok(known) = Known::new(&log, &binary) else {
            continue;
        };
        let mut seen: Vec<_> = (0..40).map(|at| ordered(&known, 0, at).1).collect();
        for after in 0..40 {
            let waits = ordered(&known, after, 0).0;
            // What has not committed yet, a later transaction of the session too, is not waited for.
            let behind = (after..40).map(|at| ordered(&known, 0, at).1);
            assert!(behind.min().unwrap() >= waits);
        }
        seen.sort_unstable();
        assert!(seen.into_iter().eq(0..40));
    }
}

#[test]
fn a_large_session_is_read_in_blocks() {
    let events = (0..5000).map(|at| event(7, at * 20, &format!("SELECT '{at}{}'", "x".repeat(50))));
    let (_file, recording) = record(events.collect());
    assert!(recording.contents.sessions[0].blocks.len() > 5);
    let recorded = session(&recording, 0);
    assert_eq!(recorded.len(), 5000);
    assert!(recorded.is_sorted_by_key(|own| own.begin_us));
    assert_eq!(recording.contents.fingerprints.len(), 1);
}

#[test]
fn a_recording_of_before_is_read() {
    let (file, recording) = record(vec![event(1, 1000, "SELECT 1")]);
    let bytes = std::fs::read(file.path()).unwrap();
    let text = serde_json::to_vec(&recording.contents).unwrap();
    let end = bytes.len() - 16 - 8 - text.len();
    let (at, length) = recording.contents.sessions[0].blocks[0];
    let at = usize::try_from(at).unwrap();
    assert_eq!(end, at + length as usize);
    let whole = lz4_flex::decompress_size_prepended(&bytes[at..end]).unwrap();
    // Behind the text there are two bytes today, and was one, and none.
    let lacking = [&["has_bound", "has_fresh"][..], &["has_fresh"]];
    for (mark, lacks) in OLD_MARKS.into_iter().zip(lacking) {
        let mut block = whole.clone();
        let behind = block.split_off(block.len() - lacks.len());
        assert_eq!(behind, vec![0; lacks.len()]);
        let block = lz4_flex::compress_prepend_size(&block);
        let mut contents = recording.contents.clone();
        contents.sessions[0].blocks[0].1 = u32::try_from(block.len()).unwrap();
        let mut contents = serde_json::to_value(&contents).unwrap();
        for key in lacks {
            contents.as_object_mut().unwrap().remove(*key).unwrap();
        }
        let text = contents.to_string().into_bytes();
        let length = (text.len() as u64).to_le_bytes();
        let old = [mark, &block[..], &text, &length, mark].concat();
        let mut other = tempfile::NamedTempFile::new().unwrap();
        other.write_all(&old).unwrap();
        let other = Arc::new(Recording::open(other.path()).unwrap());
        assert_eq!(session(&other, 0), session(&recording, 0));
    }
}

#[test]
fn an_execution_says_whether_it_was_prepared_just_then() {
    let prepared = |session: u64, key: u64| Event {
        what: What::Prepared(key),
        ..event(session, 1000, "")
    };
    let executed = |session: u64, key: u64| {
        let mut event = event(session, 1000, &format!("SELECT {key}"));
        if let What::Statement(said) = &mut event.what {
            said.key = Some(key);
        }
        event
    };
    let (_file, recording) = record(vec![
        prepared(1, 5),
        executed(1, 5),
        executed(1, 5),
        executed(2, 5),
        prepared(1, 6),
        prepared(1, 5),
        prepared(1, 5),
        executed(1, 5),
        executed(1, 6),
        executed(1, 5),
    ]);
    let fresh = |number| {
        let said = session(&recording, number);
        said.iter().map(|own| own.is_fresh).collect::<Vec<_>>()
    };
    assert_eq!(fresh(0), [true, false, true, true, false]);
    assert_eq!(fresh(1), [false]);
}

#[test]
fn a_damaged_file_is_refused_or_ends_in_an_error() {
    let (file, recording) = record((0..3000).map(|at| event(7, at * 20, "SELECT 1")).collect());
    let whole = std::fs::read(file.path()).unwrap();
    let end = usize::try_from(recording.contents.sessions[0].blocks[0].0).unwrap();
    for at in (end..whole.len()).step_by(whole.len() / 97) {
        for cut in [true, false] {
            let mut damaged = whole.clone();
            if cut {
                damaged.truncate(at);
            } else {
                damaged[at] ^= 0x55;
            }
            let mut other = tempfile::NamedTempFile::new().unwrap();
            other.write_all(&damaged).unwrap();
            let Ok(opened) = Recording::open(other.path()) else {
                continue;
            };
            assert!(!cut, "at {at}");
            let opened = Arc::new(opened);
            for number in 0..opened.contents.sessions.len() {
                let mut reader = SessionReader::new(Arc::clone(&opened), number);
                while let Ok(Some(_)) = reader.next() {}
            }
        }
    }
}

#[test]
fn values_that_are_replaced_keep_their_form() {
    let anonymiser = Anonymiser::new(Dialect::Mysql);
    let replaced = |sql: &str| String::from_utf8(anonymiser.replace(sql.as_bytes())).unwrap();
    let sql = "SELECT /* Ann */ a FROM t1 WHERE id=4711 AND b='4711' AND name='O\\'Hara' AND c < 5 LIMIT 20";
    let new = replaced(sql);
    let id = &new[new.find("id=").unwrap() + 3..][..4];
    assert!(id.parse::<u32>().unwrap() >= 1000, "{new}");
    assert!(new.contains(&format!("b='{id}'")), "{new}");
    assert!(!new.contains("Ann") && !new.contains("Hara"), "{new}");
    assert!(
        new.contains("\\'") && new.ends_with("AND c < 5 LIMIT 20"),
        "{new}"
    );
    assert_eq!(
        fingerprint(&new, Dialect::Mysql),
        fingerprint(sql, Dialect::Mysql)
    );
    let uuid = replaced("SELECT '6ba7b810-9dad-11d1-80b4-00c04fd430c8', x'4d', 0x1f, 1e5, 'Иван'");
    let hexadecimal = |byte: u8| byte.is_ascii_hexdigit() || byte == b'-';
    assert!(
        uuid.as_bytes()[8..44].iter().copied().all(hexadecimal),
        "{uuid}"
    );
    assert!(
        uuid.ends_with(", 'xxxx'") && uuid.contains(", 0x"),
        "{uuid}"
    );
    assert_eq!(replaced("SELECT 'abc'"), replaced("SELECT 'abc'"));
    let [early, late] =
        ["2024-02-28", "2024-03-01 10:00:00"].map(|date| replaced(&format!("SELECT '{date}'")));
    let day = |sql: &str| crate::log::day_of(&sql.as_bytes()[8..18]).unwrap();
    assert_eq!(day(&late) - day(&early), 2, "{early} {late}");
}

/// What a recording has of an execution whose values are replaced, and how many reasons it counts.
fn anonymised(dialect: Dialect, text: &str, prepared: &str) -> (Recorded, usize) {
    let mut file = tempfile::NamedTempFile::new().unwrap();
    let mut recorder = Recorder::new(&mut file, dialect, true).unwrap();
    let mut said = event(1, 1000, text);
    if let What::Statement(said) = &mut said.what {
        let (sql, values) = (prepared.as_bytes().to_vec(), vec![Value::Null]);
        said.bound = Some(Bound { sql, values });
    }
    recorder.take(said).unwrap();
    recorder.finish("log").unwrap();
    let recording = Arc::new(Recording::open(file.path()).unwrap());
    let unread = recording.contents.unread.len();
    (session(&recording, 0).remove(0), unread)
}

#[test]
fn values_that_are_replaced_are_bound_as_they_stand_in_the_text() {
    let prepared = "SELECT 'Ann' FROM t WHERE a=? AND b=? AND c=? LIMIT ?";
    let text = "SELECT 'Ann' FROM t WHERE a=-4711 AND b='O\\'Hara' AND c=NULL LIMIT 20";
    let (said, unread) = anonymised(Dialect::Mysql, text, prepared);
    assert_eq!(unread, 0);
    let bound = said.bound.unwrap();
    let (sql, marks) = (
        String::from_utf8(said.sql).unwrap(),
        String::from_utf8(bound.sql).unwrap(),
    );
    assert!(
        marks.ends_with("FROM t WHERE a=? AND b=? AND c=? LIMIT ?"),
        "{marks}"
    );
    let [Value::Int(a), Value::Text(b), Value::Null, Value::Int(20)] = &bound.values[..] else {
        panic!("{:?}", bound.values)
    };
    let b = str::from_utf8(b).unwrap().replace('\'', "\\'");
    assert!(
        sql.contains(&format!("WHERE a={a} AND b='{b}' AND c=NULL LIMIT 20")),
        "{sql}"
    );
    assert!(
        (-9999..=-1000).contains(a) && !sql.contains("Hara"),
        "{sql}"
    );

    let prepared = "SELECT $2::int8, $3::int4 + $1, $2::int8";
    let text = "SELECT '-4711'::int8, 815 + 'x', '-4711'::int8";
    let bound = anonymised(Dialect::Postgres, text, prepared);
    let bound = bound.0.bound.unwrap();
    assert_eq!(bound.sql, prepared.as_bytes());
    let [Value::Text(_), Value::Text(minus), Value::Int(100..1000)] = &bound.values[..] else {
        panic!("{:?}", bound.values)
    };
    assert_eq!(minus.len(), 5);

    let (said, unread) = anonymised(Dialect::Mysql, "SELECT DATE'2026-11-28'", "SELECT ?");
    assert_eq!((said.bound, unread), (None, 1));
}

#[test]
fn what_is_too_long_with_its_values_is_recorded_as_text() {
    let said = |bytes: usize| {
        let text = vec![b'x'; bytes];
        let mut said = event(1, 1000, &format!("SELECT '{}'", "x".repeat(bytes)));
        if let What::Statement(said) = &mut said.what {
            let (sql, values) = (b"SELECT ?".to_vec(), vec![Value::Text(text)]);
            said.bound = Some(Bound { sql, values });
        }
        said
    };
    let (_file, recording) = record(vec![said(60 << 20), said(70 << 20)]);
    let recorded = session(&recording, 0);
    let bound: Vec<_> = recorded.iter().map(|own| own.bound.is_some()).collect();
    assert_eq!(bound, [true, false]);
    let [(reason, 1, _)] = &recording.contents.unread[..] else {
        panic!("{:?}", recording.contents.unread)
    };
    assert!(reason.contains("as text"), "{reason}");
}

#[test]
fn days_are_those_of_the_calendar() {
    for (date, day) in [
        ("1970-01-01", 0),
        ("2000-02-29", 11_016),
        ("2026-11-28", 20_785),
    ] {
        assert_eq!(crate::log::day_of(date.as_bytes()), Some(day), "{date}");
        assert_eq!(crate::log::date_of(day).as_deref(), Some(date));
    }
}

#[test]
fn a_clock_that_goes_back_goes_on() {
    let hour_us = 3_600_000_000;
    let (_file, recording) = record(vec![
        event(1, hour_us, "SELECT 1"),
        event(1, hour_us + 1_000_000, "SELECT 2"),
        // Summer time ends.
        event(1, 2_000_000, "SELECT 3"),
        event(1, 3_500_000, "SELECT 4"),
    ]);
    let begins: Vec<_> = session(&recording, 0)
        .iter()
        .map(|said| said.begin_us)
        .collect();
    assert_eq!(begins[3] - begins[2], 1_499_990);
    assert!(begins[3] < hour_us.cast_unsigned(), "{begins:?}");
    let reason = "the time by which the clock went back".to_owned();
    assert_eq!(recording.contents.unread, [(reason, 1, 1)]);
}

#[test]
fn a_statement_told_of_twice_is_one() {
    let mut begun = event(1, 1_000_000, "SELECT 1");
    if let What::Statement(said) = &mut begun.what {
        said.duration_us = None;
    }
    let mut ended = event(1, 1_000_500, "SELECT 1");
    if let What::Statement(said) = &mut ended.what {
        said.is_further = true;
    }
    let (_file, recording) = record(vec![begun, ended]);
    let said = session(&recording, 0);
    assert_eq!(said.len(), 1);
    assert!(said[0].duration_us.is_some());
}

#[test]
fn equal_statements_are_one_only_if_a_log_tells_of_them_twice() {
    let said = |at_us: i64, failed: bool, is_further: bool| {
        let mut event = event(1, at_us, "UPDATE t SET a=1");
        if let What::Statement(said) = &mut event.what {
            (said.duration_us, said.failed, said.is_further) = (None, failed, is_further);
        }
        event
    };
    let (_file, recording) = record(vec![
        said(1000, false, false),
        said(2000, true, false),
        said(3000, false, false),
        said(4000, true, true),
    ]);
    let failed: Vec<_> = session(&recording, 0)
        .iter()
        .map(|own| own.failed)
        .collect();
    assert_eq!(failed, [false, true, true]);
}
