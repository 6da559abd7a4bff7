use std::collections::BTreeSet;

use super::*;
use crate::driver::{Arg, Args};
use crate::workload::distribution::Choice;
use crate::workload::{Next, Script};

fn options(mix: Mix) -> OltpOptions {
    OltpOptions::new(mix, 4, 1000, Choice::Uniform, 11)
}

fn single(mix: Mix) -> OltpOptions {
    OltpOptions {
        schema: Schema::Single,
        tables: 1,
        ..options(mix)
    }
}

fn oltp(options: &OltpOptions) -> Oltp {
    Oltp::new(options, Dialect::Mysql)
}

fn transaction(workload: &Oltp, script: &mut OltpScript) -> Vec<(String, Vec<Arg>)> {
    let mut args = Args::default();
    let mut statements = Vec::new();
    script.begin();
    while let Some(Next::Statement(id)) = script.next(&mut args) {
        let sql = workload.catalogue().statements()[id].sql.clone();
        statements.push((sql, args.values().to_vec()));
    }
    statements
}

fn range((sql, args): &(String, Vec<Arg>)) -> (i64, i64) {
    assert!(sql.contains("BETWEEN"), "{sql}");
    match args[..] {
        [Arg::Int(first), Arg::Int(last)] => (first, last),
        _ => panic!("{args:?}"),
    }
}

#[test]
fn complex_keeps_to_one_table() {
    let workload = oltp(&options(Mix::Complex));
    let mut script = workload.script(0);
    let mut tables_seen = BTreeSet::new();
    for _ in 0..50 {
        let statements = transaction(&workload, &mut script);
        assert_eq!(statements.len(), 20);
        let table = |sql: &str| {
            sql.split_whitespace()
                .find(|word| word.starts_with("sbtest"))
                .map(str::to_owned)
        };
        let tables: BTreeSet<_> = statements
            .iter()
            .filter_map(|(sql, _)| table(sql))
            .collect();
        assert_eq!(tables.len(), 1, "{tables:?}");
        tables_seen.extend(tables);
    }
    assert_eq!(tables_seen.len(), 4, "and draws every table in time");
}

#[test]
fn ranges_span_100_ids_and_the_deleted_row_returns() {
    let workload = oltp(&options(Mix::ReadWrite));
    let statements = transaction(&workload, &mut workload.script(3));
    for statement in &statements[11..15] {
        let (first, last) = range(statement);
        assert_eq!(last - first, 99);
    }
    let (delete, insert) = (&statements[17], &statements[18]);
    assert!(delete.0.starts_with("DELETE") && insert.0.starts_with("INSERT"));
    assert_eq!(delete.1[0], insert.1[0]);
    assert!(
        insert
            .0
            .contains(delete.0.split_whitespace().nth(2).unwrap()),
        "the same table"
    );
    assert_eq!(insert.1.len(), 4);
}

#[test]
fn ranges_of_0_4_stay_inside_the_table_and_distinct_takes_101() {
    let workload = oltp(&single(Mix::Complex));
    let mut script = workload.script(0);
    let mut highest = 0;
    for _ in 0..500 {
        let statements = transaction(&workload, &mut script);
        assert_eq!(statements.len(), 20);
        for statement in &statements[11..15] {
            let (first, last) = range(statement);
            let is_distinct = statement.0.contains("DISTINCT");
            assert_eq!(last - first, if is_distinct { 100 } else { 99 });
            assert!((1..=900).contains(&first), "{first}");
            highest = highest.max(last);
        }
    }
    assert_eq!(highest, 1000, "reached by DISTINCT alone");

    let small = OltpOptions {
        rows: 20,
        ..single(Mix::Complex)
    };
    let workload = oltp(&small);
    let statements = transaction(&workload, &mut workload.script(0));
    assert_eq!(range(&statements[11]), (1, 100));
}

#[test]
fn clients_of_0_4_send_ten_numbers_and_put_the_same_row_back() {
    let workload = oltp(&single(Mix::Complex));
    let mut script = workload.script(0);
    let mut args = Args::default();
    script.begin();
    let mut seen = 0;
    while let Some(Next::Statement(id)) = script.next(&mut args) {
        let sql = &workload.catalogue().statements()[id].sql;
        if sql.starts_with("UPDATE sbtest SET c") {
            let Arg::Text(range) = &args.values()[0] else {
                panic!("{args:?}")
            };
            let text = String::from_utf8(args.text(range).to_vec()).unwrap();
            let numbers: Vec<u32> = text.split('-').map(|n| n.parse().unwrap()).collect();
            assert_eq!(numbers.len(), 10, "{text}");
            assert!(numbers.iter().all(|number| *number < 1 << 31));
            seen += 1;
        }
        if sql.starts_with("INSERT INTO sbtest VALUES(?,0,' ',") {
            assert_eq!(args.values().len(), 1);
            seen += 1;
        }
    }
    assert_eq!(seen, 2);
}

#[test]
fn what_is_locked_is_unlocked_when_it_is_given_up() {
    let workload = oltp(&OltpOptions {
        bracket: Bracket::Locks,
        ..options(Mix::Complex)
    });
    let catalogue = workload.catalogue();
    let rollback = catalogue.rollback().unwrap();
    assert_eq!(catalogue.statements()[rollback].sql, "UNLOCK TABLES");
}

#[test]
fn clients_differ_and_repeat_themselves() {
    let workload = oltp(&options(Mix::PointSelect));
    let first = |client| transaction(&workload, &mut workload.script(client));
    assert_eq!(first(0), first(0));
    assert_ne!(first(0), first(1));
}
