//! Lua scripts on a real MariaDB, and behind sysbench's command line.

use std::process::Command;

use crate::lua_support::{LUA, money_moves};
use crate::program::account;
use crate::script_support::Scripts;
use crate::server::{Database, database_or_skip};

#[test]
fn money_is_neither_made_nor_lost_by_lua() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    money_moves(&url, "BEGIN", |sql| database.sql(sql));
}

/// Deadlocks begin the event again, after the script's own hook; another error can be one of those
/// by the script's word.
#[test]
fn errors_begin_an_event_again() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    database.sql("CREATE TABLE once (id INT PRIMARY KEY)");
    let scripts = Scripts::new();
    let script = scripts.write(
        "again.lua",
        r#"
        local con, tries, restarts = nil, 0, 0
        function thread_init()
          con = sysbench.sql.driver():connect()
        end
        function sysbench.hooks.sql_error_ignorable(err)
          return err.sql_errno == 1062
        end
        function sysbench.hooks.before_restart_event(err)
          assert(err.sql_errno == 1062 and err.connection == con)
          restarts = restarts + 1
        end
        function event()
          tries = tries + 1
          con:query("INSERT INTO once VALUES (" .. math.ceil(tries / 2) .. ")")
          assert(restarts == math.floor((tries - 1) / 2), restarts)
        end
        "#,
    );
    let summary = LUA.summary(&url, &[&script, "--transactions", "5"]);
    assert_eq!(summary["transactions"], 5, "{summary}");
    assert_eq!(summary["retries"], 4, "{summary}");
    assert_eq!(summary["errors"][0]["code"], "1062", "{summary}");
    assert_eq!(database.sql("SELECT count(*) FROM once"), "5");
}

#[test]
fn another_error_ends_the_run_and_names_its_place() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let scripts = Scripts::new();
    let script = scripts.write(
        "gone.lua",
        "function event()\n  con = con or sysbench.sql.driver():connect()\n  con:query('SELECT 1 FROM gone')\nend\n",
    );
    let output = LUA.call("run", &url, &[&script, "--seconds", "5"]);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(1), "{said}");
    for part in [
        "client 0",
        "gone.lua:3:",
        "errno = 1146, state = '42S02'",
        "SELECT 1 FROM gone",
    ] {
        assert!(said.contains(part), "{said}");
    }
}

/// A sleep, a new connection and a lost one: what was prepared is prepared again.
#[test]
fn a_script_comes_back_with_what_it_prepared() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let scripts = Scripts::new();
    let script = scripts.write(
        "again.lua",
        r#"
        ffi = require("ffi")
        ffi.cdef[[int usleep(int us);]]
        local con, one
        function thread_init(id)
          assert(id == sysbench.tid)
          con = sysbench.sql.driver():connect()
          one = con:prepare("SELECT ?")
          local value = one:bind_create(sysbench.sql.type.INT)
          one:bind_param(value)
          value:set(1)
        end
        function event()
          one:execute()
          ffi.C.usleep(1000)
          con:reconnect()
          one:execute()
        end
        "#,
    );
    let summary = LUA.summary(&url, &[&script, "--transactions", "4", "--clients", "2"]);
    assert_eq!(account(&summary, "select")["count"], 8, "{summary}");
    assert!(
        summary["latency_us"]["min"].as_f64() >= Some(1000.0),
        "{summary}"
    );
}

/// The command line of sysbench as it stands: its report, and ours below it.
#[test]
fn sysbenchs_command_line_works_as_it_stands() {
    let database = database_or_skip!(Database::shared());
    let url = database.socket_url("root");
    let (_, socket) = url.split_once("socket=").expect("a socket");
    let name = url.split(['/', '?']).nth(3).expect("a database");
    let scripts = Scripts::new();
    let script = scripts.write(
        "old.lua",
        r#"
        pathtest = string.match(test, "(.*/)") or ""
        dofile(pathtest .. "old_common.lua")
        function thread_init(thread_id) set_vars() end
        function event(thread_id)
          db_query("SELECT pad FROM old WHERE id = " .. sb_rand(1, rows))
          db_query("UPDATE old SET pad = '" .. sb_rand_str("@@##") .. "' WHERE id = 1")
        end
        "#,
    );
    scripts.write(
        "old_common.lua",
        r#"
        function set_vars() rows = tonumber(rows) or 10 end
        function prepare()
          set_vars()
          db_connect()
          db_query("CREATE TABLE old (id INT PRIMARY KEY, pad CHAR(10))")
          db_bulk_insert_init("INSERT INTO old VALUES")
          for i = 1, rows do db_bulk_insert_next("(" .. i .. ", '')") end
          db_bulk_insert_done()
        end
        function cleanup() db_query("DROP TABLE old") end
        "#,
    );
    let sysbench = |words: &[&str]| {
        let output = Command::new(env!("CARGO_BIN_EXE_diskproof-load"))
            .arg("sysbench")
            .args(words)
            .args([
                format!("--mysql-socket={socket}"),
                "--mysql-user=root".into(),
                format!("--mysql-db={name}"),
            ])
            .output()
            .expect("the program starts");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{said}");
        String::from_utf8_lossy(&output.stdout).into_owned()
    };
    sysbench(&[&script, "--rows=20", "prepare"]);
    assert_eq!(database.sql("SELECT count(*) FROM old"), "20");
    let test = format!("--test={script}");
    let report = sysbench(&[
        &test,
        "--rows=20",
        "--num-threads=2",
        "--max-requests=50",
        "--max-time=60",
        "run",
    ]);
    let words: Vec<_> = report.split_whitespace().collect();
    let words = words.join(" ");
    for said in [
        "lua old.lua",
        "clients 2 ",
        " transactions 50 ",
        " reads 50 ",
        " writes 50 ",
        " others 0 ",
        " errors 0 ",
        " p95 ",
    ] {
        assert!(words.contains(said), "{said} is not in {report}");
    }
    let without = sysbench(&[&test, "--rows=20", "--events=5", "--percentile=0", "run"]);
    assert!(!without.contains("p95"), "{without}");
    sysbench(&[&script, "cleanup"]);
}
