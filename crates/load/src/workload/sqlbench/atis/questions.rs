//! Travellers' questions: simple joins, joins over three tables, distinct values.

use std::collections::BTreeSet;

use super::tables::{Atis, Columns};
use crate::workload::sqlbench::schema::PREFIX;

/// A question and the number of rows in its answer.
pub(super) type Question = (u64, String);

/// Tables in braces get our prefix.
pub(super) fn question(rows: u64, sql: &str) -> Question {
    (rows, sql.replace('{', PREFIX).replace('}', ""))
}

pub(super) fn simple_joins(atis: Atis) -> Vec<Question> {
    let days = atis.rows("day_name");
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
            days - 3,
            "SELECT m.month_name,d.day_name FROM {month_name} m,{day_name} d \
             WHERE m.month_number=d.day_code AND d.day_code>=3",
        ),
        question(
            atis.rows("flight"),
            "SELECT f.flight_code,a.aircraft_type FROM {flight} f,{aircraft} a \
             WHERE f.aircraft_code=a.aircraft_code",
        ),
    ]
}

pub(super) fn joins(atis: Atis) -> Vec<Question> {
    let flight = atis.columns("flight");
    let known = flight.rows().filter(airline_is_there(atis, &flight));
    vec![question(
        known.count() as u64,
        "SELECT l.airline_name,a.aircraft_type FROM {aircraft} a,{airline} l,{flight} f \
         WHERE f.aircraft_code=a.aircraft_code AND f.airline_code=l.airline_code",
    )]
}

/// Flights keep the codes of their four airlines at every scale, and of small ones not all airlines are there.
fn airline_is_there(atis: Atis, flight: &Columns) -> impl Fn(&usize) -> bool {
    let airlines = atis.rows("airline");
    move |&row| flight.get("airline_code", row) < airlines
}

/// `restrict_code` alone is the first half of the key that finds a restriction's carriers.
pub(super) fn key_prefix_joins(atis: Atis) -> Vec<Question> {
    let (carrier, fare) = (atis.columns("restrict_carrier"), atis.columns("fare"));
    let airlines = atis.rows("airline");
    let found = fare.rows().flat_map(|fare_row| {
        let restriction = fare.get("restrict_code", fare_row);
        let carrier = &carrier;
        carrier.rows().filter(move |&row| {
            carrier.get("restrict_code", row) == restriction
                && carrier.get("airline_code", row) < airlines
        })
    });
    vec![question(
        found.count() as u64,
        "SELECT p.fare_code FROM {restrict_carrier} c,{airline} l,{fare} p \
         WHERE c.airline_code=l.airline_code AND p.restrict_code=c.restrict_code",
    )]
}

/// Of one column with and without a key, of whole rows, and of joins in two orders.
pub(super) fn distinct(atis: Atis) -> Vec<Question> {
    let (aircraft, flight) = (atis.columns("aircraft"), atis.columns("flight"));
    let of_flights = |columns: &[&str]| distinct_rows(&flight, columns, |_| true);
    let is_joined = airline_is_there(atis, &flight);
    let pairs = distinct_rows(&flight, &["airline_code", "aircraft_code"], |row| {
        is_joined(&row)
    });
    let all_three = |tables: &str| {
        format!(
            "SELECT DISTINCT l.airline_name,a.aircraft_type FROM {tables} \
             WHERE f.aircraft_code=a.aircraft_code AND f.airline_code=l.airline_code"
        )
    };
    vec![
        question(
            distinct_rows(&aircraft, &["category"], |_| true),
            "SELECT DISTINCT category FROM {aircraft}",
        ),
        question(
            of_flights(&["from_airport"]),
            "SELECT DISTINCT from_airport FROM {flight}",
        ),
        question(
            of_flights(&["aircraft_code"]),
            "SELECT DISTINCT aircraft_code FROM {flight}",
        ),
        question(atis.rows("fare"), "SELECT DISTINCT * FROM {fare}"),
        question(
            distinct_rows(&atis.columns("flight_fare"), &["flight_code"], |_| true),
            "SELECT DISTINCT flight_code FROM {flight_fare}",
        ),
        question(
            atis.rows("flight"),
            "SELECT DISTINCT f.flight_code,a.aircraft_type FROM {flight} f,{aircraft} a \
             WHERE f.aircraft_code=a.aircraft_code",
        ),
        question(pairs, &all_three("{aircraft} a,{airline} l,{flight} f")),
        question(pairs, &all_three("{flight} f,{aircraft} a,{airline} l")),
    ]
}

/// Number of different rows in these columns, among the rows of the table that satisfy `such`.
pub(super) fn distinct_rows(
    table: &Columns,
    columns: &[&str],
    is_such: impl Fn(usize) -> bool,
) -> u64 {
    count_different(table.rows().filter(|&row| is_such(row)).map(|row| {
        let values = columns.iter().map(|column| table.get(column, row));
        values.collect::<Vec<_>>()
    }))
}

pub(super) fn count_different<T: Ord>(rows: impl Iterator<Item = T>) -> u64 {
    rows.collect::<BTreeSet<_>>().len() as u64
}
