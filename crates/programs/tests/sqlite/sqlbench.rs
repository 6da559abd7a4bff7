//! sql-bench's tests on SQLite, and what they refuse.

use std::path::Path;

use serde_json::Value;

use crate::sqlbench_support::{check_all, complaint, named, operations, sqlbench};
use crate::target::driver;
use diskproof_load::driver::Driver;

fn url(directory: &Path) -> String {
    format!("sqlite:{}/bench.db?synchronous=off", directory.display())
}

fn tables(url: &str) -> String {
    let names = "SELECT group_concat(name) FROM sqlite_master WHERE type = 'table'";
    let mut admin = driver(url).admin().unwrap();
    admin.query_value(names).unwrap().unwrap_or_default()
}

#[test]
fn all_nine_tests_and_nothing_is_left() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    assert_eq!(check_all(&url, &[], &[]), [""; 0]);
    assert_eq!(tables(&url), "");
}

#[test]
fn tests_come_in_order_and_a_loops_scale_is_said() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    let some = ["--tests", "wisconsin,big-tables", "--scale", "0.004"];
    let told = operations(&url, &some);
    assert_eq!(told[0]["test"], "big-tables");
    assert_eq!(told.last().unwrap()["test"], "wisconsin");
    assert_eq!(named(&told, "select_many_fields")["planned"], 8);
    assert_eq!(named(&told, "select_many_fields")["rows"], 8);
    assert_eq!(named(&told, "insert")["affected"], 3 * 40 + 4);

    let text = sqlbench("run", &url, &some);
    let text = String::from_utf8_lossy(&text.stdout).into_owned();
    assert!(text.contains("at scale 0.004"), "{text}");
}

#[test]
fn atis_finds_what_it_expects_where_its_tables_are_small() {
    for scale in ["0.001", "0.007", "0.013"] {
        let directory = tempfile::tempdir().unwrap();
        let told = operations(
            &url(directory.path()),
            &["--tests", "ATIS", "--scale", scale],
        );
        let failed: Vec<_> = told.iter().filter(|one| one["errors"] != 0).collect();
        assert!(failed.is_empty(), "at scale {scale}: {failed:?}");
        assert_ne!(named(&told, "select_join")["count"], 0);
    }
}

#[test]
fn a_limit_cuts_loops_of_questions_and_never_the_filling_of_tables() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    let limited = ["--limit-seconds", "0.002", "--scale", "0.05"];
    // A machine that stalls for the whole of so short a limit asks no question at all.
    let told = (0..20)
        .map(|_| {
            operations(
                &url,
                &[&limited[..], &["--tests", "select,wisconsin"]].concat(),
            )
        })
        .find(|told| named(told, "count_on_key")["count"] != 0)
        .expect("a question within the limit");
    let cut = named(&told, "count_on_key");
    assert_eq!(cut["planned"], 2500);
    let (count, seconds) = (cut["count"].as_f64(), cut["seconds"].as_f64());
    let (count, seconds) = (count.unwrap(), seconds.unwrap());
    assert!(count < 2500.0, "{cut}");
    let all_s = cut["extrapolated_s"].as_f64().expect("a time");
    let expected_s = seconds * 2500.0 / count;
    assert!((all_s / expected_s - 1.0).abs() < 1e-6, "{cut}");

    for whole in ["insert", "create_table", "delete_big", "wisc_benchmark"] {
        for operation in told.iter().filter(|one| one["name"] == whole) {
            assert_eq!(operation["count"], operation["planned"], "{operation}");
            assert_eq!(operation["extrapolated_s"], Value::Null, "{operation}");
        }
    }
    assert!(told.iter().all(|one| one["skipped"].is_null()), "{told:?}");
    assert_eq!(tables(&url), "", "and the tables that were made are gone");
    assert_eq!(cut["cut"], true);

    let shown = [
        &limited[..],
        &["--tests", "select", "--report-interval", "0.1"],
    ]
    .concat();
    let asked = |text: &String| {
        let line = text.lines().find(|line| line.contains("count_on_key "));
        !line.expect("a line").contains(" 0 of 2500")
    };
    let text = (0..20)
        .map(|_| {
            let text = sqlbench("run", &url, &shown);
            assert!(text.status.success(), "{}", complaint(&text));
            String::from_utf8_lossy(&text.stdout).into_owned()
        })
        .find(asked)
        .expect("a question within the limit");
    assert!(text.contains(" of 2500; all would take "), "{text}");
}

#[test]
fn clients_share_what_can_be_shared() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    let three = [
        "--tests",
        "connect,insert",
        "--scale",
        "0.001",
        "--clients",
        "3",
    ];
    let told = operations(&url, &three);
    assert_eq!(named(&told, "connect")["clients"], 3);
    assert_eq!(named(&told, "connect")["count"], 10);
    assert_eq!(named(&told, "select_key")["clients"], 3);
    assert_eq!(named(&told, "update_of_key_big")["clients"], 1);
    let said = complaint(&sqlbench("run", &url, &three));
    let reason = "insert, update_of_key_big: one client, since its last statement";
    assert!(said.contains(reason), "{said}");
}

#[test]
fn tables_of_the_same_name_are_refused_until_they_are_cleaned_up() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    let mut admin = driver(&url).creating().admin().unwrap();
    for name in ["sqlbench_many_12", "sqlbench_results", "sqlbench_many_x"] {
        admin.execute(&format!("CREATE TABLE {name} (a)")).unwrap();
    }
    let refused = sqlbench("run", &url, &["--tests", "wisconsin"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = complaint(&refused);
    assert!(
        said.contains("sqlbench_many_12") && said.contains("cleanup"),
        "{said}"
    );
    let cleaned = sqlbench("cleanup", &url, &[]);
    assert!(cleaned.status.success());
    assert_eq!(complaint(&cleaned), "dropped sqlbench_many_12\n");
    let kept = "sqlbench_results,sqlbench_many_x";
    assert_eq!(tables(&url), kept);
    operations(&url, &["--tests", "wisconsin", "--scale", "0.001"]);
    assert_eq!(tables(&url), kept);
}

#[test]
fn wrong_arguments_are_refused_before_anything_is_made() {
    let directory = tempfile::tempdir().unwrap();
    let url = url(directory.path());
    let wrong: [(&[&str], &str); 6] = [
        (&["--scale", "0"], "0.001 to 1"),
        (&["--scale", "2"], "0.001 to 1"),
        (&["--tests", "inserts"], "alter-table"),
        (&["--limit-seconds", "0"], "more than 0"),
        (&["--engine", "innodb; DROP"], "letters"),
        (&["--engine", "innodb"], "MySQL family"),
    ];
    for (arguments, part) in wrong {
        let output = sqlbench("run", &url, arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        let said = complaint(&output);
        assert!(said.contains(part), "{arguments:?}: {said}");
    }
    let nowhere = sqlbench("run", "null:", &[]);
    assert_eq!(nowhere.status.code(), Some(2), "{}", complaint(&nowhere));
}
