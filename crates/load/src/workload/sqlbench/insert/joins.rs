//! Outer joins of the table with itself, and rows by lists of their keys.

use super::{SHORT_LOOPS, Size, TABLE, WHOLE_TABLE_LOOPS};
use crate::driver::Kind;
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;
use crate::workload::sqlbench::schema::Table;

/// Keys in a list, one length after the other.
const LIST_LENGTHS: [u64; 3] = [10, 100, 1000];

pub(super) fn operations(plan: &Plan, size: &Size) -> Vec<Operation> {
    let both = "COUNT(a.dummy1),COUNT(b.dummy1)";
    let join = |name, columns: &str, condition: &str| {
        let sql = format!(
            "SELECT {columns} FROM {TABLE} a LEFT OUTER JOIN {TABLE} b ON (a.id2=b.id3){condition}"
        );
        Operation::query(name, size.of(WHOLE_TABLE_LOOPS), 1, &sql)
    };
    vec![
        join("outer_join_on_key", "COUNT(*)", ""),
        join("outer_join", both, ""),
        join("outer_join_found", both, " WHERE b.id3 IS NOT NULL"),
        // As often as the others; the original prints another loop's number.
        join("outer_join_not_found", both, " WHERE b.id3 IS NULL").printed_as(size.of(SHORT_LOOPS)),
        select_in(size),
        select_join_in(plan, size),
    ]
}

fn select_in(size: &Size) -> Operation {
    let questions = LIST_LENGTHS.map(|full| {
        let rows = full.min(size.part);
        let ids = list(rows, |id| id.to_string());
        let sql = format!("SELECT {TABLE}.* FROM {TABLE} WHERE id IN ({ids})");
        (rows, sql)
    });
    one_after_another(size, "select_in", questions)
}

/// The same lists as tables. The original has one, to which it adds between the loops.
fn select_join_in(plan: &Plan, size: &Size) -> Operation {
    let mut before = Vec::new();
    let questions = LIST_LENGTHS.map(|full| {
        let rows = full.min(size.part);
        let ids = Table::new(&format!("bench_{full}"), ["id INTEGER NOT NULL"]).primary_key("id");
        let name = ids.name();
        before.extend(ids.create(&plan.maker));
        let values = list(rows, |id| format!("({id})"));
        before.push(format!("INSERT INTO {name} VALUES {values}"));
        let sql = format!(
            "SELECT {TABLE}.* FROM {name} LEFT OUTER JOIN {TABLE} ON ({TABLE}.id={name}.id)"
        );
        (rows, sql)
    });
    one_after_another(size, "select_join_in", questions).before(before)
}

fn list(count: u64, item: fn(u64) -> String) -> String {
    (1..=count).map(item).collect::<Vec<_>>().join(",")
}

/// A loop over the first question, then one over the next.
fn one_after_another(
    size: &Size,
    name: &'static str,
    questions: [(u64, String); LIST_LENGTHS.len()],
) -> Operation {
    let loops = size.of(SHORT_LOOPS);
    Operation::new(
        name,
        Kind::Read,
        loops * questions.len() as u64,
        move |turn, steps| {
            let which = usize::try_from(turn.index / loops).unwrap_or(0);
            let (rows, sql) = &questions[which];
            steps.ask(*rows, format_args!("{sql}"));
        },
    )
}
