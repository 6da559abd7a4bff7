//! sql-bench's tests on PostgreSQL.

use crate::server::{Server, database_or_skip};
use crate::sqlbench_support::{check_all, complaint, named, operations, sqlbench};

const TABLES: &str = "SELECT count(*) FROM pg_tables WHERE schemaname = 'public'";

#[test]
fn all_nine_tests_and_nothing_is_left() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    assert_eq!(check_all(&url, &[], &[]), [""; 0]);
    assert_eq!(database.psql(TABLES), "0");
    assert_eq!(check_all(&url, &["--clients", "3"], &[]), [""; 0]);
}

#[test]
fn tables_of_the_same_name_are_refused_until_they_are_cleaned_up() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    database.psql("CREATE TABLE sqlbench_many_12 (a int); CREATE TABLE sqlbench_results (a int)");
    let refused = sqlbench("run", &url, &["--tests", "wisconsin"]);
    assert_eq!(refused.status.code(), Some(1));
    let said = complaint(&refused);
    assert!(
        said.contains("sqlbench_many_12") && said.contains("cleanup"),
        "{said}"
    );
    assert!(sqlbench("cleanup", &url, &[]).status.success());
    assert_eq!(database.psql(TABLES), "1", "what is not ours stays");
}

#[test]
fn a_select_is_prepared_each_time_or_once() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    let told = operations(&url, &["--tests", "insert", "--scale", "0.001"]);
    let each_time = named(&told, "prepared_select");
    let types = each_time["statement_types"].as_array().expect("a list");
    let counts = types.iter().map(|account| account["count"].as_u64());
    // EXECUTE, and around it PREPARE and DEALLOCATE.
    assert_eq!(counts.collect::<Vec<_>>(), [Some(100), Some(200)]);
    let once = named(&told, "once_prepared_select");
    assert_eq!(once["rows"], 100, "{once}");
    assert_eq!(once.get("statement_types"), None, "EXECUTE alone: {once}");
}
