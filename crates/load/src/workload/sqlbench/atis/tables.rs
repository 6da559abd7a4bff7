//! The schema of the Air Travel Information System and rows of its shape: airports, flights and
//! fares of nine cities, most of them in a few large tables.
//!
//! The rows are our own. The tables, columns and keys are the original's, and so is the number of
//! rows of all tables together; codes are whole numbers here, while the original has two to eight
//! letters. Column values are functions of the row's number, so that the rows of every answer can
//! be computed.

use std::collections::BTreeMap;
use std::fmt::Write;

use crate::workload::sqlbench::scale::Scale;
use crate::workload::sqlbench::schema::{PREFIX, Table};

/// A column's values.
#[derive(Debug, Clone, Copy)]
pub(super) enum Values {
    /// The row's number.
    Serial,
    /// The row's number modulo so many.
    Of(u64),
    /// The number of a row of another table, all of them in turn.
    Row(&'static str),
    /// The row's number divided by so many.
    Part(u64),
    /// How often all rows of another table have been used in turn.
    Round(&'static str),
    /// Words with that many different endings.
    Words(u64),
}

/// A table's declaration: its rows at full scale, its columns, its keys.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: &'static str,
    rows: u64,
    columns: &'static [(&'static str, Values)],
    primary: &'static str,
    indexes: &'static [&'static str],
}

/// Tables with no more rows than this keep all of them at every scale: states, months, airlines.
const SMALL_ROWS: u64 = 150;

use Values::{Of, Part, Round, Row, Serial, Words};

const fn table(
    name: &'static str,
    rows: u64,
    primary: &'static str,
    columns: &'static [(&'static str, Values)],
) -> Declaration {
    Declaration {
        name,
        rows,
        columns,
        primary,
        indexes: &[],
    }
}

const fn indexed(mut table: Declaration, columns: &'static [&'static str]) -> Declaration {
    table.indexes = columns;
    table
}

#[rustfmt::skip]
pub(super) static TABLES: [Declaration; 28] = [
    table("aircraft", 133, "aircraft_code",
        &[("aircraft_code", Serial), ("aircraft_type", Words(133)), ("engines", Of(4)), ("category", Words(6)), ("wide_body", Words(2)), ("wing_span", Of(60)), ("length1", Of(70)),
          ("weight", Of(90)), ("capacity", Of(60)), ("pay_load", Of(130)), ("cruising_speed", Of(50)), ("range_miles", Of(100)), ("pressurized", Words(2))]),
    table("airline", 306, "airline_code",
        &[("airline_code", Serial), ("airline_name", Words(306)), ("notes", Words(5))]),
    table("airport", 9, "airport_code",
        &[("airport_code", Serial), ("airport_name", Words(9)), ("location", Words(9)), ("state_code", Row("state")), ("country_name", Words(2)), ("time_zone_code", Row("time_zone"))]),
    table("airport_service", 14, "city_code,airport_code",
        &[("city_code", Row("city")), ("airport_code", Row("airport")), ("miles_distant", Of(13)), ("direction", Words(8)), ("minutes_distant", Of(12))]),
    table("city", 11, "city_code",
        &[("city_code", Serial), ("city_name", Words(11)), ("state_code", Row("state")), ("country_name", Words(2)), ("time_zone_code", Row("time_zone"))]),
    table("class_of_service", 37, "class_code",
        &[("class_code", Serial), ("ranking", Of(20)), ("class_description", Words(30))]),
    table("code_description", 738, "code",
        &[("code", Serial), ("description", Words(700))]),
    table("compound_class", 149, "fare_class",
        &[("fare_class", Serial), ("base_class", Row("class_of_service")), ("class_type", Words(6)), ("premium", Words(2)), ("economy", Words(2)), ("discounted", Words(2)),
          ("night", Words(2)), ("season_fare", Words(4)), ("class_days", Words(3))]),
    table("connect_leg", 349, "connect_code,leg_number,flight_code",
        &[("connect_code", Part(2)), ("leg_number", Of(2)), ("flight_code", Row("flight"))]),
    indexed(table("fconnection", 150, "connect_code",
        &[("connect_code", Serial), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("departure_time", Of(240)), ("arrival_time", Of(260)), ("flight_days", Words(7)),
          ("stops", Of(3)), ("connections", Of(2)), ("time_elapsed", Of(200))]), &["from_airport", "to_airport"]),
    table("day_name", 7, "day_code",
        &[("day_code", Serial), ("day_name", Words(7))]),
    indexed(table("dual_carrier", 114, "main_airline,dual_airline,low_flight",
        &[("main_airline", Of(25)), ("dual_airline", Of(30)), ("low_flight", Serial), ("high_flight", Of(90)), ("fconnection_name", Words(40))]), &["main_airline"]),
    indexed(table("fare", 534, "fare_code",
        &[("fare_code", Serial), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("fare_class", Row("compound_class")),
          ("fare_airline", Row("airline")), ("restrict_code", Row("restriction")), ("one_way_cost", Of(400)), ("rnd_trip_cost", Of(500))]), &["from_airport", "to_airport"]),
    indexed(table("flight", 579, "flight_code",
        &[("flight_code", Serial), ("flight_days", Words(20)), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("departure_time", Of(240)), ("arrival_time", Of(260)), ("airline_code", Of(4)),
          ("flight_number", Of(500)), ("class_string", Words(30)), ("aircraft_code", Of(22)), ("meal_code", Of(20)), ("stops", Of(3)), ("dual_carrier", Words(2)), ("time_elapsed", Of(290))]), &["from_airport", "to_airport"]),
    table("flight_class", 1779, "flight_code,fare_class",
        &[("flight_code", Row("flight")), ("fare_class", Round("flight"))]),
    table("flight_day", 448, "day_mask,day_code",
        &[("day_mask", Part(7)), ("day_code", Of(7)), ("day_name", Words(7))]),
    table("flight_fare", 3391, "flight_code,fare_code",
        &[("flight_code", Row("flight")), ("fare_code", Serial)]),
    table("food_service", 125, "meal_code,meal_number,meal_class",
        &[("meal_code", Part(4)), ("meal_number", Of(4)), ("meal_class", Words(2)), ("meal_description", Words(4))]),
    table("ground_service", 33, "city_code,airport_code,transport_code",
        &[("city_code", Row("city")), ("airport_code", Row("airport")), ("transport_code", Row("transport")), ("ground_fare", Of(4))]),
    table("time_interval", 12, "period,begin_time",
        &[("period", Words(11)), ("begin_time", Serial), ("end_time", Of(24))]),
    table("month_name", 12, "month_number",
        &[("month_number", Serial), ("month_name", Words(12))]),
    table("restrict_carrier", 680, "restrict_code,airline_code",
        &[("restrict_code", Of(64)), ("airline_code", Part(64))]),
    table("restrict_class", 5, "restrict_code,ex_fare_class",
        &[("restrict_code", Serial), ("ex_fare_class", Of(4))]),
    table("restriction", 77, "restrict_code",
        &[("restrict_code", Serial), ("application", Words(4)), ("no_discounts", Words(5)), ("reserve_ticket", Of(9)), ("stopovers", Words(2)), ("return_min", Of(7)), ("return_max", Of(6))]),
    table("state", 63, "state_code",
        &[("state_code", Serial), ("state_name", Words(63)), ("country_name", Words(2))]),
    table("stop1", 2, "flight_code,stop_number",
        &[("flight_code", Row("flight")), ("stop_number", Serial), ("stop_flight", Row("flight"))]),
    table("time_zone", 4, "time_zone_code,time_zone_name",
        &[("time_zone_code", Serial), ("time_zone_name", Words(4))]),
    table("transport", 7, "transport_code",
        &[("transport_code", Serial), ("transport_desc", Words(7))]),
];

/// The declared tables at a scale.
#[derive(Debug, Clone, Copy)]
pub(super) struct Atis {
    pub(super) scale: Scale,
}

impl Atis {
    pub(super) fn declaration(name: &str) -> &'static Declaration {
        TABLES
            .iter()
            .find(|table| table.name == name)
            .expect("only declared tables are asked about")
    }

    pub(super) fn rows(self, name: &str) -> u64 {
        self.rows_of(Self::declaration(name))
    }

    pub(super) fn rows_of(self, table: &Declaration) -> u64 {
        if table.rows <= SMALL_ROWS {
            return table.rows;
        }
        self.scale.of(table.rows)
    }

    /// The values of all rows, by column; of a word, the number of its ending.
    pub(super) fn columns(self, name: &str) -> Columns {
        let declaration = Self::declaration(name);
        let rows = self.rows_of(declaration);
        let columns = declaration.columns.iter().map(|(column, values)| {
            let values = (0..rows).map(|row| self.value(*values, row));
            (*column, values.collect())
        });
        Columns {
            rows: usize::try_from(rows).unwrap_or(0),
            columns: columns.collect(),
        }
    }

    fn value(self, values: Values, row: u64) -> u64 {
        match values {
            Serial => row,
            Of(period) | Words(period) => row % period,
            Row(table) => row % self.rows(table),
            Part(rows) => row / rows,
            Round(table) => row / self.rows(table),
        }
    }

    /// The INSERT of one row.
    pub(super) fn insert(self, table: &Declaration, row: u64) -> String {
        let mut sql = format!("INSERT INTO {PREFIX}{} VALUES (", table.name);
        for (position, (column, values)) in table.columns.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let value = self.value(*values, row);
            // Writing to memory cannot fail.
            let _ = match values {
                Words(_) => write!(sql, "{comma}'{column} {value}'"),
                _ => write!(sql, "{comma}{value}"),
            };
        }
        sql.push(')');
        sql
    }
}

/// A table's values, by which answers are counted.
#[derive(Debug)]
pub(super) struct Columns {
    rows: usize,
    columns: BTreeMap<&'static str, Vec<u64>>,
}

impl Columns {
    pub(super) fn rows(&self) -> std::ops::Range<usize> {
        0..self.rows
    }

    pub(super) fn get(&self, column: &str, row: usize) -> u64 {
        self.columns[column][row]
    }
}

impl Declaration {
    pub(super) fn table(&self) -> Table {
        let columns = self.columns.iter().map(|(name, values)| match values {
            Words(_) => format!("{name} CHAR(30) NOT NULL"),
            _ => format!("{name} INTEGER NOT NULL"),
        });
        let table = Table::new(self.name, columns).primary_key(self.primary);
        self.indexes
            .iter()
            .fold(table, |table, columns| table.index(columns))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_as_the_original_and_no_key_twice() {
        let full = Atis { scale: Scale::FULL };
        let rows: u64 = TABLES.iter().map(|table| full.rows_of(table)).sum();
        assert_eq!(rows, 9768);
        for scale in [1.0, 0.1, 0.001] {
            let atis = Atis {
                scale: Scale::new(scale).unwrap(),
            };
            for table in &TABLES {
                let columns = atis.columns(table.name);
                let keys: std::collections::BTreeSet<Vec<u64>> = columns
                    .rows()
                    .map(|row| {
                        let parts = table.primary.split(',');
                        parts.map(|column| columns.get(column, row)).collect()
                    })
                    .collect();
                assert_eq!(
                    keys.len(),
                    columns.rows().len(),
                    "{} at {scale}",
                    table.name
                );
            }
        }
    }
}
