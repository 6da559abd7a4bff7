//! What goes wrong with real servers.

use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use crate::program::{events, program, succeed, summary};
use crate::server::{Database, database_or_skip};

#[test]
fn a_server_that_is_killed_ends_the_run_soon() {
    let database = database_or_skip!(Database::own());
    let url = database.socket_url("root");
    succeed("prepare", &url, &["--rows", "1000"]);
    let (output, after) = thread::scope(|scope| {
        let run = scope.spawn(|| {
            let arguments = [
                "--rows",
                "1000",
                "--clients",
                "4",
                "--seconds",
                "60",
                "--json",
            ];
            program("run", &url, &arguments)
        });
        thread::sleep(Duration::from_millis(700));
        database.server.kill();
        let killed = Instant::now();
        (run.join().expect("no panic"), killed.elapsed())
    });
    assert!(
        after < Duration::from_secs(25),
        "it took {after:?} to give up"
    );
    assert_eq!(output.status.code(), Some(1));
    let mut events = events(&output);
    let last = events.pop().expect("a last line");
    assert_eq!(
        (&last["event"], &last["code"]),
        (&"failed".into(), &"unreachable".into())
    );
    let summary = events.pop().expect("what was measured before");
    assert_eq!(summary["event"], "summary", "{summary}");
    assert!(
        last["message"]
            .as_str()
            .unwrap()
            .contains("is the server still running"),
        "{last}"
    );
}

#[test]
fn a_connection_that_is_killed_is_made_again() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &["--rows", "1000"]);
    let arguments = ["--rows", "1000", "--clients", "4", "--seconds", "1.5"];
    let summary = thread::scope(|scope| {
        let run = scope.spawn(|| summary(&url, "read-write", &arguments));
        thread::sleep(Duration::from_millis(600));
        let mine = "SELECT id FROM information_schema.processlist WHERE db = database() AND id <> connection_id()";
        for id in database.sql(mine).lines().take(2) {
            database.sql(&format!("KILL {id}"));
        }
        run.join().expect("no panic")
    });
    assert_eq!(summary["reconnects"], 2, "{summary}");
    let errors = summary["errors"].as_array().expect("a list");
    let lost: u64 = errors
        .iter()
        .map(|error| error["count"].as_u64().unwrap())
        .sum();
    assert!(lost >= 2, "{summary}");
    assert!(
        summary["failed_transactions"].as_u64() >= Some(2),
        "{summary}"
    );
}

#[test]
fn deadlocks_are_retried_and_counted() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    succeed("prepare", &url, &["--rows", "10"]);
    let arguments = [
        "--rows",
        "10",
        "--clients",
        "16",
        "--seconds",
        "1",
        "--distribution",
        "uniform",
    ];
    let summary = summary(&url, "write-only", &arguments);
    let errors = summary["errors"].as_array().expect("a list");
    let transient = errors.iter().filter(|error| error["transient"] == true);
    let transient: u64 = transient
        .map(|error| error["count"].as_u64().unwrap())
        .sum();
    assert!(transient > 0, "16 clients on 10 rows meet: {summary}");
    assert_eq!(summary["retries"], transient, "{summary}");
    assert!(summary["transactions"].as_u64() > Some(0), "{summary}");
    assert_eq!(
        database.sql("SELECT count(*) FROM sbtest1"),
        "10",
        "every row was put back"
    );
}

#[test]
fn wrong_accounts_and_databases_are_refused_in_words() {
    let database = database_or_skip!(Database::shared());
    database.sql("CREATE USER anna IDENTIFIED BY 'geheim'; GRANT ALL ON *.* TO anna");
    database.sql("CREATE USER pam IDENTIFIED VIA unix_socket");
    let run = |url: &str, password: Option<&str>| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_diskproof-load"));
        command.args(["run", "oltp", "--seconds", "0.1", "--json", "--url", url]);
        match password {
            Some(password) => command.env("DISKPROOF_PASSWORD", password),
            None => command.env_remove("DISKPROOF_PASSWORD"),
        };
        command.output().expect("the program starts")
    };
    let refused = |url: &str, password, code: &str| {
        let output = run(url, password);
        assert_eq!(output.status.code(), Some(1));
        let last = events(&output).pop().expect("a last line");
        assert_eq!(
            (&last["event"], &last["code"]),
            (&"failed".into(), &code.into()),
            "{last}"
        );
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(
            complaint.contains(last["message"].as_str().unwrap()),
            "said to a person as well"
        );
        assert!(!complaint.contains("geheim"), "{complaint}");
    };
    refused(&database.tcp_url("anna"), Some("falsch"), "1045");
    refused(&database.tcp_url("anna"), None, "1045");
    refused(&database.tcp_url("nobody"), None, "1045");
    refused(
        &database.socket_url("root").replace("/test", "/gone"),
        None,
        "1049",
    );
    refused(
        &database
            .socket_url("root")
            .replace("socket=", "socket=/gone"),
        None,
        "unreachable",
    );
    refused("mysql://root@127.0.0.1:1/test", None, "unreachable");
    refused(&database.socket_url("pam"), None, "1698");

    succeed("prepare", &database.socket_url("root"), &["--rows", "100"]);
    for url in [database.tcp_url("anna"), database.socket_url("anna")] {
        let output = run(&url, Some("geheim"));
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
    }
}
