//! Rows found by statements that are prepared each time, and by one that is prepared once.

use super::{Size, TABLE};
use crate::driver::{Dialect, Kind};
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

pub(super) fn operations(plan: &Plan, size: &Size) -> [Operation; 2] {
    let dialect = plan.dialect();
    let each_time = size.clone();
    let prepared = Operation::new("prepared_select", Kind::Read, size.part, {
        move |turn, steps| {
            let id = each_time.part + each_time.any(turn.index);
            let select = format!("SELECT * FROM {TABLE} WHERE id={id}");
            match dialect {
                Dialect::Postgres => {
                    steps.aside(&format!("PREPARE q AS {select}"));
                    steps.ask(1, format_args!("EXECUTE q"));
                    steps.aside("DEALLOCATE q");
                }
                // DBD::mysql, which the original uses, only substitutes: the server sees one plain
                // statement. In SQLite each is prepared, used and given up again.
                Dialect::Mysql | Dialect::Sqlite => steps.ask(1, format_args!("{select}")),
            }
        }
    });
    let once = size.clone();
    let once_prepared = Operation::new(
        "once_prepared_select",
        Kind::Read,
        size.part,
        move |turn, steps| steps.execute(1, (once.part + once.any(turn.index)).cast_signed()),
    );
    [
        prepared,
        once_prepared.prepares(format!("SELECT * FROM {TABLE} WHERE id=?")),
    ]
}
