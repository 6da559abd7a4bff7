use super::steps::Step;
use super::*;
use crate::workload::Workload;

/// What the original reports at its own size.
const FACTS: &str = include_str!("../../../tests/facts/sql-bench-operations.csv");

pub(super) fn plan(dialect: Dialect, scale: Scale) -> Plan {
    Plan {
        maker: Maker {
            dialect,
            engine: None,
        },
        scale,
        engine: None,
    }
}

fn operations(plan: &Plan) -> Vec<(&'static str, Operation)> {
    let tests = TestName::ALL.map(|name| name.test(plan));
    let named = tests.into_iter().flat_map(|test| {
        let operations = test.operations.into_iter();
        operations.map(move |operation| (test.name.name(), operation))
    });
    named.collect()
}

#[test]
fn names_and_counts_are_the_originals() {
    let facts: Vec<String> = FACTS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("test,"))
        .map(str::to_owned)
        .collect();
    assert_eq!(facts.len(), 107);
    for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
        let declared: Vec<_> = operations(&plan(dialect, Scale::FULL))
            .into_iter()
            .map(|(test, operation)| format!("{test},{},{}", operation.name, operation.planned))
            .collect();
        assert_eq!(declared, facts, "{dialect:?}");
    }
}

#[test]
fn a_scaled_loop_is_a_part_of_the_original() {
    let full = operations(&plan(Dialect::Mysql, Scale::FULL));
    let scaled = operations(&plan(Dialect::Mysql, Scale::new(0.01).unwrap()));
    for ((_, full), (_, scaled)) in full.iter().zip(&scaled) {
        assert_eq!(full.name, scaled.name);
        assert!(
            scaled.planned >= 1 && scaled.planned <= full.planned,
            "{scaled:?}"
        );
        let long = full.planned >= 10_000;
        assert!(
            !long || scaled.planned * 50 < full.planned,
            "{scaled:?} of {full:?}"
        );
    }
}

#[test]
fn every_turn_has_steps_at_the_smallest_scale_too() {
    for (_, operation) in operations(&plan(Dialect::Postgres, Scale::new(0.001).unwrap())) {
        assert!(operation.turns >= 1, "{operation:?}");
        let expected = operation.expected();
        let reads = operation.kind == crate::driver::Kind::Read;
        assert_eq!(expected.rows > 0, reads, "{operation:?}");
        let example = operation.example();
        let connects = operation.name == "connect";
        assert_eq!(example.is_empty(), connects, "{operation:?}");
        assert!(example.chars().count() <= 202, "{operation:?}");
    }
}

#[test]
fn mysql_sessions_of_transactions_do_not_commit_by_themselves() {
    for (dialect, switched_off) in [(Dialect::Mysql, 6), (Dialect::Postgres, 0)] {
        let all = operations(&plan(dialect, Scale::FULL));
        let set_up = all.iter().filter(|(_, one)| one.set_up.is_some());
        let names: Vec<_> = set_up.map(|(_, one)| one.name).collect();
        assert_eq!(names.len(), switched_off, "{names:?}");
        assert!(names.iter().all(|name| !name.contains("autocommit")));
    }
    let all = operations(&plan(Dialect::Mysql, Scale::FULL));
    let (_, commits) = all
        .iter()
        .find(|one| one.1.name == "insert_commit")
        .unwrap();
    let load = OperationLoad::new(commits.clone().into(), 1);
    let catalogue = load.catalogue();
    let sent = catalogue
        .set_up()
        .iter()
        .map(|&id| &catalogue.statements()[id].sql);
    assert_eq!(sent.collect::<Vec<_>>(), ["SET autocommit=0"]);
}

#[test]
fn what_has_no_transactions_is_skipped_with_its_name() {
    let plan = Plan {
        engine: Some(Engine {
            name: "MyISAM".into(),
            transactional: false,
        }),
        ..plan(Dialect::Mysql, Scale::FULL)
    };
    let skipped: Vec<_> = operations(&plan)
        .into_iter()
        .filter(|(_, operation)| operation.skipped.is_some())
        .map(|(test, operation)| (test, operation.name, operation.skipped))
        .collect();
    assert_eq!(skipped.len(), 9, "all of transactions");
    for (test, name, reason) in skipped {
        assert_eq!(test, "transactions", "{name}");
        assert_eq!(reason.unwrap(), "engine MyISAM has no transactions");
    }
}

#[test]
fn every_table_that_is_made_is_known_as_ours() {
    for (_, operation) in operations(&plan(Dialect::Sqlite, Scale::new(0.001).unwrap())) {
        let turns = operation.first_turn();
        let told = turns.iter().filter_map(|step| match step {
            Step::Sql(range) | Step::Aside(range) => {
                Some(String::from_utf8_lossy(turns.text(range)).into_owned())
            }
            _ => None,
        });
        for sql in operation.before.iter().cloned().chain(told) {
            if let Some(rest) = sql.strip_prefix("CREATE TABLE ") {
                let name = rest.split_whitespace().next().unwrap();
                assert!(leftovers::is_ours(name), "{operation:?}: {name}");
            }
        }
    }
}

fn operation(test: TestName, name: &str, plan: &Plan) -> Operation {
    let mut operations = test.test(plan).operations.into_iter();
    operations
        .find(|operation| operation.name == name)
        .expect("it is one of the test's")
}

#[test]
fn a_commit_operation_is_one_transaction_and_an_autocommit_one_none() {
    for dialect in [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite] {
        let plan = plan(dialect, Scale::FULL);
        for kind in ["insert", "update", "delete"] {
            let committed = operation(TestName::Transactions, &format!("{kind}_commit"), &plan);
            let statements: Vec<_> = (0..committed.turns)
                .map(|index| committed.texts(index).len())
                .collect();
            // In the MySQL family the session is without autocommit from its beginning.
            let first = if dialect == Dialect::Mysql { 1 } else { 2 };
            assert_eq!((statements[0], statements[9999]), (first, 2), "{dialect:?}");
            assert!(statements[1..9999].iter().all(|&one| one == 1));
            assert_eq!(committed.texts(9999)[1], "COMMIT");
            assert!(committed.alone.is_some());
            let alone = operation(TestName::Transactions, &format!("{kind}_autocommit"), &plan);
            let [statement] = &alone.texts(0)[..] else {
                panic!("{alone:?} has more than its statement")
            };
            assert!(statement.contains("sqlbench_bench2"), "{statement}");
        }
    }
}

#[test]
fn select_asks_for_the_originals_columns_by_parts_of_keys() {
    let plan = plan(Dialect::Mysql, Scale::FULL);
    let operations = TestName::Select.test(&plan).operations;
    let text = |name: &str, index| {
        let mut operations = operations.iter();
        let operation = operations.find(|operation| operation.name == name);
        operation.expect(name).texts(index).remove(0)
    };
    let shapes = [
        (
            "select_cache",
            "SELECT SUM(idn+100),SUM(rev_idn-100) FROM T",
        ),
        (
            "count_group_on_key_parts",
            "SELECT grp,COUNT(*) FROM T GROUP BY grp",
        ),
        (
            "count_distinct_group_on_key_parts",
            "SELECT grp,COUNT(DISTINCT idn) FROM T GROUP BY grp",
        ),
        (
            "count_distinct_group",
            "SELECT grp,COUNT(DISTINCT rev_idn) FROM T GROUP BY grp",
        ),
    ];
    for (name, shape) in shapes {
        assert_eq!(
            text(name, 0),
            shape.replace("FROM T", "FROM sqlbench_bench1"),
            "{name}"
        );
        assert_eq!(text(name, 0), text(name, 7), "{name}");
    }
    // Turns of the same question, which is never the same text again.
    for (name, questions) in [("select_cache2", 1), ("count_on_key", 5), ("select_big", 7)] {
        assert_ne!(text(name, questions), text(name, 2 * questions), "{name}");
    }
    assert_eq!(
        text("min_max_on_key", 7 * 8 + 5),
        "SELECT MAX(idn) FROM sqlbench_bench1 WHERE region='C' AND grp=24"
    );
    let (list, or) = (text("select_range", 0), text("select_range", 1));
    assert_eq!(list.matches(',').count(), 499, "{list}");
    assert_eq!(or.matches(" OR ").count(), 499, "{or}");
}

#[test]
fn wisconsin_asks_each_question_ten_times_and_then_changes_fourteen_rows() {
    let plan = plan(Dialect::Mysql, Scale::FULL);
    let benchmark = operation(TestName::Wisconsin, "wisc_benchmark", &plan);
    let texts: Vec<_> = (0..benchmark.turns)
        .map(|index| benchmark.texts(index).remove(0))
        .collect();
    let (asked, changes) = texts.split_at(100);
    assert!(asked.iter().all(|sql| sql.starts_with("SELECT")));
    assert!(
        asked
            .chunks(10)
            .all(|ten| ten.iter().all(|sql| *sql == ten[0]))
    );
    let of = |verb| changes.iter().filter(|sql| sql.starts_with(verb)).count();
    assert_eq!((of("INSERT"), of("DELETE"), of("UPDATE")), (4, 4, 6));
    let made = operation(TestName::Wisconsin, "create_table", &plan).texts(0);
    assert!(!made[0].contains("PRIMARY"), "{made:?}");
    assert_eq!(made[0].matches("UNIQUE").count(), 2, "{made:?}");
}

#[test]
fn atis_answers_have_the_originals_shape() {
    let plan = plan(Dialect::Mysql, Scale::FULL);
    let rows = |name: &str| {
        let operation = operation(TestName::Atis, name, &plan);
        let mut steps = steps::Steps::default();
        let rows = (0..operation.turns).map(|index| {
            operation.take(operation::Turn { index, client: 0 }, &mut steps);
            steps.expected().rows
        });
        rows.take(8).collect::<Vec<_>>()
    };
    assert_eq!(rows("select_simple_join")[..5], [1, 11, 7, 4, 579]);
    assert_eq!(rows("select_join")[0], 579);
    assert_eq!(rows("select_distinct"), [6, 9, 22, 534, 579, 579, 44, 44]);
    assert_eq!(rows("select_group")[..4], [7, 7, 4, 7]);
}
