//! sysbench's tables and transactions of both generations, looked at by the server's own client.

use std::process::Command;

use serde_json::Value;

use crate::program::{account, check_accounts, program, succeed, summary};
use crate::server::{Database, database_or_skip};

const SINGLE: [&str; 4] = ["--schema", "sbtest", "--rows", "25000"];

fn stderr(output: &std::process::Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn the_table_of_0_4_is_made_as_0_4_makes_it() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &SINGLE);
    let columns = "SELECT group_concat(column_name, ' ', column_type ORDER BY ordinal_position) \
                   FROM information_schema.columns WHERE table_schema = database() AND table_name = 'sbtest'";
    assert_eq!(
        database.sql(columns),
        "id int(10) unsigned,k int(10) unsigned,c char(120),pad char(60)"
    );
    let index = "SELECT index_name, column_name FROM information_schema.statistics \
                 WHERE table_schema = database() AND table_name = 'sbtest' AND index_name <> 'PRIMARY'";
    assert_eq!(database.sql(index), "k\tk");
    // CHAR gives no trailing spaces back.
    let rows = "SELECT count(*), min(id), max(id), max(k), max(length(c)), min(pad) = max(pad), min(pad) FROM sbtest";
    assert_eq!(
        database.sql(rows),
        "25000\t1\t25000\t0\t0\t1\tqqqqqqqqqqwwwwwwwwwweeeeeeeeeerrrrrrrrrrtttttttttt"
    );
    let again = program("prepare", &url, &SINGLE);
    assert_eq!(again.status.code(), Some(1));
    succeed("cleanup", &url, &["--schema", "sbtest"]);
    assert_eq!(database.sql("SHOW TABLES"), "");
}

#[test]
fn every_mix_of_0_4_does_what_it_is_for() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &["--schema", "sbtest", "--rows", "1000"]);
    let alone = [
        "--schema",
        "sbtest",
        "--rows",
        "1000",
        "--transactions",
        "3",
        "--distribution",
        "uniform",
    ];
    let mixes = [
        "complex",
        "read-only",
        "point-select",
        "update-index",
        "update-non-index",
    ];
    for protocol in ["text", "prepared"] {
        for mix in mixes {
            let all = [&alone[..], &["--protocol", protocol]].concat();
            let summary = summary(&url, mix, &all);
            check_accounts(&summary);
            if mix == "complex" {
                // Ranges stay inside the table, so each is whole.
                assert_eq!(account(&summary, "simple_range")["rows"], 300);
            }
        }
    }
    let kept = "SELECT count(*), sum(pad LIKE 'aaaaaaaaaaffffffffffrrrrrrrrrreeeeeeeeeeyyyyyyyyyy') > 0 FROM sbtest";
    assert_eq!(database.sql(kept), "1000\t1");
    let texts = "SELECT count(*) > 0 FROM sbtest WHERE c REGEXP '^[0-9]+(-[0-9]+){9}$'";
    assert_eq!(database.sql(texts), "1");
}

#[test]
fn tables_of_1_0_are_those_that_sysbench_makes() {
    let (ours, theirs) = (
        database_or_skip!(Database::shared()),
        database_or_skip!(Database::shared()),
    );
    let url = theirs.socket_url("root");
    let (_, socket) = url.split_once("socket=").expect("a socket");
    let made = Command::new("sysbench")
        .arg("oltp_read_write")
        .args(["--db-driver=mysql", "--mysql-user=root"])
        .arg(format!("--mysql-socket={socket}"))
        .arg(format!("--mysql-db={}", theirs.name))
        .args(["--tables=2", "--table-size=200", "prepare"])
        .output();
    let Ok(made) = made else {
        eprintln!("skipped: no sysbench is installed (apt install sysbench)");
        return;
    };
    assert!(made.status.success(), "{}", stderr(&made));
    succeed(
        "prepare",
        &ours.socket_url("root"),
        &["--tables", "2", "--rows", "200"],
    );
    for table in ["sbtest1", "sbtest2"] {
        let definition = format!("SHOW CREATE TABLE {table}");
        assert_eq!(ours.sql(&definition), theirs.sql(&definition));
        let lengths = format!(
            "SELECT count(*), min(id), max(id), min(k) > 0, max(k) <= 200, min(length(c)), max(length(c)), \
             min(length(pad)), max(length(pad)) FROM {table}"
        );
        assert_eq!(ours.sql(&lengths), theirs.sql(&lengths));
    }
    // And ours runs on theirs.
    let few = [
        "--tables",
        "2",
        "--rows",
        "200",
        "--transactions",
        "3",
        "--distribution",
        "special-1.0.20",
    ];
    check_accounts(&summary(&url, "read-write", &few));
}

#[test]
fn tables_without_transactions_are_locked() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let several = ["--tables", "2", "--rows", "500", "--mix", "complex"];
    succeed(
        "prepare",
        &url,
        &[&several[..], &["--engine", "myisam"]].concat(),
    );
    let together = ["--tables", "2", "--rows", "500", "--clients", "8"];
    let few = [&together[..], &["--transactions", "200"]].concat();
    let locked = summary(&url, "complex", &few);
    assert_eq!(locked["errors"], Value::Array(Vec::new()), "{locked}");
    for name in ["lock_tables", "unlock_tables"] {
        assert_eq!(account(&locked, name)["count"], 200, "{locked}");
    }
    let count = "SELECT (SELECT count(*) FROM sbtest1) + (SELECT count(*) FROM sbtest2)";
    assert_eq!(database.sql(count), "1000");

    // sysbench 1.0 sends BEGIN whatever the engine is.
    let begun = summary(&url, "read-only", &few);
    assert_eq!(account(&begun, "begin")["count"], 200);
    let single = ["--schema", "sbtest", "--rows", "500"];
    succeed(
        "prepare",
        &url,
        &[&single[..], &["--engine", "myisam"]].concat(),
    );
    for mix in ["complex", "read-only"] {
        let all = [&single[..], &["--transactions", "50", "--clients", "4"]].concat();
        let locked = summary(&url, mix, &all);
        assert_eq!(account(&locked, "lock_tables")["count"], 50, "{locked}");
        assert_eq!(locked["errors"], Value::Array(Vec::new()), "{locked}");
    }
    let bare = [&few[..], &["--skip-trx"]].concat();
    let bare = summary(&url, "complex", &bare);
    assert_eq!(bare["others"], 0, "{bare}");
}

#[test]
fn tables_of_another_make_are_found_before_the_start() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let refused = |arguments: &[&str], words: &str| {
        let output = program("run", &url, &[arguments, &["--seconds", "0.1"]].concat());
        assert_eq!(output.status.code(), Some(1), "{}", stderr(&output));
        assert!(stderr(&output).contains(words), "{}", stderr(&output));
        assert!(output.stdout.is_empty(), "nothing was started");
    };
    let rows = ["--rows", "100"];
    refused(&rows, "prepare oltp --tables 1 --rows 100");
    succeed("prepare", &url, &rows);
    refused(&["--schema", "sbtest"], "prepared with --schema sbtestN,");
    let signed = program(
        "run",
        &url,
        &[&rows[..], &["--mix", "complex", "--transactions", "1"]].concat(),
    );
    assert_eq!(signed.status.code(), Some(0));
    assert!(
        stderr(&signed).contains("prepare the tables with --mix complex"),
        "{}",
        stderr(&signed)
    );
    database.sql("DROP INDEX k_1 ON sbtest1");
    refused(&rows, "no index on column k");
    succeed("cleanup", &url, &[]);
    succeed("prepare", &url, &["--schema", "sbtest", "--rows", "100"]);
    refused(&rows, "prepared with --schema sbtest,");
}

#[test]
fn chosen_counts_are_what_the_server_sees() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let tables = ["--tables", "2", "--rows", "1000"];
    succeed("prepare", &url, &tables);
    let counts = [
        "--transactions",
        "2",
        "--point-selects",
        "3",
        "--simple-ranges",
        "0",
        "--sum-ranges",
        "2",
        "--range-size",
        "7",
        "--index-updates",
        "4",
        "--delete-inserts",
        "2",
        "--distribution",
        "zipfian",
        "--zipfian-exponent",
        "1.2",
    ];
    let summary = summary(&url, "read-write", &[&tables[..], &counts].concat());
    for (name, count) in [
        ("point_select", 6),
        ("sum_range", 4),
        ("order_range", 2),
        ("distinct_range", 2),
        ("index_update", 8),
        ("non_index_update", 2),
        ("delete", 4),
        ("insert", 4),
    ] {
        assert_eq!(account(&summary, name)["count"], count, "{name}");
    }
    let types = summary["statement_types"].as_array().expect("a list");
    assert!(
        types
            .iter()
            .all(|account| account["name"] != "simple_range")
    );
    assert_eq!(account(&summary, "order_range")["rows"], 14);
}
