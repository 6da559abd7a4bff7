use super::*;
use crate::driver::{Arg, Args};
use crate::workload::{Next, Script};

fn options() -> ConditionsOptions {
    ConditionsOptions {
        tables: 10,
        history: History::new(1000, 4, 365).unwrap(),
        payload_bytes: 25,
        hot_percent: 90.0,
        hot_s: 86_400,
        tables_per_visit: 7,
        appends: 0.0,
        stay: true,
        seed: 5,
    }
}

fn workload(options: &ConditionsOptions) -> Conditions {
    Conditions::new(options)
}

/// A visit: each statement's SQL, integers, and length of text.
fn visit(
    workload: &Conditions,
    script: &mut ConditionsScript,
) -> Vec<(String, Vec<i64>, Option<usize>)> {
    let mut args = Args::default();
    let mut steps = Vec::new();
    assert!(script.begin());
    while let Some(next) = script.next(&mut args) {
        let Next::Statement(id) = next else {
            steps.push((format!("{next:?}"), Vec::new(), None));
            continue;
        };
        let mut ints = Vec::new();
        let mut text = None;
        for arg in args.values() {
            match arg {
                Arg::Int(value) => ints.push(*value),
                Arg::Text(range) => text = Some(range.len()),
                other => panic!("{other:?}"),
            }
        }
        let sql = workload.catalogue().statements()[id].sql.clone();
        steps.push((sql, ints, text));
    }
    assert_eq!(script.next(&mut args), None, "the end is the end");
    steps
}

#[test]
fn a_visit_asks_its_tables_about_one_time() {
    let workload = workload(&options());
    let mut script = workload.script(0);
    for _ in 0..20 {
        let steps = visit(&workload, &mut script);
        assert_eq!(steps.len(), 14);
        let mut tables = std::collections::BTreeSet::new();
        for pair in steps.chunks(2) {
            let table = |sql: &str| {
                sql.split_whitespace()
                    .find(|word| word.starts_with("conditions"))
                    .map(str::to_owned)
            };
            assert!(pair[0].0.contains("beginTime>?"), "{pair:?}");
            assert!(pair[1].0.contains("beginTime<=?"), "{pair:?}");
            assert_eq!(pair[0].1, pair[1].1, "the same element and time");
            assert_eq!(table(&pair[0].0), table(&pair[1].0));
            tables.insert(table(&pair[0].0));
            assert_eq!(pair[0].1[1], steps[0].1[1], "the same time in all tables");
            assert!((0..4).contains(&pair[0].1[0]));
        }
        assert_eq!(tables.len(), 7);
    }
}

#[test]
fn most_visits_ask_for_the_last_hours() {
    let options = options();
    let workload = workload(&options);
    let mut script = workload.script(1);
    let present_s = i64::from(options.history.present_s());
    let times: Vec<i64> = (0..2000)
        .map(|_| visit(&workload, &mut script)[0].1[1])
        .collect();
    let hot = times
        .iter()
        .filter(|time| **time > present_s - 86_400)
        .count();
    // 90 % and what the cold draws add; five standard deviations.
    assert!((1735..=1870).contains(&hot), "{hot}");
    let complete_s = i64::from(options.history.complete_s());
    assert!(
        times
            .iter()
            .all(|time| (complete_s..=present_s).contains(time))
    );
    assert!(times.iter().any(|time| *time < present_s - 300 * 86_400));
}

#[test]
fn clients_leave_unless_they_are_to_stay() {
    let leaving = workload(&ConditionsOptions {
        stay: false,
        ..options()
    });
    assert_eq!(leaving.catalogue().types()[0].name, "connect");
    let steps = visit(&leaving, &mut leaving.script(0));
    assert_eq!(steps.len(), 15);
    assert_eq!(steps[0].0, "Reconnect { type_index: 0 }");
    let staying = workload(&options());
    assert!(
        staying
            .catalogue()
            .types()
            .iter()
            .all(|known| known.name != "connect")
    );
}

#[test]
fn appends_are_as_rare_as_asked() {
    let options = ConditionsOptions {
        appends: 0.05,
        ..options()
    };
    let workload = workload(&options);
    let mut script = workload.script(0);
    let present_s = i64::from(options.history.present_s());
    let (mut appends, mut questions) = (0, 0);
    for _ in 0..2000 {
        for (sql, ints, text) in visit(&workload, &mut script) {
            if sql.starts_with("INSERT") {
                appends += 1;
                let [entered_s, element, begin_s] = ints[..] else {
                    panic!("{ints:?}")
                };
                assert_eq!((entered_s, text), (present_s, Some(25)));
                assert!((0..4).contains(&element));
                assert!((present_s - 86_399..=present_s).contains(&begin_s));
            } else {
                questions += 1;
            }
        }
    }
    assert_eq!(appends + questions / 2, 14_000, "one in place of a pair");
    assert!((570..=830).contains(&appends), "5 % of 14,000: {appends}");
}

#[test]
fn clients_differ_and_repeat_themselves() {
    let workload = workload(&options());
    let first = |client| visit(&workload, &mut workload.script(client));
    assert_eq!(first(0), first(0));
    assert_ne!(first(0), first(1));
}
