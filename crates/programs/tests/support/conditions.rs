//! The conditions workload on a real database: what it is answered is compared with what a search
//! through all entries finds.

use diskproof_load::driver::{Admin, Driver};
use serde_json::Value;

use crate::program::{Load, account, events};

const TABLES: usize = 3;
const MADE: [&str; 8] = [
    "--tables",
    "3",
    "--rows",
    "200",
    "--elements",
    "3",
    "--days",
    "100",
];

/// Makes the tables and asks them what a run asks: at every instant at which an answer changes, one second before
/// and one after.
pub(crate) fn check_answers<D: Driver>(url: &str, driver: &D) {
    prepare(url, &MADE);
    let run = CONDITIONS.succeed(
        "run",
        url,
        &[
            &MADE[..],
            &["--transactions", "1", "--appends", "0", "--json"],
        ]
        .concat(),
    );
    let ready = events(&run).swap_remove(0);
    let mut admin = driver.admin().expect("a connection");
    let mut asked = 0;
    for table in 1..=TABLES {
        let name = table_name(table);
        let column = |column: &str, admin: &mut dyn Admin| -> Vec<i64> {
            let sql = format!("SELECT {column} FROM {name} ORDER BY dataID");
            let values = admin.query_column(&sql).expect(&sql);
            let number = |value: Option<String>| value.expect("a value").parse().expect("a number");
            values.into_iter().map(number).collect()
        };
        let elements = column("elementID", &mut *admin);
        let begins = column("beginTime", &mut *admin);
        assert_eq!(begins.len(), 200);
        for (element, begin_s) in elements.into_iter().zip(begins).step_by(2) {
            for time_s in [begin_s - 1, begin_s, begin_s + 1] {
                for kind in ["validity_end", "entry"] {
                    let sql = statement(&ready, kind).replace("conditions1", &name);
                    let sql = sql.replacen('?', &element.to_string(), 1);
                    let sql = sql.replacen('?', &time_s.to_string(), 1);
                    check_answer(&mut *admin, &sql, &name, element, time_s);
                    asked += 1;
                }
            }
        }
    }
    assert!(asked > 500, "{asked}");
    // Data sets of earlier versions are those of this one.
    let sums = [
        ("beginTime", "200182083395"),
        ("entryTime", "200248092995"),
        ("deactive", "24085074701"),
    ];
    for (column, sum) in sums {
        let sql = format!("SELECT SUM({column}) FROM conditions3");
        assert_eq!(admin.query_value(&sql).expect(&sql).as_deref(), Some(sum));
    }
}

fn table_name(number: usize) -> String {
    format!("conditions{number}")
}

/// A type's statement on the first table.
fn statement(ready: &Value, name: &str) -> String {
    let all = ready["statements"].as_array().expect("a list");
    let found = all.iter().find(|own| own["name"] == name).expect(name);
    found["sql"].as_str().expect("a statement").to_owned()
}

/// Compares an answer with a search by the database itself.
fn check_answer(admin: &mut dyn Admin, sql: &str, name: &str, element: i64, time_s: i64) {
    let answer = admin.query_value(sql).expect(sql);
    let standing = format!("elementID={element} AND flavor='ofl' AND deactive=0");
    let search = if sql.contains("beginTime>") {
        format!("SELECT MIN(beginTime) FROM {name} WHERE {standing} AND beginTime>{time_s}")
    } else {
        format!(
            "SELECT MAX(dataID) FROM {name} WHERE {standing} AND beginTime=(\
             SELECT MAX(beginTime) FROM {name} WHERE {standing} AND beginTime<={time_s})"
        )
    };
    assert_eq!(answer, admin.query_value(&search).expect(&search), "{sql}");
}

/// The program from end to end: tables are made, asked, appended to, and dropped.
pub(crate) fn check_program<D: Driver>(url: &str, driver: &D) {
    let made = [
        "--tables",
        "4",
        "--rows",
        "500",
        "--elements",
        "2",
        "--days",
        "400",
    ];
    let none = refused("run", url, &made);
    assert!(none.contains("prepare conditions"), "{none}");
    CONDITIONS.succeed("prepare", url, &made);
    let again = refused("prepare", url, &made);
    assert!(again.contains("cleanup conditions"), "{again}");
    for (option, other) in [("--rows", "400"), ("--elements", "3"), ("--days", "401")] {
        let mut changed = made;
        let at = changed
            .iter()
            .position(|word| *word == option)
            .expect(option);
        changed[at + 1] = other;
        let complaint = refused("run", url, &changed);
        assert!(
            complaint.contains("other --rows, --elements or --days"),
            "{complaint}"
        );
    }

    let count = || {
        let sum = (1..=4).map(|number| format!("(SELECT COUNT(*) FROM {})", table_name(number)));
        let sql = format!("SELECT {}", sum.collect::<Vec<_>>().join("+"));
        let mut admin = driver.admin().expect("a connection");
        admin.query_value(&sql).expect(&sql).expect("a count")
    };
    assert_eq!(count(), "2000");
    let mut appended = 0;
    for (mode, protocol) in [
        (&["--stay"][..], "text"),
        (&["--stay"], "prepared"),
        (&[], "text"),
        (&[], "prepared"),
    ] {
        let visits = [
            "--transactions",
            "60",
            "--clients",
            "4",
            "--tables-per-visit",
            "3",
        ];
        let how = ["--appends", "0.1", "--protocol", protocol];
        let summary = CONDITIONS.summary(url, &[&made[..], &visits, &how, mode].concat());
        check_accounts(&summary, mode.is_empty());
        appended += account(&summary, "append")["affected"]
            .as_u64()
            .expect("a count");
        assert_eq!(count(), (2000 + appended).to_string());
    }
    assert!(appended > 20, "{appended} of 720");
    let read_only = CONDITIONS.summary(
        url,
        &[
            &made[..],
            &["--transactions", "5", "--appends", "0", "--stay"],
        ]
        .concat(),
    );
    assert_eq!(read_only["writes"], 0, "{read_only}");

    CONDITIONS.succeed("cleanup", url, &["--tables", "4"]);
    let left = refused("run", url, &made);
    assert!(left.contains("does not exist"), "{left}");
}

/// Sixty visits to three tables each: every question is answered, or an entry is made in its place.
fn check_accounts(summary: &Value, leaves: bool) {
    assert_eq!(summary["transactions"], 60, "{summary}");
    assert_eq!(summary["errors"], Value::Array(Vec::new()), "{summary}");
    let of = |name: &str, field: &str| account(summary, name)[field].as_u64().expect("a count");
    assert_eq!(of("entry", "count") + of("append", "count"), 180);
    assert_eq!(of("validity_end", "count"), of("entry", "count"));
    assert_eq!(
        of("entry", "rows"),
        of("entry", "count"),
        "every time has its entry"
    );
    assert!(
        of("validity_end", "rows") <= of("validity_end", "count"),
        "the present has no end"
    );
    if leaves {
        assert_eq!(of("connect", "count"), 60, "{summary}");
        assert!(account(summary, "connect")["latency_us"]["mean"].as_f64() > Some(0.0));
    } else {
        let types = summary["statement_types"].as_array().expect("a list");
        assert!(types.iter().all(|account| account["name"] != "connect"));
    }
}

/// Makes the tables by the program.
#[allow(dead_code, reason = "not all families look at their tables themselves")]
pub(crate) fn prepare(url: &str, arguments: &[&str]) {
    CONDITIONS.succeed("prepare", url, arguments);
}

const CONDITIONS: Load = Load("conditions");

/// What the program said when it refused.
fn refused(verb: &str, url: &str, arguments: &[&str]) -> String {
    let output = CONDITIONS.call(verb, url, arguments);
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(
        output.status.code(),
        Some(1),
        "{verb} {arguments:?}: {complaint}"
    );
    complaint
}
