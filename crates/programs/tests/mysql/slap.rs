//! The slap workload on a real MariaDB, beside the program that it has its work from.

use std::collections::BTreeMap;
use std::process::Command;

use crate::server::{Database, database_or_skip};
use crate::slap_support::{check, slap, summary};

const TABLES: &str =
    "SELECT count(*) FROM information_schema.tables WHERE table_schema = database()";

#[test]
fn every_load_type_does_what_it_is_for() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    check(&url, &mut || database.sql(TABLES));
    summary(&url, "--engine MyISAM --load-type update --queries 10");
}

#[test]
fn a_table_of_that_name_stays_as_it_is() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    database.sql("CREATE TABLE slap_t1 (mine INT); INSERT INTO slap_t1 VALUES (7)");
    let refused = slap("run", &url, &["--queries", "10"]);
    assert_eq!(refused.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert!(complaint.contains("cleanup slap"), "{complaint}");
    assert_eq!(database.sql("SELECT mine FROM slap_t1"), "7");
    let cleaned = slap("cleanup", &url, &[]);
    assert!(cleaned.status.success());
    assert_eq!(database.sql(TABLES), "0");
}

#[test]
fn an_engine_that_is_not_there_leaves_nothing() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let refused = slap("run", &url, &["--queries", "10", "--engine", "gone"]);
    assert_eq!(refused.status.code(), Some(1));
    let complaint = String::from_utf8_lossy(&refused.stderr);
    assert!(complaint.contains("making table slap_t1"), "{complaint}");
    assert_eq!(database.sql(TABLES), "0");
}

const READS: &str = "Handler_read_rnd_next";

/// What the server counts: statements, connections, rows that were touched.
const COUNTERS: [&str; 12] = [
    "Com_commit",
    "Com_create_table",
    "Com_delete",
    "Com_insert",
    "Com_select",
    "Com_set_option",
    "Com_stmt_prepare",
    "Com_update",
    "Connections",
    READS,
    "Handler_update",
    "Handler_write",
];

type Counts = BTreeMap<String, i64>;

fn counts(database: &Database) -> Counts {
    let rows = database.sql("SHOW GLOBAL STATUS");
    let rows = rows.lines().filter_map(|line| line.split_once('\t'));
    rows.filter(|(name, _)| COUNTERS.contains(name))
        .map(|(name, value)| (name.to_owned(), value.parse().expect("a number")))
        .collect()
}

fn difference(after: &Counts, before: &Counts) -> Counts {
    let names = after.iter();
    names
        .map(|(name, count)| (name.clone(), count - before[name]))
        .collect()
}

/// What two iterations take: what is done once in a run, such as looking for the table, is in the
/// three as well as in the one.
fn of_two_iterations(database: &Database, run: &dyn Fn(&str)) -> Counts {
    let before = counts(database);
    run("3");
    let three = counts(database);
    run("1");
    let one = counts(database);
    difference(&difference(&three, &before), &difference(&one, &three))
}

/// Holds ours against mariadb-slap, with the same meaning in the words of each.
fn compare(database: &Database, ours: &str, theirs: &str, leave_out: &[&str]) {
    let url = database.socket_url("root");
    let socket = url.split_once("socket=").expect("a socket").1.to_owned();
    let by_us = of_two_iterations(database, &|iterations| {
        summary(&url, &format!("{ours} --iterations {iterations}"));
    });
    let mut by_them = of_two_iterations(database, &|iterations| {
        let output = Command::new("mariadb-slap")
            .args([
                "--no-defaults",
                "-uroot",
                "--auto-generate-sql",
                "--socket",
                &socket,
            ])
            .args(theirs.split_whitespace())
            .args(["--iterations", iterations])
            .output()
            .expect("mariadb-slap starts");
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{theirs}: {complaint}");
    });
    // mysqlslap drops the whole schema where we drop the table: in each iteration the server looks
    // once through the routines that may belong to it.
    *by_them.get_mut(READS).expect("it is counted") -= 2;
    let kept = |counts: Counts| {
        let counts = counts.into_iter();
        counts
            .filter(|(name, _)| !leave_out.contains(&name.as_str()))
            .collect::<Counts>()
    };
    assert_eq!(kept(by_us), kept(by_them), "{ours} against {theirs}");
}

/// The keys are read in their order, which is not timed.
const ORDER: [&str; 1] = [READS];
/// mysqlslap turns off its own connection's commits as well, which only loads.
const SETTING: [&str; 1] = ["Com_set_option"];
/// What several clients read depends on who inserts first.
const READING: [&str; 1] = [READS];

#[test]
fn the_server_counts_the_same_work_as_for_mariadb_slap() {
    // The counters are the whole server's.
    let database = database_or_skip!(Database::own());
    let columns = "--int-columns 4 --char-columns 3";
    let number = "--number-int-cols=4 --number-char-cols=3";
    compare(
        &database,
        &format!("--queries 300 {columns}"),
        &format!("--number-of-queries=300 --concurrency=1 {number}"),
        &[],
    );
    compare(
        &database,
        "--queries 301 --clients 8 --write-number 7",
        "--number-of-queries=301 --concurrency=8 --auto-generate-sql-write-number=7",
        &READING,
    );
    for load_type in ["read", "write", "update"] {
        compare(
            &database,
            &format!("--queries 50 --load-type {load_type} --engine innodb"),
            &format!(
                "--number-of-queries=50 --concurrency=1 --engine=innodb \
                 --auto-generate-sql-load-type={load_type}"
            ),
            &[],
        );
    }
    compare(
        &database,
        "--queries 3 --clients 5 --load-type write",
        "--number-of-queries=3 --concurrency=5 --auto-generate-sql-load-type=write",
        &[],
    );
    compare(
        &database,
        "--queries 40 --clients 2 --load-type write --commit 5",
        "--number-of-queries=40 --concurrency=2 --auto-generate-sql-load-type=write --commit=5",
        &SETTING,
    );
    compare(
        &database,
        "--queries 40 --auto-increment",
        "--number-of-queries=40 --concurrency=1 --auto-generate-sql-add-autoincrement",
        &ORDER,
    );
}
