//! Groups, and counts of different values, over the whole table.

use super::rows::{GROUPS, REGIONS};
use super::{LOOPS, TABLE};
use crate::workload::sqlbench::Plan;
use crate::workload::sqlbench::operation::Operation;

const BIG_COUNTS: u64 = 100;

pub(super) fn operations(plan: &Plan, rows: u64) -> [Operation; 8] {
    let (regions, groups) = (REGIONS.min(rows), GROUPS.min(rows));
    let query = |name, loops, rows, columns: &str, end: &str| {
        let sql = format!("SELECT {columns} FROM {TABLE}{end}");
        Operation::query(name, plan.scale.of(loops), rows, &sql)
    };
    let by_group = " GROUP BY grp";
    [
        query(
            "count_group_on_key_parts",
            LOOPS,
            groups,
            "grp,COUNT(*)",
            by_group,
        ),
        query(
            "count_distinct_key_prefix",
            LOOPS,
            1,
            "COUNT(DISTINCT region)",
            "",
        ),
        query("count_distinct", LOOPS, 1, "COUNT(DISTINCT grp)", ""),
        query(
            "count_distinct_2",
            LOOPS,
            1,
            "COUNT(DISTINCT grp),COUNT(DISTINCT rev_idn)",
            "",
        ),
        query(
            "count_distinct_group_on_key",
            LOOPS,
            regions,
            "region,COUNT(DISTINCT idn)",
            " GROUP BY region",
        ),
        query(
            "count_distinct_group_on_key_parts",
            LOOPS,
            groups,
            "grp,COUNT(DISTINCT idn)",
            by_group,
        ),
        query(
            "count_distinct_group",
            LOOPS,
            groups,
            "grp,COUNT(DISTINCT rev_idn)",
            by_group,
        ),
        query(
            "count_distinct_big",
            BIG_COUNTS,
            rows,
            "idn,COUNT(DISTINCT region)",
            " GROUP BY idn",
        ),
    ]
}
