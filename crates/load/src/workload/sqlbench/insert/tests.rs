use super::super::tests::plan;
use super::*;
use crate::driver::Dialect;

fn operation(name: &str, dialect: Dialect) -> Operation {
    let operations = test(&plan(dialect, Scale::FULL)).operations;
    let found = operations.into_iter().find(|one| one.name == name);
    found.unwrap_or_else(|| panic!("no {name}"))
}

/// The one statement of a turn, without the tables' prefix.
fn statement(operation: &Operation, turn: u64) -> String {
    let texts = operation.texts(turn);
    assert_eq!(texts.len(), 1, "{operation:?}: {texts:?}");
    texts[0].replace("sqlbench_", "")
}

/// Operations, turns and their statements: columns, keys and order are the original's.
const STATEMENTS: &[(&str, u64, &str)] = &[
    ("prepared_select", 0, "SELECT * FROM bench1 WHERE id="),
    ("select_big", 0, "SELECT id FROM bench1"),
    (
        "order_by_big_key",
        0,
        "SELECT id,id2 FROM bench1 ORDER BY id,id2",
    ),
    (
        "order_by_big_key_desc",
        0,
        "SELECT id,id2 FROM bench1 ORDER BY id DESC,id2 DESC",
    ),
    (
        "order_by_big_key_prefix",
        0,
        "SELECT id FROM bench1 ORDER BY id DESC",
    ),
    (
        "order_by_big_key2",
        0,
        "SELECT id3 FROM bench1 ORDER BY id3",
    ),
    (
        "order_by_big_key_diff",
        0,
        "SELECT id2 FROM bench1 ORDER BY id3",
    ),
    ("order_by_big", 0, "SELECT id FROM bench1 ORDER BY id2,id3"),
    (
        "order_by_range",
        1,
        "SELECT dummy1 FROM bench1 WHERE id>=400 AND id<=402 ORDER BY id3",
    ),
    (
        "order_by_key_prefix",
        499,
        "SELECT dummy1 FROM bench1 WHERE id>=100000 AND id<=100500 ORDER BY id",
    ),
    (
        "order_by_key2_diff",
        0,
        "SELECT id2 FROM bench1 WHERE id3>=200 AND id3<=700 ORDER BY id3",
    ),
    (
        "select_diff_key",
        4,
        "SELECT id2 FROM bench1 WHERE id=5 OR id3=1",
    ),
    ("select_range_prefix", 0, "SELECT * FROM bench1 WHERE id=1"),
    (
        "select_range_key2",
        1,
        "SELECT * FROM bench1 WHERE id3 IN (1)",
    ),
    (
        "select_range_key2",
        2,
        "SELECT * FROM bench1 WHERE (id3=1) AND id3<10",
    ),
    (
        "select_range_prefix",
        5011,
        "SELECT * FROM bench1 WHERE id>=299999 OR id<1",
    ),
    (
        "select_group",
        8,
        "SELECT id % 10 AS last_digit,COUNT(*) FROM bench1 GROUP BY last_digit",
    ),
    (
        "min_max_on_key",
        8,
        "SELECT MIN(id2) FROM bench1 WHERE id=2",
    ),
    ("min_max", 10, "SELECT MIN(dummy1) FROM bench1 WHERE id2=2"),
    (
        "count_on_key",
        99,
        "SELECT COUNT(id) FROM bench1 WHERE id<297000",
    ),
    (
        "count",
        1,
        "SELECT COUNT(dummy1) FROM bench1 WHERE id2<3000",
    ),
    (
        "count_distinct_big",
        1,
        "SELECT dummy1,COUNT(DISTINCT id) FROM bench1 GROUP BY dummy1",
    ),
    (
        "update_of_key_big",
        497,
        "UPDATE bench1 SET id3=0-id3 WHERE id3>=0 AND id3<=99897",
    ),
    (
        "update_of_key_big",
        499,
        "UPDATE bench1 SET id3=0-id3 WHERE id3>=100000 AND id3<200000",
    ),
    (
        "update_of_key_big",
        500,
        "UPDATE bench1 SET id3=FLOOR((0-id3)/20) WHERE id3<0",
    ),
    (
        "outer_join_on_key",
        0,
        "SELECT COUNT(*) FROM bench1 a LEFT OUTER JOIN bench1 b ON (a.id2=b.id3)",
    ),
    (
        "select_in",
        0,
        "SELECT bench1.* FROM bench1 WHERE id IN (1,2,3,4,5,6,7,8,9,10)",
    ),
    (
        "select_join_in",
        1499,
        "SELECT bench1.* FROM bench_1000 LEFT OUTER JOIN bench1 ON (bench1.id=bench_1000.id)",
    ),
    (
        "delete_range",
        11,
        "DELETE FROM bench1 WHERE id>=100000 AND id<=200000",
    ),
    (
        "update_of_primary_key_many_keys",
        255,
        "UPDATE many_keys SET field5=1 WHERE field_search=255",
    ),
    (
        "delete_big_many_keys",
        127,
        "DELETE FROM many_keys WHERE field_search=127",
    ),
];

#[test]
fn statements_read_and_write_what_the_originals_do() {
    let operations = test(&plan(Dialect::Mysql, Scale::FULL)).operations;
    for &(name, turn, sql) in STATEMENTS {
        let operation = operations.iter().find(|one| one.name == name).unwrap();
        let told = statement(operation, turn);
        // A random key ends some of them.
        let open = sql.ends_with('=') || name == "select_diff_key";
        assert!(
            told == sql || open && told.starts_with(sql),
            "{name}: {told}"
        );
    }
}

#[test]
fn fewer_statements_than_the_original_prints() {
    let statements = [
        ("select_range_prefix", 5010 + 10_000, 25_010),
        ("select_group", 100, 111),
        ("outer_join_not_found", 10, 500),
        ("delete_range", 13, 12),
        ("multiple_value_insert", 4, 100_000),
    ];
    for (name, turns, planned) in statements {
        let operation = operation(name, Dialect::Postgres);
        assert_eq!(
            (operation.turns, operation.planned),
            (turns, planned),
            "{name}"
        );
    }
}

#[test]
fn lists_of_keys_grow_and_differ_each_time() {
    let prefix = operation("select_range_prefix", Dialect::Mysql);
    let keys = |turn| statement(&prefix, turn).matches(',').count();
    let lengths: Vec<_> = (0..5).map(|list| keys(3 * list + 1) + 1).collect();
    assert_eq!(lengths, [1, 12, 24, 36, 48]);
    assert_ne!(statement(&prefix, 4), statement(&prefix, 19));
}

#[test]
fn what_no_cache_may_answer_is_another_text_each_time() {
    for name in [
        "min_max_on_key",
        "select_key",
        "order_by_range",
        "count_on_key",
    ] {
        let operation = operation(name, Dialect::Sqlite);
        assert_ne!(
            statement(&operation, 4),
            statement(&operation, 10),
            "{name}"
        );
    }
}

#[test]
fn every_row_is_deleted_once_by_some_range() {
    let keys = operation("delete_key", Dialect::Mysql);
    let ranges = operation("delete_range", Dialect::Mysql);
    assert_eq!(keys.expected().affected, 5000);
    assert_eq!(ranges.expected().affected, 295_000);
}

#[test]
fn a_row_that_keeps_its_value_is_counted_by_some_servers_only() {
    let changed = |name, dialect| operation(name, dialect).expected().affected;
    for (name, zeros) in [
        ("update_of_key_big", 499),
        ("update_with_key_prefix", 100_000),
    ] {
        let [mysql, postgres] =
            [Dialect::Mysql, Dialect::Postgres].map(|dialect| changed(name, dialect));
        assert_eq!(postgres - mysql, zeros, "{name}");
    }
}

#[test]
fn the_many_keys_are_sixteen_parts_and_fifteen_indexes() {
    let create = &operation("insert_key", Dialect::Mysql).before[0];
    let (columns, keys) = create.split_once(", PRIMARY KEY (").unwrap();
    assert_eq!(columns.matches("NOT NULL").count(), 17);
    assert_eq!(keys.split_once(')').unwrap().0.split(',').count(), 16);
    assert_eq!(keys.matches("INDEX").count(), 15);
}
