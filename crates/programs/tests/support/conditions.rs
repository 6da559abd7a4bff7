//! The conditions workload on a real database: what it is answered is compared with what a search
//! through all entries finds.

use diskproof_load::driver::{Admin, Arg, Args, Driver};
use diskproof_load::workload::conditions::tables::{ConditionsTables, table_name};
use diskproof_load::workload::conditions::{Conditions, ConditionsOptions, Entry, History};
use diskproof_load::workload::tables::{Progress, TableSet};
use diskproof_load::workload::{Next, Script, Workload};
use serde_json::Value;

use crate::program::{Load, account};

const TABLES: usize = 3;

fn options() -> ConditionsOptions {
    ConditionsOptions {
        tables: TABLES,
        history: History::new(200, 3, 100).expect("a possible history"),
        payload_bytes: 40,
        hot_percent: 50.0,
        hot_s: 86_400,
        tables_per_visit: TABLES,
        appends: 0.0,
        stay: true,
        seed: 9,
    }
}

/// Makes the tables and asks them: at every instant at which an answer changes, one second before
/// and one after, and at the times that clients draw.
pub(crate) fn check_answers<D: Driver>(driver: &D) {
    let options = options();
    let mut admin = driver.admin().expect("a connection");
    let set = ConditionsTables {
        tables: TABLES,
        history: options.history,
        payload_bytes: options.payload_bytes,
        seed: 1,
        engine: "innodb".into(),
    };
    for number in 1..=TABLES {
        let progress = Progress::default();
        let built = set.build(&mut *admin, driver.dialect(), number, &progress);
        assert_eq!(built.expect("built"), 200);
        assert_eq!(progress.rows(), 200);
    }
    let workload = Conditions::new(&options);
    let mut asked = check_edges(&mut *admin, &workload, &options.history);
    let mut script = workload.script(0);
    for _ in 0..30 {
        asked += check_visit(&mut *admin, &workload, &mut script, &options.history);
    }
    assert!(asked > 500, "{asked}");
}

/// Each question that a table can be asked differently; how many there were.
fn check_edges(admin: &mut dyn Admin, workload: &Conditions, history: &History) -> usize {
    let mut asked = 0;
    for table in 1..=TABLES {
        for entry in entries(table, history).step_by(2) {
            for time_s in [entry.begin_s - 1, entry.begin_s, entry.begin_s + 1] {
                for name in ["validity_end", "entry"] {
                    let sql = bound(
                        &statement(workload, name, table),
                        &[entry.element, time_s.into()],
                    );
                    check_answer(admin, history, &sql, table, entry.element, time_s);
                    asked += 1;
                }
            }
        }
    }
    asked
}

/// What one client asks on one visit; how many questions that were.
fn check_visit(
    admin: &mut dyn Admin,
    workload: &Conditions,
    script: &mut impl Script,
    history: &History,
) -> usize {
    let mut args = Args::default();
    let mut asked = 0;
    assert!(script.begin());
    while let Some(Next::Statement(id)) = script.next(&mut args) {
        let [Arg::Int(element), Arg::Int(time_s)] = args.values() else {
            panic!("{args:?}")
        };
        let (element, time_s) = (element.cast_unsigned(), time_s.cast_unsigned());
        let template = workload.catalogue().statements()[id].sql.clone();
        let table =
            (1..=TABLES).find(|number| template.contains(&format!(" {} ", table_name(*number))));
        let table = table.expect(&template);
        let sql = bound(&template, &[element, time_s]);
        let time_s = u32::try_from(time_s).expect("31 bits");
        check_answer(admin, history, &sql, table, element, time_s);
        asked += 1;
    }
    asked
}

/// Compares an answer with a search through the history and with one by the database itself.
fn check_answer(
    admin: &mut dyn Admin,
    history: &History,
    sql: &str,
    table: usize,
    element: u64,
    time_s: u32,
) {
    let answer = admin.query_value(sql).expect(sql);
    let candidates =
        entries(table, history).filter(|entry| entry.stands() && entry.element == element);
    let asks_for_the_end = sql.contains("beginTime>");
    let found = if asks_for_the_end {
        let later = candidates.filter(|entry| entry.begin_s > time_s);
        later.map(|entry| u64::from(entry.begin_s)).min()
    } else {
        let not_after = candidates.filter(|entry| entry.begin_s <= time_s);
        not_after
            .max_by_key(|entry| entry.begin_s)
            .map(|entry| entry.data_id)
    };
    assert_eq!(answer, found.map(|value| value.to_string()), "{sql}");

    let name = table_name(table);
    let standing = format!("elementID={element} AND flavor='ofl' AND deactive=0");
    let search = if asks_for_the_end {
        format!("SELECT MIN(beginTime) FROM {name} WHERE {standing} AND beginTime>{time_s}")
    } else {
        format!(
            "SELECT MAX(dataID) FROM {name} WHERE {standing} AND beginTime=(\
             SELECT MAX(beginTime) FROM {name} WHERE {standing} AND beginTime<={time_s})"
        )
    };
    assert_eq!(answer, admin.query_value(&search).expect(&search), "{sql}");
}

fn entries(table: usize, history: &History) -> impl Iterator<Item = Entry> {
    let history = *history;
    (1..=history.rows()).map(move |row| history.entry(table, row))
}

/// The SQL of a type on a table.
fn statement(workload: &Conditions, name: &str, table: usize) -> String {
    let catalogue = workload.catalogue();
    let is_wanted = |id: &usize| {
        let sql = &catalogue.statements()[*id].sql;
        catalogue.types()[catalogue.type_of(*id)].name == name
            && sql.contains(&format!(" {} ", table_name(table)))
    };
    let id = (0..catalogue.statements().len())
        .find(is_wanted)
        .expect(name);
    catalogue.statements()[id].sql.clone()
}

fn bound(template: &str, values: &[u64]) -> String {
    values.iter().fold(template.to_owned(), |sql, value| {
        sql.replacen('?', &value.to_string(), 1)
    })
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
