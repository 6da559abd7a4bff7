//! The plans of what was read.

use super::{sent, workload};
use crate::driver::Dialect;
use crate::workload::replay::certificate::Counts;
use crate::workload::replay::plans;

#[test]
fn the_first_of_each_query_is_explained_if_it_is_a_mere_read_alone() {
    let statements = [
        "SELECT a FROM t WHERE id=2",
        "SELECT a FROM t WHERE id=1",
        "UPDATE t SET a=1",
        "SELECT a FROM t FOR UPDATE",
        "SELECT a FROM t; DELETE FROM t",
        "EXPLAIN ANALYZE DELETE FROM t",
        "(ANALYZE) DELETE FROM t",
        "WITH x AS (DELETE FROM t RETURNING a) SELECT a FROM x",
        "SELECT pg_read_file('/etc/passwd')",
    ];
    let all = workload(&statements, 0, false);
    assert_eq!(sent(&all, "").len(), 8);
    let counts = all.shared.counts(0);
    let kept: Vec<_> = counts.examples.values().map(|(_, sql)| &**sql).collect();
    assert_eq!(kept, [statements[0].as_bytes()]);
    drop(counts);
    let mut two = Counts::default();
    two.keep_example(0, 5, b"late");
    two.add(&all.shared.counts(0));
    assert_eq!(two.examples[&0].1, statements[0].as_bytes());
}

#[test]
fn a_plan_has_no_values_costs_and_estimates() {
    let of_postgres = serde_json::json!([{"Plan": {"Node Type": "Limit", "Plan Rows": 7, "Plans": [
        {"Node Type": "Aggregate", "Strategy": "Hashed", "Group Key": ["a"], "Plans": [
            {"Node Type": "Hash Join", "Join Type": "Inner", "Hash Cond": "(a = b)", "Plans": [
                {"Node Type": "Seq Scan", "Relation Name": "t", "Filter": "(a = 'Ann Miller')"},
                {"Node Type": "Index Scan", "Index Name": "u_key", "Relation Name": "u", "Index Cond": "(b = 4711)"},
            ]},
        ]},
    ]}}]);
    let plan = |json: &serde_json::Value| plans::plan(&json.to_string()).unwrap();
    let said = "Limit (Aggregate Hashed (Hash Join (Seq Scan t, Index Scan u_key u)))";
    assert_eq!(plan(&of_postgres), said);
    let table = serde_json::json!({"table_name": "t", "access_type": "ref", "key": "t_key", "key_length": "4",
        "ref": ["const"], "rows": 7, "attached_condition": "t.a = 'Ann Miller'", "using_index": true});
    let of_mysql = serde_json::json!({"query_block": {"select_id": 1, "cost_info": {"query_cost": "7"},
        "ordering_operation": {"using_filesort": true, "table": table}}});
    assert_eq!(plan(&of_mysql), "filesort (t ref t_key)");
    let of_mariadb = serde_json::json!({"query_block": {"select_id": 1, "nested_loop": [
        {"read_sorted_file": {"filesort": {"sort_key": "t.b", "table": table}}}, {"table": table}]}});
    assert_eq!(plan(&of_mariadb), "filesort (t ref t_key), t ref t_key");
}

#[test]
fn a_plan_that_is_not_understood_is_none() {
    for said in ["", "null", "{", "[]", r#"{"query_plan": {"join": "hash"}}"#] {
        assert_eq!(plans::plan(said), None, "{said}");
    }
}

#[test]
fn a_join_whose_tables_have_the_same_key_has_all_of_them() {
    let said = r#"{"query_block": {"select_id": 1, "const_condition": "1", "rows": 1.5, "deep": -1, "none": null,
        "table": {"table_name": "t", "access_type": "ALL"}, "table": {"table_name": "u", "access_type": "ref"}}}"#;
    assert_eq!(plans::plan(said).unwrap(), "t ALL, u ref");
}

#[test]
fn plans_that_differ_behind_the_end_are_not_the_same() {
    let plan = |last: &str| {
        let mut tables = vec![serde_json::json!({"table_name": "ä".repeat(50)}); 60];
        tables.push(serde_json::json!({"table_name": last}));
        plans::plan(&serde_json::to_string(&tables).unwrap()).unwrap()
    };
    assert_eq!(plan("t"), plan("t"));
    assert_ne!(plan("t"), plan("u"));
    assert!(plan("t").chars().count() < 2020);
}

#[test]
fn a_text_that_goes_on_behind_its_statement_is_not_explained() {
    let is_one = |sql: &str| plans::is_one(sql.as_bytes(), Dialect::Postgres);
    let long = "x".repeat(3000);
    assert!(is_one(&format!("SELECT '{long};'; -- ; done")));
    assert!(!is_one(&format!("SELECT '{long}'; DELETE FROM t")));
}
