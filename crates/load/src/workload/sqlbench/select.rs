//! select: ranges, extremes, counts and groups over one table of 10,000 rows with three keys.

use super::operation::Operation;
use super::schema::Table;
use super::{Plan, Test, TestName};
use crate::driver::Kind;

const TABLE: &str = "sqlbench_bench1";
const ROWS: u64 = 10_000;
const REGIONS: u64 = 6;
const GROUPS: u64 = 100;
/// Row i lies in region i mod 6 and group i mod 100: so many pairs of both come up.
const PAIRS: u64 = 300;
const LONG_LOOPS: u64 = 10_000;
const LOOPS: u64 = 1000;
const SHORT_LOOPS: u64 = 10;
const BIG_COUNTS: u64 = 100;
/// Different ranges asked for.
const RANGES: u64 = 41;

pub(super) fn test(plan: &Plan) -> Test {
    let rows = plan.scale.of(ROWS);
    let table = Table::new(
        "bench1",
        [
            "region CHAR(1) NOT NULL",
            "idn INTEGER NOT NULL",
            "rev_idn INTEGER NOT NULL",
            "grp INTEGER NOT NULL",
        ],
    )
    .primary_key("region,idn")
    .unique("region,rev_idn")
    .unique("region,grp,idn");
    let insert = Operation::new("insert", Kind::Write, rows, move |turn, steps| {
        let idn = turn.index;
        let (region, rev_idn, grp) = (letter(idn % REGIONS), rows - 1 - idn, idn % GROUPS);
        steps.change(
            1,
            format_args!("INSERT INTO {TABLE} VALUES ('{region}',{idn},{rev_idn},{grp})"),
        );
    });
    let mut operations = vec![insert.before(table.create(&plan.maker))];
    operations.extend(cached(plan, rows));
    operations.extend(ranges(plan, rows));
    operations.extend(on_keys(plan, rows));
    operations.extend(groups(plan, rows));
    Test {
        name: TestName::Select,
        operations,
    }
}

fn letter(region: u64) -> char {
    char::from(b'A' + u8::try_from(region).unwrap_or(0))
}

/// Rows below `end` whose number leaves this remainder.
fn rows_in_region(region: u64, end: u64) -> u64 {
    (end + REGIONS - 1 - region) / REGIONS
}

/// A question that reads the whole table: always the same, and never the same twice. What a query
/// cache saves is the difference.
fn cached(plan: &Plan, rows: u64) -> [Operation; 2] {
    let loops = plan.scale.of(LONG_LOOPS);
    let question = |bound| format!("SELECT COUNT(*) FROM {TABLE} WHERE idn>{bound} AND rev_idn>=0");
    let same = question(rows / 2);
    [
        Operation::query("select_cache", loops, 1, &same),
        Operation::new("select_cache2", Kind::Read, loops, move |turn, steps| {
            steps.ask(1, format_args!("{}", question(turn.index)));
        }),
    ]
}

fn ranges(plan: &Plan, rows: u64) -> [Operation; 2] {
    let loops = plan.scale.of(SHORT_LOOPS);
    let half = rows / 2;
    let from_c = rows - rows_in_region(0, rows) - rows_in_region(1, rows);
    let columns = "SELECT region,idn,rev_idn,grp";
    let big = [
        (rows, String::new()),
        (half, format!("WHERE idn<{half}")),
        (rows - half, format!("WHERE rev_idn<{}", rows - half)),
        (from_c, "WHERE region>='C'".to_owned()),
        (
            rows_in_region(0, rows) + rows_in_region(1, rows),
            "WHERE region IN ('A','B')".to_owned(),
        ),
        (rows, "ORDER BY region,idn".to_owned()),
        (rows, "ORDER BY idn".to_owned()),
    ];
    let big = big.map(|(rows, end)| (rows, format!("{columns} FROM {TABLE} {end}")));
    let narrow = (0..RANGES).map(|number| {
        let region = number % REGIONS;
        let from = number * rows / (2 * RANGES);
        let to = from + rows / 10;
        let found = rows_in_region(region, to) - rows_in_region(region, from);
        let letter = letter(region);
        let sql =
            format!("{columns} FROM {TABLE} WHERE region='{letter}' AND idn>={from} AND idn<{to}");
        (found, sql)
    });
    [
        Operation::rounds("select_big", loops, big.into()),
        Operation::rounds("select_range", loops, narrow.collect()),
    ]
}

fn on_keys(plan: &Plan, rows: u64) -> [Operation; 2] {
    let loops = plan.scale.of(LONG_LOOPS);
    let middle = rows / 2;
    let one_row = |questions: &[String]| {
        questions
            .iter()
            .map(|question| (1, format!("SELECT {question}")))
            .collect()
    };
    let extremes = [
        format!("MAX(idn) FROM {TABLE} WHERE region='A'"),
        format!("MIN(idn) FROM {TABLE} WHERE region='B'"),
        format!("MAX(rev_idn) FROM {TABLE} WHERE region='C'"),
        format!("MIN(rev_idn),MAX(rev_idn) FROM {TABLE} WHERE region='D'"),
        format!("MAX(grp) FROM {TABLE} WHERE region='E'"),
        format!("MIN(region) FROM {TABLE}"),
        format!("MAX(idn) FROM {TABLE} WHERE region='A' AND idn<{middle}"),
    ];
    let counts = [
        format!("COUNT(*) FROM {TABLE} WHERE region='A'"),
        format!("COUNT(*) FROM {TABLE} WHERE region>='B' AND region<='D'"),
        format!("COUNT(*) FROM {TABLE} WHERE region='C' AND idn>={middle}"),
        format!("COUNT(*) FROM {TABLE} WHERE region='D' AND rev_idn<{middle}"),
        format!("COUNT(*) FROM {TABLE} WHERE region='E' AND grp<50"),
    ];
    [
        Operation::rounds("min_max_on_key", loops, one_row(&extremes)),
        Operation::rounds("count_on_key", loops, one_row(&counts)),
    ]
}

fn groups(plan: &Plan, rows: u64) -> [Operation; 8] {
    let loops = plan.scale.of(LOOPS);
    let (groups, pairs) = (GROUPS.min(rows), PAIRS.min(rows));
    let regions = REGIONS.min(rows);
    let query = |name, rows, columns: &str, end: &str| {
        let sql = format!("SELECT {columns} FROM {TABLE}{end}");
        Operation::query(name, loops, rows, &sql)
    };
    [
        query(
            "count_group_on_key_parts",
            pairs,
            "region,grp,COUNT(*)",
            " GROUP BY region,grp",
        ),
        query("count_distinct_key_prefix", 1, "COUNT(DISTINCT region)", ""),
        query("count_distinct", 1, "COUNT(DISTINCT grp)", ""),
        query(
            "count_distinct_2",
            1,
            "COUNT(DISTINCT grp),COUNT(DISTINCT rev_idn)",
            "",
        ),
        query(
            "count_distinct_group_on_key",
            regions,
            "region,COUNT(DISTINCT idn)",
            " GROUP BY region",
        ),
        query(
            "count_distinct_group_on_key_parts",
            pairs,
            "region,grp,COUNT(DISTINCT idn)",
            " GROUP BY region,grp",
        ),
        query(
            "count_distinct_group",
            groups,
            "grp,COUNT(DISTINCT idn)",
            " GROUP BY grp",
        ),
        Operation::query(
            "count_distinct_big",
            plan.scale.of(BIG_COUNTS),
            rows,
            &format!("SELECT idn,COUNT(DISTINCT region) FROM {TABLE} GROUP BY idn"),
        ),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regions_are_counted_as_the_rows_fall() {
        for end in 0..40 {
            for region in 0..REGIONS {
                let counted = (0..end).filter(|row| row % REGIONS == region).count();
                assert_eq!(rows_in_region(region, end), counted as u64);
            }
        }
    }
}
