//! wisconsin: the Wisconsin benchmark's relations and its selections, joins, projections, one
//! aggregate and changes (`DeWitt`, "The Wisconsin Benchmark: Past, Present, and Future", 1993).

use super::operation::{Operation, which};
use super::schema::Table;
use super::shuffle::shuffled;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const ONEK: &str = "sqlbench_onek";
const TENK1: &str = "sqlbench_tenk1";
/// Filled and never asked for, as in the original.
const TENK2: &str = "sqlbench_tenk2";
const BPRIME: &str = "sqlbench_bprime";
const LARGE: u64 = 10_000;
const SMALL: u64 = 1000;
const LOOPS: u64 = 10;

const NUMBERS: [&str; 13] = [
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
const STRINGS: [&str; 3] = ["stringu1", "stringu2", "string4"];

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
    let numbers = NUMBERS.map(|column| format!("{column} INTEGER{}", not_null(column)));
    let strings = STRINGS.map(|column| format!("{column} CHAR(16)"));
    Table::new(name, numbers.into_iter().chain(strings))
        .unique("unique1")
        .unique("unique2")
        .index("hundred")
}

/// Only what has a key must have a value; there is no primary key.
fn not_null(column: &str) -> &'static str {
    match column {
        "unique1" | "unique2" | "hundred" => " NOT NULL",
        _ => "",
    }
}

/// Row by row: 1000 into the small relation, 10,000 into each of the others.
fn insert(large: u64, small: u64) -> Operation {
    // As the benchmark wants it, `unique1` is in random order and `unique2` in that of the rows;
    // the three large relations hold the same rows.
    let orders = [shuffled(small, 1), shuffled(large, 2)];
    let relations = [ONEK, TENK1, TENK2, BPRIME];
    let rows = small + 3 * large;
    Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let (number, unique2) = match turn.index.checked_sub(small) {
            None => (0, turn.index),
            Some(later) => (1 + which(later / large, 3), later % large),
        };
        let (relation, order) = (relations[number], &orders[number.min(1)]);
        let u = u64::from(order[which(unique2, order.len())]);
        let (two, four, ten, twenty, hundred) = (u % 2, u % 4, u % 10, u % 20, u % 100);
        let (thousand, twothousand, fivethous) = (u % 1000, u % 2000, u % 5000);
        let (odd, even) = (2 * hundred, 2 * hundred + 1);
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

/// Ten questions, each so often before the next comes, and fourteen changes at the end.
fn benchmark(loops: u64, large: u64, small: u64) -> Operation {
    let (questions, changes) = (questions(large, small), changes(large));
    let asked = loops * questions.len() as u64;
    let turns = asked + changes.len() as u64;
    Operation::new(
        "wisc_benchmark",
        Kind::Read,
        turns,
        move |turn, steps| match turn.index.checked_sub(asked) {
            None => {
                let (rows, sql) = &questions[which(turn.index / loops, questions.len())];
                steps.ask(*rows, format_args!("{sql}"));
            }
            Some(later) => {
                let sql = &changes[which(later, changes.len())];
                steps.change(1, format_args!("{sql}"));
            }
        },
    )
    .alone("its last turns insert rows, move them and delete them")
    .cut_by_limit(false)
    .then_holds(format!("SELECT COUNT(*) FROM {TENK1}"), large)
}

/// The questions with the rows of their answers: one hundredth by `unique2`, a tenth by `unique1`,
/// one row, the hundredth again, three joins, two scans, an extreme.
fn questions(large: u64, small: u64) -> Vec<(u64, String)> {
    let (hundredth, tenth) = ((large / 100).max(1), large / 10);
    let at = |row: u64| row * large / LARGE;
    let within = |column, after, rows| {
        let end = after + rows + 1;
        let sql = format!("SELECT * FROM {TENK1} WHERE {column}>{after} AND {column}<{end}");
        (rows, sql)
    };
    vec![
        within("unique2", at(301), hundredth),
        within("unique1", at(647), tenth),
        (
            1,
            format!("SELECT * FROM {TENK1} WHERE unique2={}", at(2001)),
        ),
        within("unique2", at(301), hundredth),
        (
            tenth,
            format!(
                "SELECT t1.*,{} FROM {TENK1} t1,{TENK1} t2 \
                 WHERE t1.unique2=t2.unique2 AND t2.unique2<{tenth}",
                renamed("t2")
            ),
        ),
        (
            small,
            format!(
                "SELECT t.*,{} FROM {TENK1} t,{BPRIME} b WHERE t.unique2=b.unique2",
                renamed("b")
            ),
        ),
        (
            small.min(tenth),
            format!(
                "SELECT t1.*,{} FROM {ONEK} o,{TENK1} t1,{TENK1} t2 \
                 WHERE o.unique2=t1.unique2 AND t1.unique2=t2.unique2 \
                 AND t1.unique2<{tenth} AND t2.unique2<{tenth}",
                renamed("o")
            ),
        ),
        (
            large,
            format!("SELECT two,four,ten,twenty,hundred,string4 FROM {TENK1}"),
        ),
        (small, format!("SELECT * FROM {ONEK}")),
        (1, format!("SELECT MIN(unique2) AS x FROM {TENK1}")),
    ]
}

/// All columns of a relation, each under a name that no other has.
fn renamed(alias: &str) -> String {
    let columns = NUMBERS.iter().chain(&STRINGS);
    let columns: Vec<_> = columns
        .map(|column| format!("{alias}.{column} AS {alias}{column}"))
        .collect();
    columns.join(",")
}

/// Rows inserted with a `unique1` and a `unique2` beyond all others, rows deleted, and rows with a
/// `unique2` that moves beyond all others; one of those that have moved is deleted too.
fn changes(large: u64) -> Vec<String> {
    let insert = |unique1, unique2| {
        let columns = NUMBERS.iter().chain(&STRINGS).copied();
        let columns: Vec<_> = columns.collect();
        format!(
            "INSERT INTO {TENK1} ({}) VALUES ({unique1},{unique2},0,2,0,10,50,688,1950,4950,9950,\
             1,100,'a new row','of its own','it is')",
            columns.join(",")
        )
    };
    let delete = |unique2: u64| format!("DELETE FROM {TENK1} WHERE unique2={unique2}");
    let [r187, r876, r877, r900, r1140, r1480, r1491, r1974, r2000] = changed_rows(large);
    let update = |from, to: u64| format!("UPDATE {TENK1} SET unique2={to} WHERE unique2={from}");
    vec![
        insert(10_001, 74_001),
        insert(19_991, 60_001),
        delete(r877),
        delete(r876),
        update(r1491, 10_001),
        update(r1480, 10_023),
        insert(20_002, 70_002),
        insert(50_002, 40_002),
        delete(10_001),
        delete(r900),
        update(r187, 10_088),
        update(r2000, 10_003),
        update(r1974, 10_020),
        update(r1140, 16_001),
    ]
}

/// The rows to delete or move: at full scale those that are named, else those that lie in the same
/// place, no two the same.
fn changed_rows(large: u64) -> [u64; 9] {
    let mut next = 0;
    [187, 876, 877, 900, 1140, 1480, 1491, 1974, 2000].map(|row| {
        let scaled = next.max(row * large / LARGE);
        next = scaled + 1;
        scaled
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_changed_rows_are_there_and_different_at_every_scale() {
        assert_eq!(
            changed_rows(LARGE),
            [187, 876, 877, 900, 1140, 1480, 1491, 1974, 2000]
        );
        for large in [10, 11, 50, 333, 1000] {
            let rows = changed_rows(large);
            assert!(rows.is_sorted_by(|one, other| one < other), "{rows:?}");
            assert!(rows[8] < large, "{rows:?}");
        }
    }
}
