//! The schema of the Air Travel Information System and rows of its shape: airports, flights and
//! fares of nine cities, most of them in a few large tables.
//!
//! The rows are our own; what matters of the original's is how many there are, which columns are
//! keys, and how many different values a column has. Column values are functions of the row's
//! number, so that the rows of every answer can be worked out.

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
    /// Words with so many different endings.
    Words(u64),
}

/// A table's declaration: its rows at full scale, its columns, its keys.
#[derive(Debug)]
pub(super) struct Declaration {
    pub(super) name: &'static str,
    rows: u64,
    columns: &'static [(&'static str, Values)],
    primary: &'static str,
    index: Option<&'static str>,
}

/// Tables with no more rows than this keep all of them at every scale: states, months, airlines.
const SMALL_ROWS: u64 = 150;

use Values::{Of, Row, Serial, Words};

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
        index: None,
    }
}

const fn indexed(mut table: Declaration, columns: &'static str) -> Declaration {
    table.index = Some(columns);
    table
}

#[rustfmt::skip]
pub(super) static TABLES: [Declaration; 29] = [
    table("city", 11, "city_code",
        &[("city_code", Serial), ("city_name", Words(11)), ("state_code", Row("state")), ("time_zone_code", Row("time_zone"))]),
    table("state", 11, "state_code",
        &[("state_code", Serial), ("state_name", Words(11)), ("country_name", Words(2))]),
    table("fare", 534, "fare_code",
        &[("fare_code", Serial), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("fare_class", Row("class_of_service")),
          ("fare_airline", Row("airline")), ("restrict_code", Row("restriction")), ("one_way_cost", Of(400)), ("rnd_trip_cost", Of(500))]),
    table("airline", 46, "airline_code",
        &[("airline_code", Serial), ("airline_name", Words(46)), ("notes", Words(5))]),
    table("time_zone", 4, "time_zone_code",
        &[("time_zone_code", Serial), ("time_zone_name", Words(4))]),
    table("aircraft", 133, "aircraft_code",
        &[("aircraft_code", Serial), ("aircraft_type", Words(133)), ("engines", Of(4)), ("category", Words(6)), ("wide_body", Of(2)), ("capacity", Of(60)), ("weight", Of(90))]),
    indexed(table("airport", 9, "airport_code",
        &[("airport_code", Serial), ("airport_name", Words(9)), ("location", Row("city")), ("state_code", Row("state")), ("time_zone_code", Row("time_zone"))]), "location"),
    table("airport_service", 14, "city_code,airport_code",
        &[("city_code", Serial), ("airport_code", Row("airport")), ("miles_distant", Of(13)), ("direction", Words(8)), ("minutes_distant", Of(12))]),
    table("food_service", 13, "meal_code",
        &[("meal_code", Serial), ("meal_number", Of(4)), ("meal_class", Words(3)), ("meal_description", Words(5))]),
    table("ground_service", 13, "city_code,airport_code,transport_code",
        &[("city_code", Serial), ("airport_code", Row("airport")), ("transport_code", Row("transport")), ("ground_fare", Of(11))]),
    table("time_interval", 81, "period,begin_time",
        &[("period", Serial), ("begin_time", Of(24)), ("end_time", Of(24))]),
    table("month_name", 12, "month_number",
        &[("month_number", Serial), ("month_name", Words(12))]),
    table("restrict_carrier", 51, "restrict_code,airline_code",
        &[("restrict_code", Serial), ("airline_code", Row("airline"))]),
    table("restrict_class", 5, "restrict_code,ex_fare_class",
        &[("restrict_code", Serial), ("ex_fare_class", Of(4))]),
    table("restriction", 77, "restrict_code",
        &[("restrict_code", Serial), ("application", Words(4)), ("no_discounts", Words(5)), ("reserve_ticket", Of(9)), ("stopovers", Words(2)), ("return_min", Of(7)), ("return_max", Of(6))]),
    table("class_of_service", 37, "class_code",
        &[("class_code", Serial), ("ranking", Of(20)), ("class_description", Words(30))]),
    table("code_description", 738, "code",
        &[("code", Serial), ("description", Words(700))]),
    table("compound_class", 61, "fare_class",
        &[("fare_class", Serial), ("base_class", Row("class_of_service")), ("class_type", Words(3)), ("premium", Words(2)), ("economy", Words(2)), ("discounted", Of(2)), ("night", Of(2)), ("season_fare", Words(3)), ("class_days", Words(4))]),
    table("connect_leg", 6, "connect_code,leg_number",
        &[("connect_code", Serial), ("leg_number", Of(2)), ("flight_code", Row("flight"))]),
    indexed(table("fconnection", 4, "connect_code",
        &[("connect_code", Serial), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("departure_time", Of(24)), ("arrival_time", Of(24)), ("flight_days", Words(7)), ("stops", Of(3)), ("connections", Of(2))]), "from_airport,to_airport"),
    table("date_day", 731, "day_number,month_number,year_number",
        &[("day_number", Of(31)), ("month_number", Serial), ("year_number", Of(2)), ("day_code", Row("day_name"))]),
    table("day_name", 7, "day_code",
        &[("day_code", Serial), ("day_name", Words(7))]),
    table("dual_carrier", 109, "main_airline,dual_airline,low_flight",
        &[("main_airline", Row("airline")), ("dual_airline", Of(30)), ("low_flight", Serial), ("high_flight", Of(90))]),
    indexed(table("flight", 579, "flight_code",
        &[("flight_code", Serial), ("flight_days", Words(20)), ("from_airport", Row("airport")), ("to_airport", Of(8)), ("departure_time", Of(240)), ("arrival_time", Of(260)),
          ("airline_code", Row("airline")), ("flight_number", Of(500)), ("aircraft_code", Row("aircraft")), ("meal_code", Row("food_service")), ("stops", Of(3))]), "from_airport,to_airport"),
    table("flight_class", 2998, "flight_code,fare_class",
        &[("flight_code", Row("flight")), ("fare_class", Serial)]),
    table("flight_day", 84, "day_mask,day_code",
        &[("day_mask", Serial), ("day_code", Row("day_name"))]),
    table("flight_fare", 3391, "flight_code,fare_code",
        &[("flight_code", Row("flight")), ("fare_code", Serial)]),
    indexed(table("stop", 2, "flight_code,stop_number",
        &[("flight_code", Row("flight")), ("stop_number", Serial), ("stop_airport", Row("airport"))]), "stop_airport"),
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

    /// How many different values a column has.
    pub(super) fn distinct(self, name: &str, column: &str) -> u64 {
        let declaration = Self::declaration(name);
        let (_, values) = declaration
            .columns
            .iter()
            .find(|(known, _)| *known == column)
            .expect("only declared columns are asked about");
        let rows = self.rows_of(declaration);
        self.period(*values).map_or(rows, |period| period.min(rows))
    }

    /// After how many rows a column's values come again; `None`: never.
    fn period(self, values: Values) -> Option<u64> {
        match values {
            Serial => None,
            Of(period) | Words(period) => Some(period),
            Row(table) => Some(self.rows(table)),
        }
    }

    /// The INSERT of one row.
    pub(super) fn insert(self, table: &Declaration, row: u64) -> String {
        let mut sql = format!("INSERT INTO {PREFIX}{} VALUES (", table.name);
        for (position, (column, values)) in table.columns.iter().enumerate() {
            let comma = if position == 0 { "" } else { "," };
            let value = self.period(*values).map_or(row, |period| row % period);
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

impl Declaration {
    pub(super) fn table(&self) -> Table {
        let columns = self.columns.iter().map(|(name, values)| match values {
            Words(_) => format!("{name} CHAR(30) NOT NULL"),
            _ => format!("{name} INTEGER NOT NULL"),
        });
        let table = Table::new(self.name, columns).primary_key(self.primary);
        match self.index {
            Some(columns) => table.index(columns),
            None => table,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn as_many_rows_as_the_original_and_columns_that_lead_somewhere() {
        let atis = Atis { scale: Scale::FULL };
        let rows: u64 = TABLES.iter().map(|table| atis.rows_of(table)).sum();
        assert_eq!(rows, 9768);
        for table in &TABLES {
            for key in table.primary.split(',') {
                assert!(atis.distinct(table.name, key) > 0, "{}.{key}", table.name);
            }
        }
    }
}
