//! Travellers' questions about groups: 28 queries. The original has a 29th, with the function IF;
//! its count shows that one is left out, and we take it to be this one.

use super::questions::{Question, count_different, distinct_rows, question};
use super::tables::{Atis, Columns};
use crate::driver::Dialect;

pub(super) fn groups(atis: Atis, dialect: Dialect) -> Vec<Question> {
    let mut questions = of_days(atis);
    questions.extend(whole_tables(dialect));
    questions.extend(small_groups(atis, dialect));
    questions.extend(of_flights(atis));
    questions.extend(of_time_zones(atis));
    questions.extend(of_airports(atis));
    questions.push(of_fares(atis));
    questions.push(of_jets(atis));
    questions
}

fn of_days(atis: Atis) -> Vec<Question> {
    let days = distinct_rows(&atis.columns("flight_day"), &["day_code"], |_| true);
    let of_days = "FROM {flight_day} f,{day_name} d WHERE d.day_code=f.day_code GROUP BY";
    vec![
        question(
            days,
            &format!(
                "SELECT d.day_name,d.day_code,COUNT(*) {of_days} d.day_name,d.day_code ORDER BY d.day_code"
            ),
        ),
        question(
            days,
            &format!("SELECT d.day_name,COUNT(*) {of_days} d.day_name"),
        ),
        question(
            atis.rows("day_name") - 3,
            "SELECT month_name,day_name FROM {month_name},{day_name} \
             WHERE month_number=day_code AND day_code>2 GROUP BY month_name,day_name",
        ),
        question(
            days,
            &format!(
                "SELECT d.day_name,f.day_code,COUNT(*) {of_days} f.day_code,d.day_name ORDER BY f.day_code"
            ),
        ),
    ]
}

/// Without groups: one row each.
fn whole_tables(dialect: Dialect) -> Vec<Question> {
    // SQLite has no standard deviation, but what it is worked out from.
    let deviation = match dialect {
        Dialect::Mysql => "STD(engines)",
        Dialect::Postgres => "STDDEV_POP(engines)",
        Dialect::Sqlite => "AVG(engines*engines)-AVG(engines)*AVG(engines)",
    };
    let deviation = format!("{deviation} FROM {{aircraft}}");
    [
        "SUM(engines) FROM {aircraft}",
        "AVG(engines) FROM {aircraft}",
        "AVG(engines) FROM {aircraft} WHERE engines>0",
        "COUNT(*),MIN(pay_load),MAX(pay_load) FROM {aircraft} WHERE pay_load>0",
        "MIN(flight_code),MIN(flight_code) FROM {flight}",
        "MIN(from_airport),MIN(to_airport) FROM {flight}",
        "COUNT(*) FROM {aircraft} WHERE pay_load>60",
        "COUNT(*) FROM {aircraft} WHERE pay_load<>0",
        "COUNT(*) FROM {flight} WHERE flight_code>=450",
        &deviation,
    ]
    .map(|asked| question(1, &format!("SELECT {asked}")))
    .into()
}

fn small_groups(atis: Atis, dialect: Dialect) -> Vec<Question> {
    let (flight, ground) = (atis.columns("flight"), atis.columns("ground_service"));
    let pair = |row| flight.get("from_airport", row) == 1 && flight.get("to_airport", row) == 2;
    let categories = frequent_categories(&atis.columns("aircraft"));
    // PostgreSQL knows no alias in HAVING.
    let alias = match dialect {
        Dialect::Postgres => "COUNT(*)",
        Dialect::Mysql | Dialect::Sqlite => "totalnr",
    };
    vec![
        question(
            distinct_rows(&flight, &["from_airport", "to_airport"], pair),
            "SELECT from_airport,to_airport,AVG(time_elapsed) FROM {flight} \
             WHERE from_airport=1 AND to_airport=2 GROUP BY from_airport,to_airport",
        ),
        question(
            distinct_rows(&ground, &["city_code"], |row| {
                ground.get("ground_fare", row) != 0
            }),
            "SELECT city_code,AVG(ground_fare) FROM {ground_service} WHERE ground_fare<>0 GROUP BY city_code",
        ),
        question(
            distinct_rows(&ground, &["city_code"], |_| true),
            "SELECT COUNT(*),g.city_code FROM {ground_service} g GROUP BY g.city_code",
        ),
        question(
            categories,
            &format!(
                "SELECT category,COUNT(*) AS totalnr FROM {{aircraft}} WHERE engines=2 \
                 GROUP BY category HAVING {alias}>4"
            ),
        ),
        question(
            categories,
            "SELECT category,COUNT(*) FROM {aircraft} WHERE engines=2 GROUP BY category HAVING COUNT(*)>4",
        ),
    ]
}

/// Categories with more than four aircraft of two engines.
fn frequent_categories(aircraft: &Columns) -> u64 {
    let with_two = |category| {
        let such = aircraft.rows().filter(|&row| {
            aircraft.get("engines", row) == 2 && aircraft.get("category", row) == category
        });
        such.count()
    };
    (0..6).filter(|&category| with_two(category) > 4).count() as u64
}

/// The value of an aircraft's column, found by its code.
fn of_aircraft(aircraft: &Columns, flight: &Columns, column: &str, row: usize) -> u64 {
    let code = flight.get("aircraft_code", row);
    aircraft.get(column, usize::try_from(code).unwrap_or(0))
}

fn of_flights(atis: Atis) -> Vec<Question> {
    let (flight, aircraft) = (atis.columns("flight"), atis.columns("aircraft"));
    let class = atis.columns("flight_class");
    let range = |row| of_aircraft(&aircraft, &flight, "range_miles", row);
    let classes = class.rows().filter_map(|row| {
        let code = usize::try_from(class.get("flight_code", row)).unwrap_or(0);
        let is_such = range(code) != 0 && [1, 2].contains(&flight.get("stops", code));
        let number = flight.get("flight_number", code);
        is_such.then(|| (number, range(code), class.get("fare_class", row)))
    });
    let routes = flight.rows().filter_map(|row| {
        let [from, to, elapsed] =
            ["from_airport", "to_airport", "time_elapsed"].map(|column| flight.get(column, row));
        let is_such = from != to && range(row) != 0 && elapsed != 0;
        is_such.then(|| (from, to, range(row), elapsed))
    });
    vec![
        question(
            count_different(classes),
            "SELECT f.flight_number,a.range_miles,c.fare_class FROM {aircraft} a,{flight} f,{flight_class} c \
             WHERE f.flight_code=c.flight_code AND f.aircraft_code=a.aircraft_code AND a.range_miles<>0 \
             AND (f.stops=1 OR f.stops=2) GROUP BY f.flight_number,a.range_miles,c.fare_class",
        ),
        question(
            count_different(routes),
            "SELECT f.from_airport,f.to_airport,a.range_miles,f.time_elapsed FROM {aircraft} a,{flight} f \
             WHERE a.aircraft_code=f.aircraft_code AND f.to_airport<>f.from_airport AND a.range_miles<>0 \
             AND f.time_elapsed<>0 GROUP BY f.from_airport,f.to_airport,a.range_miles,f.time_elapsed",
        ),
    ]
}

/// Hours and minutes, of which the latter are the last two digits, as minutes.
const ARRIVAL_MIN: &str = "((f.arrival_time-f.arrival_time%100)/100*60+f.arrival_time%100)";
const DEPARTURE_MIN: &str = "((f.departure_time-f.departure_time%100)/100*60+f.departure_time%100)";

/// If a flight seems to take this many hours longer than it does, that is the difference of time
/// zones; the second time within half a day.
fn of_time_zones(atis: Atis) -> Vec<Question> {
    let (flight, airport) = (atis.columns("flight"), atis.columns("airport"));
    let zone = |column, row| {
        let code = usize::try_from(flight.get(column, row)).unwrap_or(0);
        airport.get("time_zone_code", code)
    };
    let minutes = |column, row| {
        let time = flight.get(column, row).cast_signed();
        time / 100 * 60 + time % 100
    };
    let difference = |row| {
        let flown = minutes("arrival_time", row) - minutes("departure_time", row);
        flown - flight.get("time_elapsed", row).cast_signed()
    };
    let zones = |row| (zone("from_airport", row), zone("to_airport", row));
    let all = flight.rows().map(|row| (zones(row), difference(row)));
    let in_half_a_day = flight.rows().filter_map(|row| {
        let shifted = (difference(row) + 36 * 60) % (24 * 60);
        (shifted < 22 * 60).then(|| (zones(row), shifted))
    });
    let columns = "SELECT DISTINCT b.time_zone_code AS from_zone,e.time_zone_code AS to_zone";
    let joined = "FROM {flight} f,{airport} b,{airport} e \
                  WHERE f.from_airport=b.airport_code AND f.to_airport=e.airport_code";
    let difference_min = format!("({ARRIVAL_MIN}-{DEPARTURE_MIN}-f.time_elapsed)");
    let shifted_h = format!("({difference_min}+2160)%1440/60.0-12");
    vec![
        question(
            count_different(all),
            &format!(
                "{columns},{difference_min}/60.0 AS time_zone_diff {joined} \
                 GROUP BY b.time_zone_code,e.time_zone_code,f.arrival_time,f.departure_time,f.time_elapsed"
            ),
        ),
        question(
            count_different(in_half_a_day),
            &format!("{columns},{shifted_h} AS time_zone_diff {joined} AND {shifted_h}<10"),
        ),
    ]
}

/// Four tables by all that they share; in order, backwards, and in order again.
fn of_airports(atis: Atis) -> Vec<Question> {
    let (airport, city) = (atis.columns("airport"), atis.columns("city"));
    let (state, service) = (atis.columns("state"), atis.columns("airport_service"));
    let found = service.rows().filter_map(|row| {
        let [c, a] = ["city_code", "airport_code"]
            .map(|column| usize::try_from(service.get(column, row)).unwrap_or(0));
        let s = airport.get("state_code", a);
        let country = airport.get("country_name", a);
        let is_such = city.get("state_code", c) == s
            && city.get("country_name", c) == country
            && state.get("country_name", usize::try_from(s).unwrap_or(0)) == country
            && city.get("time_zone_code", c) == airport.get("time_zone_code", a);
        is_such.then(|| (country, s, c, service.get("direction", row)))
    });
    let found = count_different(found);
    ["", " DESC", ""]
        .map(|order| {
            question(
                found,
                &format!(
                    "SELECT a.country_name,s.state_name,c.city_name,p.direction \
                     FROM {{airport_service}} p,{{state}} s,{{airport}} a,{{city}} c \
                     WHERE p.city_code=c.city_code AND p.airport_code=a.airport_code \
                     AND s.state_code=a.state_code AND s.state_code=c.state_code AND a.state_code=c.state_code \
                     AND a.country_name=c.country_name AND a.country_name=s.country_name \
                     AND c.time_zone_code=a.time_zone_code \
                     GROUP BY a.country_name,s.state_name,c.city_name,p.direction ORDER BY s.state_name{order}"
                ),
            )
        })
        .into()
}

fn of_fares(atis: Atis) -> Question {
    let fare = atis.columns("fare");
    let is_such = |row| {
        fare.get("from_airport", row) == 2
            && fare.get("to_airport", row) == 6
            && (50..=350).contains(&fare.get("one_way_cost", row))
    };
    // The surcharge of a class depends on the class alone.
    let columns = ["fare_class", "one_way_cost", "rnd_trip_cost"];
    let grouped = "f.from_airport,f.to_airport,f.fare_class,c.night,f.one_way_cost,f.rnd_trip_cost,c.class_days";
    question(
        distinct_rows(&fare, &columns, is_such),
        &format!(
            "SELECT {grouped} FROM {{compound_class}} c,{{fare}} f \
             WHERE c.fare_class=f.fare_class AND f.one_way_cost<=350 AND f.one_way_cost>=50 \
             AND f.from_airport=2 AND f.to_airport=6 GROUP BY {grouped} ORDER BY f.one_way_cost"
        ),
    )
}

fn of_jets(atis: Atis) -> Question {
    let (flight, aircraft) = (atis.columns("flight"), atis.columns("aircraft"));
    let found = flight.rows().filter_map(|row| {
        let [engines, category, speed] = ["engines", "category", "cruising_speed"]
            .map(|column| of_aircraft(&aircraft, &flight, column, row));
        let (from, to) = (
            flight.get("from_airport", row),
            flight.get("to_airport", row),
        );
        let is_such = category == 3 && engines >= 1 && from != to && flight.get("stops", row) > 0;
        is_such.then_some((engines, speed, from, to))
    });
    let grouped = "a.engines,a.category,a.cruising_speed,f.from_airport,f.to_airport";
    question(
        count_different(found),
        &format!(
            "SELECT {grouped} FROM {{aircraft}} a,{{flight}} f WHERE a.category='category 3' AND a.engines>=1 \
             AND a.aircraft_code=f.aircraft_code AND f.to_airport<>f.from_airport AND f.stops>0 \
             GROUP BY {grouped} ORDER BY a.engines DESC"
        ),
    )
}
