//! The user's own scripts on a real PostgreSQL, and beside pgbench.

use std::collections::BTreeMap;
use std::process::Command;

use crate::database::Database;
use crate::program::events;
use crate::script_support::{
    SCRIPT, Scripts, money_is_neither_made_nor_lost, what_the_server_cannot_read_ends_the_run,
};
use crate::server::{Server, database_or_skip, program};

#[test]
fn money_stays() {
    let database = database_or_skip!(Server::database());
    let url = database.socket_url("postgres");
    money_is_neither_made_nor_lost(&url, "BEGIN", |sql| database.psql(sql));
}

#[test]
fn mistakes_in_sql_are_told_first() {
    let database = database_or_skip!(Server::database());
    what_the_server_cannot_read_ends_the_run(&database.socket_url("postgres"));
}

/// Clients of one thread, over sockets: one that sleeps does not hold the others up.
#[test]
fn clients_sleep_by_themselves() {
    let database = database_or_skip!(Server::database());
    let scripts = Scripts::new();
    let nap = scripts.write(
        "nap.sql",
        "\\if :client_id = 0\n\\sleep 100 ms\n\\endif\nSELECT 1;\n\\sleep 500 us",
    );
    let load = ["--clients", "3", "--workers", "1", "--seconds", "1"];
    let url = database.socket_url("postgres");
    let summary = SCRIPT.summary(&url, &[&["--file", &nap], &load[..]].concat());
    let latency_us = |field: &str| summary["latency_us"][field].as_f64().expect("a number");
    assert!(latency_us("min") >= 500.0, "{summary}");
    assert!(latency_us("max") >= 100_500.0, "{summary}");
    // The two others do far more than the one that can begin ten times.
    assert!(summary["transactions"].as_u64() > Some(200), "{summary}");
    let select = crate::program::account(&summary, "nap.sql:4 SELECT 1");
    assert!(
        select["latency_us"]["mean"].as_f64() < Some(50_000.0),
        "{summary}"
    );
}

#[test]
fn a_mistake_of_one_client_ends_the_run_of_all() {
    let database = database_or_skip!(Server::database());
    let scripts = Scripts::new();
    let late = scripts.write(
        "late.sql",
        "\\set n :n + 1\n\\if :client_id = 1 and :n = 20\n\\set x 1 / 0\n\\endif\nSELECT 1;",
    );
    let load = [
        "--clients",
        "3",
        "--seconds",
        "60",
        "--variable",
        "n=0",
        "--json",
    ];
    let url = database.socket_url("postgres");
    let begun = std::time::Instant::now();
    let output = SCRIPT.call("run", &url, &[&["--file", &late], &load[..]].concat());
    assert!(begun.elapsed().as_secs() < 20, "the others went on");
    assert_eq!(output.status.code(), Some(1));
    let last = events(&output).pop().expect("a last line");
    let message = last["message"].as_str().expect("a message");
    assert!(
        message.starts_with("late.sql:3: 1 is divided by zero"),
        "{last}"
    );
}

/// A statement that the server refuses is given up, and its transaction is rolled back.
#[test]
fn refused_statements_are_counted_and_rolled_back() {
    let database = database_or_skip!(Server::database());
    database.psql("CREATE TABLE t (id INT PRIMARY KEY)");
    let scripts = Scripts::new();
    let twice = scripts.write(
        "twice.sql",
        "BEGIN;\nINSERT INTO t VALUES (random() * 1000000);\nSELECT 1 / :scale;\nCOMMIT;",
    );
    let good = scripts.write("good.sql", "SELECT 1;");
    let url = database.socket_url("postgres");
    let load = [
        "--seconds",
        "1",
        "--variable",
        "scale=0",
        "--protocol",
        "prepared",
    ];
    let files = ["--file", &twice, "--file", &good];
    let summary = SCRIPT.summary(&url, &[&files[..], &load].concat());
    assert!(
        summary["failed_transactions"].as_u64() > Some(0),
        "{summary}"
    );
    assert_eq!(summary["errors"][0]["code"], "22012");
    assert_eq!(
        summary["errors"][0]["statement"],
        "twice.sql:3 SELECT 1 / :scale"
    );
    assert_eq!(database.psql("SELECT count(*) FROM t"), "0");
}

/// A dump loads on a server that has none of its roles, also if it may reach anything.
#[test]
fn rights_in_a_dump_are_left_out() {
    let database = database_or_skip!(Server::database());
    let scripts = Scripts::new();
    let dump = scripts.write(
        "dump.sql",
        "CREATE TABLE t (id INT);\nALTER TABLE t OWNER TO nobody_here;\nGRANT SELECT ON t TO nobody_here;\n\
         CREATE POLICY p ON t TO nobody_here USING (id = 1);\nINSERT INTO t VALUES (1);",
    );
    let url = database.socket_url("postgres");
    let output = SCRIPT.succeed("prepare", &url, &["--file", &dump, "--any-database"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        said.contains("dump.sql:2: left out: ALTER TABLE t OWNER TO nobody_here and 2 more (owners and rights)"),
        "{said}"
    );
    assert_eq!(database.psql("SELECT count(*) FROM t"), "1");
}

/// COPY asks for rows, or sends them outside of any result: neither is a measured statement's reply.
#[test]
fn copy_is_refused_and_nothing_waits_for_it() {
    let database = database_or_skip!(Server::database());
    database.psql("CREATE TABLE t (id INT)");
    let scripts = Scripts::new();
    let url = database.socket_url("postgres");
    let copy = scripts.write("copy.sql", "COPY t TO STDOUT;");
    let few = ["--transactions", "2", "--seconds", "20"];
    let begun = std::time::Instant::now();
    let output = SCRIPT.call("run", &url, &[&["--file", &copy], &few[..]].concat());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{complaint}");
    assert!(complaint.contains("wants to COPY"), "{complaint}");
    assert!(begun.elapsed().as_secs() < 20);
    let copy = scripts.write("copy.sql", "COPY t FROM STDIN;");
    let output = SCRIPT.call("run", &url, &[&["--file", &copy], &few[..]].concat());
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(
        complaint.contains("copy.sql:1: the rows of COPY"),
        "{complaint}"
    );
}

/// Runs a script with pgbench so often, on one connection.
fn pgbench(database: &Database, script: &str, transactions: &str, more: &[&str]) {
    let port = database.server().port().to_string();
    let output = Command::new(program("pgbench"))
        .args(["-n", "-c", "1", "-t", transactions, "-f", script])
        .args(["-U", "postgres", "-p", &port, "-h"])
        .arg(database.server().directory())
        .args(more)
        .arg(database.name())
        .output()
        .expect("pgbench starts");
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{complaint}");
}

/// How often each statement stands in the server's log from a byte on, and where the log ends.
fn statements(database: &Database, from: usize) -> (BTreeMap<String, usize>, usize) {
    let log = database.server().log();
    let mut counts = BTreeMap::new();
    for line in log[from..].lines() {
        let executed = ["LOG:  statement: ", "LOG:  execute "]
            .iter()
            .find_map(|mark| line.split_once(mark));
        if let Some((_, sql)) = executed {
            // A prepared statement's name comes before its text.
            let sql = sql.split_once(": ").map_or(sql, |(_, sql)| sql);
            let sql = sql.trim_end_matches(';').trim();
            *counts.entry(sql.to_owned()).or_default() += 1;
        }
    }
    (counts, log.len())
}

const BOOK: &str = "\\set id random(1, 10)\n\\set by random_gaussian(-9, 9, 2.0) / 2.0\nBEGIN;\n\
    UPDATE book SET amount = amount + :by WHERE id = :id;\nSELECT amount FROM book WHERE id = :id;\nEND;\n";

#[test]
fn the_server_sees_what_it_sees_of_pgbench() {
    let database = database_or_skip!(Server::own("local all all trust\n", &["log_statement=all"]));
    if !program("pgbench").exists() {
        eprintln!("skipped: no pgbench beside the server (apt install postgresql-contrib)");
        return;
    }
    let scripts = Scripts::new();
    let book = scripts.write("book.sql", BOOK);
    database.psql("CREATE TABLE book (id INT PRIMARY KEY, amount DOUBLE PRECISION)");
    database.psql("INSERT INTO book SELECT n, 0 FROM generate_series(1, 10) n");
    let url = database.socket_url("postgres");
    let (_, mut end) = statements(&database, 0);
    for (protocol, mode) in [("prepared", "prepared"), ("text", "simple")] {
        pgbench(&database, &book, "40", &["-M", mode]);
        let (theirs, after) = statements(&database, end);
        SCRIPT.summary(
            &url,
            &[
                "--file",
                &book,
                "--transactions",
                "40",
                "--seconds",
                "60",
                "--protocol",
                protocol,
            ],
        );
        let (ours, last) = statements(&database, after);
        end = last;
        let total = |counts: &BTreeMap<String, usize>| counts.values().sum::<usize>();
        // Literals differ from draw to draw; parameters have numbers.
        let shapes = |counts: BTreeMap<String, usize>| {
            let mut shapes = BTreeMap::<String, usize>::new();
            for (sql, count) in counts {
                let words: Vec<_> = sql
                    .split(' ')
                    .map(|word| {
                        if word.parse::<f64>().is_ok() {
                            "#"
                        } else {
                            word
                        }
                    })
                    .collect();
                *shapes.entry(words.join(" ")).or_default() += count;
            }
            shapes
        };
        assert_eq!(total(&theirs), 160, "{theirs:?}");
        let mut ours = shapes(ours);
        // We ask for the server's version once.
        ours.retain(|sql, _| !sql.to_lowercase().contains("version"));
        assert_eq!(ours, shapes(theirs), "{protocol}");
    }
}

/// Expressions whose value is no matter of chance.
const EXPRESSIONS: [&str; 32] = [
    "1 | 2 & 4",
    "~1 + 2",
    "5 & 3 + 1",
    "1 << 2 + 1",
    "not 1 = 1",
    "- 2 is null",
    "5 is true",
    "1 is not null is true",
    "not 0 is false",
    "2 - 3 - 4",
    "2 * 3 + 4 * -5 % 3",
    "-7 / 2",
    "mod(-7, 3)",
    "7 / 2.0",
    "1.5 % 2",
    "least(1, 2.5, -3)",
    "greatest(1, null, 2.5)",
    "pow(2, 0.5)",
    "exp(1) * 1e20",
    "1.0 / 3e7",
    "sqrt(2) / 1e-12",
    "int(2.5) + int(-3.5)",
    "hash(5)",
    "hash(12345, 678) # hash_fnv1a(42, 7)",
    "null and false",
    "null or true",
    "false and (1/0 = 1)",
    "case when 0 then 1 when null then 2 else 3.0 end",
    "case when 1 > 2 then 1 end",
    "random(4, 4) + random_zipfian(5, 5, 1.5)",
    "double(7) / 2 - 3.5",
    ":x + :client_id + :scale",
];

#[test]
fn expressions_have_the_values_that_they_have_in_pgbench() {
    let database = database_or_skip!(Server::database());
    if !program("pgbench").exists() {
        eprintln!("skipped: no pgbench beside the server (apt install postgresql-contrib)");
        return;
    }
    database.psql("CREATE TABLE theirs (n INT, value TEXT); CREATE TABLE ours (n INT, value TEXT)");
    let scripts = Scripts::new();
    let inserting = |table: &str| {
        let inserts = (0..).zip(EXPRESSIONS).map(|(number, expression)| {
            format!("\\set v {expression}\nINSERT INTO {table} VALUES ({number}, ':v');\n")
        });
        let text = "\\set x 40\n".to_owned() + &inserts.collect::<String>();
        scripts.write(table, &text)
    };
    pgbench(
        &database,
        &inserting("theirs"),
        "1",
        &["-D", "default_seed=0"],
    );
    let ours = inserting("ours");
    let arguments = [
        "--file",
        &ours,
        "--transactions",
        "1",
        "--variable",
        "default_seed=0",
    ];
    SCRIPT.summary(&database.socket_url("postgres"), &arguments);
    assert_eq!(
        database.psql("SELECT count(*) FROM ours"),
        EXPRESSIONS.len().to_string()
    );
    let differing = "SELECT n, theirs.value, ours.value FROM theirs FULL JOIN ours USING (n) \
                     WHERE theirs.value IS DISTINCT FROM ours.value";
    assert_eq!(database.psql(differing), "");
}
