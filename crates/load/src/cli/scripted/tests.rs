//! The scripts without a database: what they would send.

use std::collections::{BTreeMap, BTreeSet};

use super::*;
use crate::driver::{Admin, Arg, Args, Fault, Reply};
use crate::workload::oltp::OltpRows;
use crate::workload::tables::Progress;

/// What the original of sql-bench reports at its own size.
const FACTS: &str = include_str!("../../../tests/facts/sql-bench-operations.csv");

pub(crate) fn script(name: &str, dialect: Dialect, given: &[(&str, &str)]) -> Conducting {
    let (name, text) = ALL.into_iter().find(|(own, _)| *own == name).unwrap();
    let given = given
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())));
    let options = LuaOptions {
        dialect,
        given: given.collect(),
        general: vec![("threads".into(), Setting::Int(1))],
        rows: Some(OltpRows {
            rows: 20,
            distribution: Choice::Special.into(),
            seed: 1,
        }),
        ..lua_options(name, text)
    };
    Conducting::new(options).unwrap()
}

const DIALECTS: [Dialect; 3] = [Dialect::Mysql, Dialect::Postgres, Dialect::Sqlite];

const OPERATIONS: &str = r#"
    local lines = {}
    for _, test in ipairs(chosen()) do
      for _, own in ipairs(test.operations) do
        lines[#lines + 1] = string.format("%s,%s,%d", test.name, own.name, own.planned)
      end
    end
    return table.concat(lines, "\n")"#;

#[test]
fn names_and_counts_are_the_originals() {
    let facts: Vec<_> = FACTS
        .lines()
        .filter(|line| !line.starts_with('#') && !line.starts_with("test,"))
        .collect();
    assert_eq!(facts.len(), 107);
    for dialect in DIALECTS {
        let declared = script("sqlbench", dialect, &[]).say(OPERATIONS);
        assert_eq!(declared.lines().collect::<Vec<_>>(), facts, "{dialect:?}");
    }
}

/// A turn's statements, and what all turns must send and change.
const STATEMENTS: &str = r#"
    local wanted, turn = "NAME", TURN
    for _, test in ipairs(chosen()) do
      for _, own in ipairs(test.operations) do
        if own.name == wanted then
          local texts = {}
          for place, shown in ipairs(sysbench.job.shown(own.turn, turn)) do
            texts[place] = shown.sql:gsub("sqlbench_", "")
          end
          return table.concat(texts, ";")
        end
      end
    end"#;

fn statements(conducting: &Conducting, name: &str, turn: u64) -> String {
    let code = STATEMENTS.replace("NAME", name);
    conducting.say(&code.replace("TURN", &turn.to_string()))
}

/// Operations of `insert`, turns and their statements: columns, keys and order are the original's.
const INSERT: &[(&str, u64, &str)] = &[
    ("prepared_select", 0, "SELECT * FROM bench1 WHERE id="),
    ("select_big", 0, "SELECT id FROM bench1"),
    (
        "order_by_big_key",
        0,
        "SELECT id,id2 FROM bench1 ORDER BY id,id2",
    ),
    (
        "order_by_big_key_desc",
        0,
        "SELECT id,id2 FROM bench1 ORDER BY id DESC,id2 DESC",
    ),
    (
        "order_by_big_key_prefix",
        0,
        "SELECT id FROM bench1 ORDER BY id DESC",
    ),
    (
        "order_by_big_key2",
        0,
        "SELECT id3 FROM bench1 ORDER BY id3",
    ),
    (
        "order_by_big_key_diff",
        0,
        "SELECT id2 FROM bench1 ORDER BY id3",
    ),
    ("order_by_big", 0, "SELECT id FROM bench1 ORDER BY id2,id3"),
    (
        "order_by_range",
        1,
        "SELECT dummy1 FROM bench1 WHERE id>=400 AND id<=402 ORDER BY id3",
    ),
    (
        "order_by_key_prefix",
        499,
        "SELECT dummy1 FROM bench1 WHERE id>=100000 AND id<=100500 ORDER BY id",
    ),
    (
        "order_by_key2_diff",
        0,
        "SELECT id2 FROM bench1 WHERE id3>=200 AND id3<=700 ORDER BY id3",
    ),
    (
        "select_diff_key",
        4,
        "SELECT id2 FROM bench1 WHERE id=5 OR id3=",
    ),
    ("select_range_prefix", 0, "SELECT * FROM bench1 WHERE id=1"),
    (
        "select_range_key2",
        1,
        "SELECT * FROM bench1 WHERE id3 IN (1)",
    ),
    (
        "select_range_key2",
        2,
        "SELECT * FROM bench1 WHERE (id3=1) AND id3<10",
    ),
    (
        "select_range_prefix",
        5011,
        "SELECT * FROM bench1 WHERE id>=299999 OR id<1",
    ),
    (
        "select_group",
        8,
        "SELECT id % 10 AS last_digit,COUNT(*) FROM bench1 GROUP BY last_digit",
    ),
    (
        "min_max_on_key",
        8,
        "SELECT MIN(id2) FROM bench1 WHERE id=2",
    ),
    ("min_max", 10, "SELECT MIN(dummy1) FROM bench1 WHERE id2=2"),
    (
        "count_on_key",
        99,
        "SELECT COUNT(id) FROM bench1 WHERE id<297000",
    ),
    (
        "count",
        1,
        "SELECT COUNT(dummy1) FROM bench1 WHERE id2<3000",
    ),
    (
        "count_distinct_big",
        1,
        "SELECT dummy1,COUNT(DISTINCT id) FROM bench1 GROUP BY dummy1",
    ),
    (
        "update_of_key_big",
        497,
        "UPDATE bench1 SET id3=0-id3 WHERE id3>=0 AND id3<=99897",
    ),
    (
        "update_of_key_big",
        499,
        "UPDATE bench1 SET id3=0-id3 WHERE id3>=100000 AND id3<200000",
    ),
    (
        "update_of_key_big",
        500,
        "UPDATE bench1 SET id3=FLOOR((0-id3)/20) WHERE id3<0",
    ),
    (
        "outer_join_on_key",
        0,
        "SELECT COUNT(*) FROM bench1 a LEFT OUTER JOIN bench1 b ON (a.id2=b.id3)",
    ),
    (
        "select_in",
        0,
        "SELECT bench1.* FROM bench1 WHERE id IN (1,2,3,4,5,6,7,8,9,10)",
    ),
    (
        "select_join_in",
        1499,
        "SELECT bench1.* FROM bench_1000 LEFT OUTER JOIN bench1 ON (bench1.id=bench_1000.id)",
    ),
    (
        "delete_range",
        11,
        "DELETE FROM bench1 WHERE id>=100000 AND id<=200000",
    ),
    (
        "update_of_primary_key_many_keys",
        255,
        "UPDATE many_keys SET field5=1 WHERE field_search=255",
    ),
    (
        "delete_big_many_keys",
        127,
        "DELETE FROM many_keys WHERE field_search=127",
    ),
];

#[test]
fn statements_read_and_write_what_the_originals_do() {
    let conducting = script("sqlbench", Dialect::Mysql, &[("tests", "insert")]);
    for &(name, turn, sql) in INSERT {
        let told = statements(&conducting, name, turn);
        // A random key ends some of them.
        let open = sql.ends_with('=');
        assert!(
            told == sql || open && told.starts_with(sql),
            "{name}: {told}"
        );
    }
}

#[test]
fn sums_of_rows_are_those_of_the_tables() {
    let sums = r#"
        for _, own in ipairs(chosen()[1].operations) do
          if own.name == "NAME" then
            local sum = 0
            for turn = 0, own.turns - 1 do
              for _, shown in ipairs(sysbench.job.shown(own.turn, turn)) do
                sum = sum + shown.affected
              end
            end
            return sum
          end
        end"#;
    let changed = |name: &str, dialect| {
        let conducting = script("sqlbench", dialect, &[("tests", "insert")]);
        let sum = conducting.say(&sums.replace("NAME", name));
        sum.parse::<u64>().unwrap()
    };
    assert_eq!(changed("delete_key", Dialect::Mysql), 5000);
    assert_eq!(changed("delete_range", Dialect::Mysql), 295_000);
    // A row that keeps its value is counted by some servers only.
    for (name, zeros) in [
        ("update_of_key_big", 499),
        ("update_with_key_prefix", 100_000),
    ] {
        let [mysql, postgres] =
            [Dialect::Mysql, Dialect::Postgres].map(|dialect| changed(name, dialect));
        assert_eq!(postgres - mysql, zeros, "{name}");
    }
}

#[test]
fn a_commit_operation_is_one_transaction_and_an_autocommit_one_none() {
    for dialect in DIALECTS {
        let conducting = script("sqlbench", dialect, &[("tests", "transactions")]);
        let count = |name: &str, turn| statements(&conducting, name, turn).split(';').count();
        // In the MySQL family the session is without autocommit from its beginning.
        let first = if dialect == Dialect::Mysql { 1 } else { 2 };
        assert_eq!(count("insert_commit", 0), first, "{dialect:?}");
        assert_eq!(count("update_commit", 4711), 1);
        assert!(statements(&conducting, "delete_commit", 9999).ends_with(";COMMIT"));
        assert!(statements(&conducting, "delete_autocommit", 0).contains("bench2"));
    }
}

#[test]
fn answers_of_atis_have_the_originals_shape() {
    let conducting = script("sqlbench", Dialect::Mysql, &[("tests", "ATIS")]);
    let rows = |name: &str, turns: u64| {
        let code = STATEMENTS.replace(
            "texts[place] = shown.sql:gsub(\"sqlbench_\", \"\")",
            "texts[place] = shown.rows",
        );
        let rows = (0..turns).map(|turn| {
            conducting.say(
                &code
                    .replace("NAME", name)
                    .replace("TURN", &turn.to_string()),
            )
        });
        rows.collect::<Vec<_>>().join(" ")
    };
    assert_eq!(rows("select_simple_join", 5), "1 11 7 4 579");
    assert_eq!(rows("select_join", 1), "579");
    assert_eq!(rows("select_distinct", 8), "6 9 22 534 579 579 44 44");
    assert_eq!(rows("select_group", 4), "7 7 4 7");
}

#[test]
fn tables_of_the_tests_are_known_and_a_users_are_not() {
    let conducting = script("sqlbench", Dialect::Sqlite, &[]);
    let is_ours = |name: &str| conducting.say(&format!("return tostring(is_ours('{name}'))"));
    for name in [
        "bench1",
        "many_0",
        "many_9999",
        "bench_7",
        "flight_fare",
        "onek",
    ] {
        assert_eq!(is_ours(&format!("sqlbench_{name}")), "true", "{name}");
        assert_eq!(is_ours(name), "false", "{name}");
    }
    for name in [
        "results",
        "bench5",
        "many_",
        "many_07",
        "many_x",
        "bench_1_old",
        "Bench1",
    ] {
        assert_eq!(is_ours(&format!("sqlbench_{name}")), "false", "{name}");
    }
}

/// What a client of the conditions database calls in 2000 visits: `check` looks at one visit's calls.
const VISITS: &str = r"
    local calls, counted = {}, 0
    sysbench.job.call = function(...) calls[#calls + 1] = { ... } end
    local turn, present = enter(), 996624000 + 365 * 86400
    for _ = 1, 2000 do
      calls = {}
      turn()
      CHECK
    end
    return tostring(counted)";

fn visits(appends: &str, check: &str) -> u32 {
    let given = [
        ("tables", "10"),
        ("rows", "1000"),
        ("elements", "4"),
        ("days", "365"),
        ("tables-per-visit", "7"),
        ("stay", "on"),
        ("appends", appends),
    ];
    let conducting = script("conditions", Dialect::Mysql, &given);
    let counted = conducting.say(&VISITS.replace("CHECK", check));
    counted.parse().unwrap()
}

#[test]
fn a_visit_asks_its_tables_about_one_time_mostly_of_the_last_hours() {
    let check = r"
      assert(#calls == 14)
      local seen, time = {}, calls[1][5]
      for place = 1, 14, 2 do
        local ends, entry = calls[place], calls[place + 1]
        assert(entry[1] == ends[1] + 10 and entry[4] == ends[4] and ends[4] >= 0 and ends[4] < 4)
        assert(ends[5] == time and entry[5] == time and not seen[ends[1]])
        seen[ends[1]] = true
      end
      assert(time > present - 365 * 86400 and time <= present)
      counted = counted + (time > present - 86400 and 1 or 0)";
    let hot = visits("0", check);
    // 90 % and what the cold draws add; five standard deviations.
    assert!((1735..=1870).contains(&hot), "{hot}");
}

#[test]
fn appends_are_as_rare_as_asked() {
    let check = r"
      local asked = 0
      for _, call in ipairs(calls) do
        if call[1] >= 20 then
          assert(call[4] == present and call[5] >= 0 and call[5] < 4 and #call[7] == 200)
          assert(call[6] > present - 86400 and call[6] <= present)
          counted = counted + 1
          asked = asked + 2
        else
          asked = asked + 1
        end
      end
      assert(asked == 14)";
    let appends = visits("0.05", check);
    assert!((570..=830).contains(&appends), "5 % of 14,000: {appends}");
}

/// Keeps the rows that it is given, by table.
#[derive(Default)]
struct Keeper {
    rows: BTreeMap<String, Vec<Vec<String>>>,
    sql: Vec<String>,
}

impl Admin for Keeper {
    fn server_version(&mut self) -> Result<String, Fault> {
        unreachable!("nobody asks")
    }

    fn execute_bytes(&mut self, sql: &[u8]) -> Result<Reply, Fault> {
        self.sql.push(String::from_utf8_lossy(sql).into_owned());
        Ok(Reply::default())
    }

    fn query_column(&mut self, _: &str) -> Result<Vec<Option<String>>, Fault> {
        Ok(Vec::new())
    }

    fn load(
        &mut self,
        table: &str,
        columns: &[&str],
        next_row: &mut dyn FnMut(&mut Args) -> bool,
    ) -> Result<u64, Fault> {
        let rows = self.rows.entry(table.to_owned()).or_default();
        let (mut args, before) = (Args::default(), rows.len());
        while next_row(&mut args) {
            assert_eq!(args.values().len(), columns.len(), "{table}");
            rows.push(args.values().iter().map(|arg| shown(arg, &args)).collect());
        }
        Ok((rows.len() - before) as u64)
    }
}

fn shown(arg: &Arg, args: &Args) -> String {
    match arg {
        Arg::Int(value) => value.to_string(),
        Arg::Text(range) => String::from_utf8(args.text(range).to_vec()).unwrap(),
        Arg::Double(value) => panic!("{value}"),
        Arg::Null => "NULL".into(),
    }
}

/// One part of the tables that a script makes, by table.
fn filled(name: &str, part: usize, given: &[(&str, &str)]) -> Keeper {
    filled_on(Dialect::Postgres, name, part, given)
}

fn filled_on(dialect: Dialect, name: &str, part: usize, given: &[(&str, &str)]) -> Keeper {
    let conducting = script(name, dialect, given);
    let (mut keeper, progress) = (Keeper::default(), Progress::default());
    let loaded = conducting
        .again()
        .fill(part, &mut keeper, &progress)
        .unwrap();
    assert_eq!(loaded, conducting.tables().unwrap().parts[part - 1].1);
    assert_eq!(loaded, progress.rows());
    keeper
}

#[test]
fn a_warehouse_is_the_same_in_any_data_set() {
    let alone = filled("tpcc", 2, &[("warehouses", "1")]).rows;
    assert_eq!(alone, filled("tpcc", 2, &[("warehouses", "3")]).rows);
    let counts: Vec<_> = alone
        .iter()
        .map(|(name, rows)| (name.as_str(), rows.len()))
        .collect();
    let lines = alone["tpcc_order_line"].len();
    assert!((299_000..301_000).contains(&lines), "{lines}");
    assert_eq!(
        counts,
        [
            ("tpcc_customer", 30_000),
            ("tpcc_district", 10),
            ("tpcc_history", 30_000),
            ("tpcc_new_order", 9_000),
            ("tpcc_order_line", lines),
            ("tpcc_orders", 30_000),
            ("tpcc_stock", 100_000),
            ("tpcc_warehouse", 1),
        ]
    );
    let column = |table: &str, at: usize| alone[table].iter().map(move |row| row[at].as_str());
    // Each customer of a district has one order, and each order its lines.
    let orders = alone["tpcc_orders"].iter();
    let of_first: BTreeSet<_> = orders
        .filter(|row| row[1] == "1")
        .map(|row| &row[3])
        .collect();
    assert_eq!(of_first.len(), 3_000);
    let counted: usize = column("tpcc_orders", 5)
        .map(|count| count.parse::<usize>().unwrap())
        .sum();
    assert_eq!(counted, lines);
    let counts: BTreeSet<_> = column("tpcc_orders", 5).collect();
    assert_eq!(counts.len(), 11, "5 to 15: {counts:?}");
    // The example of clause 4.3.2.3: 371 is PRICALLYOUGHT.
    let first = alone["tpcc_customer"]
        .iter()
        .find(|row| row[1] == "1" && row[0] == "372");
    assert_eq!(first.unwrap()[5], "PRICALLYOUGHT");
    let original = column("tpcc_stock", 6).filter(|text| text.contains("ORIGINAL"));
    let original = original.count();
    assert!((9_500..10_500).contains(&original), "{original}");
    for (table, at, lengths) in [
        ("tpcc_stock", 6, 26..=50),
        ("tpcc_customer", 20, 300..=500),
        ("tpcc_customer", 11, 16..=16),
        ("tpcc_order_line", 8, 24..=24),
    ] {
        assert!(
            column(table, at).all(|text| lengths.contains(&text.len())),
            "{table} {at}"
        );
    }
}

#[test]
fn accounts_begin_alike_and_entries_are_none() {
    let given = [("accounts", "20"), ("filler-bytes", "0")];
    let accounts = filled("ledger", 1, &given);
    for (row, id) in accounts.rows["ledger_accounts"].iter().zip(1..) {
        assert_eq!(
            row[..],
            [id.to_string(), "1000000".into(), "0".into(), String::new()]
        );
    }
    let all = [accounts.sql, filled("ledger", 2, &given).sql]
        .concat()
        .join("\n");
    assert!(
        all.contains("VARCHAR(1) NOT NULL"),
        "no text of no length: {all}"
    );
    assert!(!all.contains("UNIQUE"), "{all}");
}

#[test]
fn sysbenchs_tables_follow_the_family() {
    let made = |dialect, given: &[(&str, &str)]| {
        let given = [&[("rows", "20")], given].concat();
        filled_on(dialect, "oltp", 1, &given).sql.join(";")
    };
    let legacy = made(Dialect::Mysql, &[("mix", "complex")]);
    for words in [
        "id INTEGER UNSIGNED NOT NULL AUTO_INCREMENT",
        "ENGINE=innodb;CREATE INDEX k_1 ON sbtest1(k)",
    ] {
        assert!(legacy.contains(words), "{legacy}");
    }
    assert!(!made(Dialect::Mysql, &[]).contains("UNSIGNED"));
    assert!(made(Dialect::Postgres, &[]).contains("id SERIAL"));
    assert!(!made(Dialect::Sqlite, &[]).contains("ENGINE"));
    let alike = script(
        "oltp",
        Dialect::Sqlite,
        &[("schema", "sbtest"), ("rows", "20001")],
    );
    let mut keeper = Keeper::default();
    let loaded = alike.again().fill(1, &mut keeper, &Progress::default());
    assert_eq!(loaded.unwrap(), 20_001);
    let rows = keeper.sql.iter().map(|sql| sql.matches("qqqq").count());
    assert_eq!(rows.sum::<usize>(), 2 * 20_001, "{}", keeper.sql[0]);
}
