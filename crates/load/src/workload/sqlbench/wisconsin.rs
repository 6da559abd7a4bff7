//! wisconsin: the Wisconsin benchmark's relations and its selections, joins, projections,
//! aggregates and updates (`DeWitt`, "The Wisconsin Benchmark: Past, Present, and Future", 1993).

use super::operation::{Operation, which};
use super::schema::Table;
use super::shuffle::shuffled;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const ONEK: &str = "sqlbench_onek";
const TENK1: &str = "sqlbench_tenk1";
const TENK2: &str = "sqlbench_tenk2";
const BPRIME: &str = "sqlbench_bprime";
const LARGE: u64 = 10_000;
const SMALL: u64 = 1000;
const LOOPS: u64 = 10;

pub(super) fn test(plan: &Plan) -> Test {
    let maker = plan.maker.clone();
    let (large, small) = (plan.scale.of(LARGE), plan.scale.of(SMALL));
    // The original makes four relations under a count of three; so does the third turn here.
    let create = Operation::new("create_table", Kind::Other, 3, move |turn, steps| {
        let names: &[&str] = match turn.index {
            0 => &["onek"],
            1 => &["tenk1"],
            _ => &["tenk2", "bprime"],
        };
        for sql in names.iter().flat_map(|name| relation(name).create(&maker)) {
            steps.tell(&sql);
        }
    });
    let delete = Operation::new("delete_big", Kind::Write, 1, move |_, steps| {
        steps.change(
            large - small,
            format_args!("DELETE FROM {BPRIME} WHERE unique2>={small}"),
        );
    });
    Test {
        name: TestName::Wisconsin,
        operations: vec![
            create,
            insert(large, small).needs("create_table"),
            delete
                .needs("insert")
                .then_holds(format!("SELECT COUNT(*) FROM {BPRIME}"), small),
            benchmark(plan.scale.of(LOOPS), large, small).needs("insert"),
        ],
    }
}

fn relation(name: &str) -> Table {
    let numbers = [
        "unique1",
        "unique2",
        "two",
        "four",
        "ten",
        "twenty",
        "hundred",
        "thousand",
        "twothousand",
        "fivethous",
        "tenthous",
        "odd",
        "even",
    ];
    let numbers = numbers.map(|column| format!("{column} INTEGER NOT NULL"));
    let strings =
        ["stringu1", "stringu2", "string4"].map(|column| format!("{column} CHAR(16) NOT NULL"));
    Table::new(name, numbers.into_iter().chain(strings))
        .primary_key("unique2")
        .unique("unique1")
        .index("hundred")
}

/// Row by row: 1000 into the small relation, 10,000 into each of the others.
fn insert(large: u64, small: u64) -> Operation {
    // As the benchmark wants it, `unique1` is in random order and `unique2` in that of the rows.
    let orders = [
        shuffled(small, 1),
        shuffled(large, 2),
        shuffled(large, 3),
        shuffled(large, 4),
    ];
    let relations = [ONEK, TENK1, TENK2, BPRIME];
    let rows = small + 3 * large;
    Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let (number, unique2) = match turn.index.checked_sub(small) {
            None => (0, turn.index),
            Some(later) => (1 + which(later / large, 3), later % large),
        };
        let relation = relations[number];
        let u = u64::from(orders[number][which(unique2, orders[number].len())]);
        let (two, four, ten, twenty, hundred) = (u % 2, u % 4, u % 10, u % 20, u % 100);
        let (thousand, twothousand, fivethous) = (u % 1000, u % 2000, u % 5000);
        let (odd, even) = (2 * hundred + 1, 2 * hundred);
        let string4 = ["AAAA", "HHHH", "OOOO", "VVVV"][which(u, 4)];
        steps.change(
            1,
            format_args!(
                "INSERT INTO {relation} VALUES ({u},{unique2},{two},{four},{ten},{twenty},{hundred},\
                 {thousand},{twothousand},{fivethous},{u},{odd},{even},'u{u:07}','v{unique2:07}','{string4}')"
            ),
        );
    })
}

/// So many rounds of eleven questions, and four changes at the end.
fn benchmark(loops: u64, large: u64, small: u64) -> Operation {
    let questions = questions(large, small);
    let asked = loops * questions.len() as u64;
    Operation::new(
        "wisc_benchmark",
        Kind::Read,
        asked + 4,
        move |turn, steps| match turn.index.checked_sub(asked) {
            None => {
                let (rows, sql) = &questions[which(turn.index, questions.len())];
                steps.ask(*rows, format_args!("{sql}"));
            }
            Some(0) => steps.change(
                1,
                format_args!(
                    "INSERT INTO {TENK1} VALUES ({large},{large},0,0,0,0,0,0,0,0,{large},1,0,'u','v','AAAA')"
                ),
            ),
            Some(1) => steps.change(
                1,
                format_args!("UPDATE {TENK1} SET unique1={large}+1 WHERE unique2={large}"),
            ),
            Some(2) => steps.change(
                1,
                format_args!("UPDATE {TENK1} SET stringu1='w' WHERE unique1={large}+1"),
            ),
            Some(_) => steps.change(1, format_args!("DELETE FROM {TENK1} WHERE unique2={large}")),
        },
    )
    .alone("its last turns insert one row, change it and delete it")
    .cut_by_limit(false)
    .then_holds(format!("SELECT COUNT(*) FROM {TENK1}"), large)
}

/// The questions with the rows of their answers.
fn questions(large: u64, small: u64) -> Vec<(u64, String)> {
    let (hundredth, tenth) = ((large / 100).max(1), large / 10);
    let from = large / 2;
    vec![
        (
            hundredth,
            format!("SELECT * FROM {TENK1} WHERE unique2>={from} AND unique2<{from}+{hundredth}"),
        ),
        (
            tenth,
            format!("SELECT * FROM {TENK1} WHERE unique1>={from} AND unique1<{from}+{tenth}"),
        ),
        (1, format!("SELECT * FROM {TENK1} WHERE unique2={from}")),
        (
            tenth,
            format!(
                "SELECT * FROM {TENK1} a,{TENK2} b WHERE a.unique2=b.unique2 AND b.unique2<{tenth}"
            ),
        ),
        (
            small,
            format!("SELECT * FROM {TENK1} a,{BPRIME} b WHERE a.unique2=b.unique2"),
        ),
        (
            small.min(tenth),
            format!(
                "SELECT * FROM {ONEK} o,{TENK1} a,{TENK2} b \
                 WHERE o.unique2=a.unique2 AND a.unique2=b.unique2 AND a.unique2<{tenth}"
            ),
        ),
        (
            large.min(100),
            format!("SELECT DISTINCT two,four,ten,twenty,hundred,string4 FROM {TENK1}"),
        ),
        (
            large,
            format!(
                "SELECT DISTINCT two,four,ten,twenty,hundred,thousand,twothousand,fivethous,\
                 tenthous,odd,even,stringu1,stringu2,string4 FROM {TENK1}"
            ),
        ),
        (1, format!("SELECT MIN(unique2) FROM {TENK1}")),
        (
            large.min(100),
            format!("SELECT MIN(fivethous) FROM {TENK1} GROUP BY hundred"),
        ),
        (
            large.min(100),
            format!("SELECT SUM(fivethous) FROM {TENK1} GROUP BY hundred"),
        ),
    ]
}
