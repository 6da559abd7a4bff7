//! The program against lying servers.

use std::fs;
use std::time::Duration;

use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::case::{PASSWORD, each, run, seeds};
use crate::lies::{Heard, Lie, Plan, on_port, on_socket};
use crate::mysql::Mysql;
use crate::postgres::Postgres;

/// No server may have it.
const SECRET: &str = "a local file that no server may have";

/// Connecting, a question and the end may take their 10 s each; none of the others waits.
const QUICK: Duration = Duration::from_secs(25);

/// Words of the command line, without the URL.
const COMMANDS: [&str; 18] = [
    "run oltp --rows 1 --mix point-select --seconds 0.1",
    "run oltp --rows 1 --mix point-select --seconds 0.1 --protocol prepared --clients 3 --json",
    "run oltp --rows 1 --mix complex --seconds 0.2 --clients 2 --warm-up 0.1",
    "run oltp --rows 1 --mix read-write --transactions 3 --report-interval 0.05",
    "run oltp --rows 1 --mix point-select --seconds 0.2 --rate 100 --json",
    "run oltp --rows 1 --tables 3 --mix write-only --seconds 0.1",
    "run conditions --tables 1 --seconds 0.1",
    "run ledger --accounts 2 --filler-bytes 1 --seconds 0.1 --json",
    "run script --seconds 0.1",
    "run script --protocol prepared --seconds 0.1 --clients 2",
    "run lua --seconds 0.1 --clients 2",
    "run lua --seconds 0.1 --protocol text --json",
    "run slap --clients 2 --write-number 2 --queries 4",
    "run sqlbench --tests insert --scale 0.001 --limit-seconds 1",
    "prepare oltp --rows 3 --tables 2",
    "prepare script",
    "cleanup oltp --tables 2",
    "prepare ledger --accounts 2",
];

const LUA: &str = "function event()
    local rows = db_query('SELECT a FROM t')
    for _ = 1, 3 do if rows and not rows:fetch_row() then break end end
    local own = db_prepare('SELECT ? FROM t')
    db_bind_param(own, {1})
    db_execute(own)
end
";

/// One run against one server; the case's name says how it was drawn.
fn face(plan: Plan, statement_limit: Option<u64>, limit: Duration) {
    let mut random = Xoshiro256PlusPlus::seed_from_u64(plan.seed ^ 0x5EED);
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("secret");
    fs::write(&file, SECRET).expect("a file");
    let file = file.to_str().expect("UTF-8").to_owned();
    let script = directory.path().join("script.sql");
    fs::write(&script, "SELECT 1;\n\\set a random(1, 2)\nSELECT :a;\n").expect("a file");
    let lua = directory.path().join("script.lua");
    fs::write(&lua, LUA).expect("a file");
    let socket = directory.path().join("socket");
    let (is_mysql, is_local) = (random.random_bool(0.5), random.random_bool(0.4));
    let tls = !is_local && random.random_bool(0.2);
    let seed = plan.seed;
    let mysql = move |_: Heard| Mysql::new(seed, tls, &file);
    let postgres = move |_: Heard| Postgres::new(seed, tls);
    let scheme = if is_mysql { "mysql" } else { "postgresql" };
    let (mut url, heard) = if is_local {
        let heard = if is_mysql {
            on_socket(&socket, plan, mysql)
        } else {
            on_socket(&socket, plan, postgres)
        };
        (
            format!("{scheme}://me@localhost/db?socket={}", socket.display()),
            heard,
        )
    } else {
        let (port, heard) = if is_mysql {
            on_port(plan, mysql)
        } else {
            on_port(plan, postgres)
        };
        (format!("{scheme}://me@127.0.0.1:{port}/db"), heard)
    };
    if tls {
        url += if is_mysql {
            "?ssl-mode=required"
        } else {
            "?sslmode=require"
        };
    }
    let words = COMMANDS[random.random_range(0..COMMANDS.len())];
    let mut arguments: Vec<String> = words.split(' ').map(str::to_owned).collect();
    arguments.extend(["--url".to_owned(), url.clone()]);
    if words.contains("script") {
        arguments.extend(["--file".to_owned(), script.display().to_string()]);
    }
    if words.starts_with("run lua") {
        arguments.insert(2, lua.display().to_string());
    }
    if let Some(seconds) = statement_limit {
        arguments.extend(["--statement-limit".to_owned(), seconds.to_string()]);
    }
    let case = format!("{plan:?}, {words} --url {url}");
    let ended = run(&arguments, limit);
    // A job, and a number of transactions, take as long as they take; a signal ends them.
    let has_end = !["run slap", "run sqlbench", "--transactions"]
        .iter()
        .any(|endless| words.contains(endless));
    assert!(
        !ended.interrupted || !has_end,
        "{case}: it hung; {}",
        ended.text()
    );
    ended.check(&case);
    let heard = heard.lock().expect("no panic");
    let has = |secret: &str| {
        heard
            .windows(secret.len())
            .any(|part| part == secret.as_bytes())
    };
    assert!(!has(SECRET), "{case}: it sent a local file");
    assert!(
        is_local || !has(PASSWORD),
        "{case}: the password, in clear text"
    );
    if std::env::var_os("HOSTILE_SHOW").is_some() {
        eprintln!("{case}\n{}", ended.text());
    }
}

#[test]
fn hostile_servers() {
    each(seeds(60, 10), 20, |seed| {
        face(Plan::drawn(seed), Some(2), QUICK);
    });
}

/// Servers that say nothing, too little or without an end, at each of their answers.
#[test]
fn hostile_servers_that_never_end() {
    each(seeds(24, 100), 24, |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let lie = Lie::SLOW[random.random_range(0..Lie::SLOW.len())];
        let at = random.random_range(0..6);
        face(Plan { lie, at, seed }, Some(2), QUICK);
    });
}

/// The limit is for each statement, and stands without being asked for.
#[test]
fn hostile_answers_to_a_question_about_the_tables_end_in_its_name() {
    let directory = tempfile::tempdir().expect("a directory");
    let words = "run oltp --seconds 0.1 --url";
    each(0..4, 4, |number| {
        let lie = if number < 2 {
            Lie::Silence
        } else {
            Lie::Endless
        };
        // The log-in, then the question; the flood is of rows.
        let plan = Plan {
            lie,
            at: 2,
            seed: 2,
        };
        let socket = directory.path().join(number.to_string());
        let scheme = if number % 2 == 0 {
            on_socket(&socket, plan, |_| Mysql::new(1, false, ""));
            "mysql"
        } else {
            on_socket(&socket, Plan { at: 1, ..plan }, |_| Postgres::new(0, false));
            "postgresql"
        };
        let url = format!("{scheme}://me@localhost/db?socket={}", socket.display());
        let arguments: Vec<_> = words.split(' ').map(str::to_owned).chain([url]).collect();
        let ended = run(&arguments, Duration::from_secs(20));
        let case = format!("{plan:?}, {scheme}");
        assert!(!ended.interrupted, "{case}: it hung; {}", ended.text());
        ended.check(&case);
        assert_eq!(ended.code, Some(1), "{case}: {}", ended.text());
        if lie == Lie::Silence {
            let text = ended.text();
            assert!(
                text.contains("looking at the tables: no whole reply to `SELECT"),
                "{case}: {text}"
            );
            assert!((9..15).contains(&ended.took.as_secs()), "{case}: {text}");
        }
    });
}
