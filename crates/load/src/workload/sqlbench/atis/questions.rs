//! What travellers ask: simple joins, joins over three tables, distinct values, groups.

use super::tables::Atis;
use crate::workload::sqlbench::schema::PREFIX;

/// A question and the number of rows in its answer.
pub(super) type Question = (u64, String);

/// Tables in braces get our prefix.
fn question(rows: u64, sql: &str) -> Question {
    (rows, sql.replace('{', PREFIX).replace('}', ""))
}

pub(super) fn simple_joins(atis: Atis) -> Vec<Question> {
    let (months, days) = (atis.rows("month_name"), atis.rows("day_name"));
    // Pairs with month >= day, both counted from 0: of the first `days` months one more each time.
    let not_before = days * (days + 1) / 2 + (months - days) * days;
    vec![
        question(
            1,
            "SELECT c.city_name,s.state_name,c.city_code FROM {city} c,{state} s \
             WHERE c.city_code=5 AND c.state_code=s.state_code",
        ),
        question(
            atis.rows("city"),
            "SELECT c.city_name,s.state_name,c.city_code FROM {state} s,{city} c \
             WHERE c.state_code=s.state_code",
        ),
        question(
            days,
            "SELECT m.month_name,d.day_name FROM {month_name} m,{day_name} d \
             WHERE m.month_number=d.day_code",
        ),
        question(
            not_before,
            "SELECT m.month_name,d.day_name FROM {day_name} d,{month_name} m \
             WHERE m.month_number>=d.day_code",
        ),
        question(
            atis.rows("flight"),
            "SELECT f.flight_code,a.aircraft_type FROM {flight} f,{aircraft} a \
             WHERE f.aircraft_code=a.aircraft_code",
        ),
    ]
}

pub(super) fn joins(atis: Atis) -> Vec<Question> {
    vec![question(
        atis.rows("flight"),
        "SELECT l.airline_name,a.aircraft_type FROM {aircraft} a,{airline} l,{flight} f \
         WHERE f.aircraft_code=a.aircraft_code AND f.airline_code=l.airline_code",
    )]
}

/// `flight_code` alone is the first half of the key that finds a flight's fares.
pub(super) fn key_prefix_joins(atis: Atis) -> Vec<Question> {
    vec![question(
        atis.rows("flight_fare"),
        "SELECT l.airline_name,p.fare_code FROM {airline} l,{flight} f,{flight_fare} p \
         WHERE l.airline_code=f.airline_code AND f.flight_code=p.flight_code",
    )]
}

pub(super) fn distinct(atis: Atis) -> Vec<Question> {
    [
        ("aircraft", "category"),
        ("fare", "from_airport"),
        ("flight", "aircraft_code"),
        ("flight", "departure_time"),
        ("flight_class", "flight_code"),
        ("flight_fare", "fare_code"),
        ("restriction", "application"),
        ("code_description", "description"),
    ]
    .map(|(table, column)| {
        question(
            atis.distinct(table, column),
            &format!("SELECT DISTINCT {column} FROM {{{table}}}"),
        )
    })
    .into()
}

/// Groups by the columns that divide the tables, and counts without groups.
pub(super) fn groups(atis: Atis) -> Vec<Question> {
    const GROUPED: [(&str, &str, &str); 24] = [
        ("aircraft", "category", "COUNT(*)"),
        ("aircraft", "engines", "MIN(capacity),MAX(capacity)"),
        ("aircraft", "wide_body", "AVG(weight)"),
        ("airport", "state_code", "COUNT(*)"),
        ("airport_service", "direction", "MIN(miles_distant)"),
        ("city", "time_zone_code", "COUNT(*)"),
        ("state", "country_name", "COUNT(*)"),
        ("class_of_service", "ranking", "COUNT(*)"),
        ("compound_class", "class_type", "COUNT(*)"),
        ("compound_class", "base_class", "COUNT(*)"),
        ("date_day", "day_code", "COUNT(*)"),
        ("date_day", "day_number", "MIN(month_number)"),
        ("dual_carrier", "main_airline", "COUNT(*)"),
        ("fare", "from_airport", "AVG(one_way_cost)"),
        ("fare", "fare_airline", "MAX(rnd_trip_cost)"),
        ("fare", "restrict_code", "COUNT(*)"),
        ("flight", "airline_code", "COUNT(*)"),
        ("flight", "from_airport", "MIN(departure_time)"),
        ("flight", "stops", "COUNT(*)"),
        ("flight", "aircraft_code", "COUNT(*)"),
        ("flight_class", "flight_code", "COUNT(*)"),
        ("flight_day", "day_code", "COUNT(*)"),
        ("flight_fare", "flight_code", "COUNT(*)"),
        ("food_service", "meal_class", "COUNT(*)"),
    ];
    const COUNTED: [&str; 4] = ["flight", "fare", "flight_class", "code_description"];
    let grouped = GROUPED.map(|(table, column, functions)| {
        question(
            atis.distinct(table, column),
            &format!("SELECT {column},{functions} FROM {{{table}}} GROUP BY {column}"),
        )
    });
    let counted = COUNTED.map(|table| question(1, &format!("SELECT COUNT(*) FROM {{{table}}}")));
    grouped.into_iter().chain(counted).collect()
}
