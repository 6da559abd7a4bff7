//! Rows found by statements that are prepared each time, and by one that is prepared once.

use super::{ROWS, Size, TABLE};
use crate::driver::{Dialect, Kind};
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 2] {
    let dialect = plan.dialect();
    let each_time = size.clone();
    let prepared = Operation::new("prepared_select", Kind::Read, size.part, {
        move |turn, steps| {
            let id = each_time.any(turn.index);
            let select = format!("SELECT {ROWS} FROM {TABLE} WHERE id={id}");
            match dialect {
                // A name that is prepared again gives up what it stood for.
                Dialect::Mysql => {
                    steps.aside(&format!("PREPARE q FROM '{select}'"));
                    steps.ask(1, format_args!("EXECUTE q"));
                }
                Dialect::Postgres => {
                    steps.aside(&format!("PREPARE q AS {select}"));
                    steps.ask(1, format_args!("EXECUTE q"));
                    steps.aside("DEALLOCATE q");
                }
                // Each statement is prepared there, used and given up again.
                Dialect::Sqlite => steps.ask(1, format_args!("{select}")),
            }
        }
    });
    let once = size.clone();
    let once_prepared = Operation::new(
        "once_prepared_select",
        Kind::Read,
        size.part,
        move |turn, steps| steps.execute(1, once.any(turn.index).cast_signed()),
    );
    [
        prepared,
        once_prepared.prepares(format!("SELECT {ROWS} FROM {TABLE} WHERE id=?")),
    ]
}
