//! The statements: drawn once from the seed, the same in every iteration and for every client.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::table::{NAME, generated, value_columns};
use super::{LoadType, SlapOptions};
use crate::driver::{Dialect, Kind};

/// Digits and letters without the capitals U and V, which mysqlslap leaves out.
const ALPHABET: &[u8; 60] = b"0123456789ABCDEFGHIJKLMNOPQRSTWXYZabcdefghijklmnopqrstuvwxyz";
/// Bytes that mysqlslap fills, of the 128 that a text column may hold.
const TEXT_CHARACTERS: usize = 126;
/// mysqlslap's integers are those of C's `random()`.
const INT_VALUES: u64 = 1 << 31;

/// Keeps the statements that load apart from those that are timed.
const LOADING: u64 = 0x9E37_79B9_7F4A_7C15;

/// A statement of the list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Query {
    pub(super) name: &'static str,
    pub(super) kind: Kind,
    pub(super) sql: String,
    /// Whether its last parameter is a key.
    pub(super) keyed: bool,
}

/// The list that the clients go through.
pub(super) fn queries(options: &SlapOptions, dialect: Dialect) -> Vec<Query> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed);
    let asks_by_key = options.load_type.asks_by_key(options.key);
    let places = 0..=options.unique_queries;
    places
        .map(|place| match options.load_type {
            LoadType::Mixed if place % 2 == 1 => select(options, asks_by_key),
            LoadType::Read | LoadType::Key => select(options, asks_by_key),
            LoadType::Update => update(options, asks_by_key, &mut rng),
            LoadType::Mixed | LoadType::Write => Query {
                name: "insert",
                kind: Kind::Write,
                sql: insert(options, dialect, &mut rng),
                keyed: false,
            },
        })
        .collect()
}

/// The statements that load the table, repeated in order.
pub(super) fn inserts(options: &SlapOptions, dialect: Dialect) -> Vec<String> {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(options.seed.wrapping_add(LOADING));
    let different = 0..options.unique_writes.max(1);
    different
        .map(|_| insert(options, dialect, &mut rng))
        .collect()
}

fn select(options: &SlapOptions, keyed: bool) -> Query {
    Query {
        name: "select",
        kind: Kind::Read,
        sql: format!(
            "SELECT {} FROM {NAME}{}",
            value_columns(options).join(","),
            condition(keyed)
        ),
        keyed,
    }
}

fn update(options: &SlapOptions, keyed: bool, rng: &mut impl Rng) -> Query {
    let names = value_columns(options);
    let columns = names.iter().zip(values(options, rng));
    let columns: Vec<_> = columns
        .map(|(name, value)| format!("{name} = {value}"))
        .collect();
    Query {
        name: "update",
        kind: Kind::Write,
        sql: format!(
            "UPDATE {NAME} SET {}{}",
            columns.join(","),
            condition(keyed)
        ),
        keyed,
    }
}

fn condition(keyed: bool) -> &'static str {
    if keyed { " WHERE id = ?" } else { "" }
}

fn insert(options: &SlapOptions, dialect: Dialect, rng: &mut impl Rng) -> String {
    let generated = generated(options, dialect).into_iter().map(str::to_owned);
    let all: Vec<_> = generated.chain(values(options, rng)).collect();
    format!("INSERT INTO {NAME} VALUES ({})", all.join(","))
}

/// A value for each integer column, then for each text column, as literals.
fn values(options: &SlapOptions, rng: &mut impl Rng) -> Vec<String> {
    let mut values = Vec::new();
    for _ in 0..options.int_columns {
        values.push(rng.random_range(0..INT_VALUES).to_string());
    }
    for _ in 0..options.char_columns {
        values.push(format!("'{}'", text(rng)));
    }
    values
}

fn text(rng: &mut impl Rng) -> String {
    (0..TEXT_CHARACTERS)
        .map(|_| char::from(ALPHABET[rng.random_range(0..ALPHABET.len())]))
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::slap::KeyColumn;
    use crate::workload::slap::tests::options;

    fn names(load_type: LoadType) -> Vec<&'static str> {
        let options = SlapOptions {
            load_type,
            key: KeyColumn::AutoIncrement,
            ..options()
        };
        let queries = queries(&options, Dialect::Mysql);
        queries.iter().map(|query| query.name).collect()
    }

    #[test]
    fn the_list_is_one_longer_than_its_number_and_mixed_takes_turns() {
        assert_eq!(names(LoadType::Read), ["select"; 11]);
        assert_eq!(names(LoadType::Write), ["insert"; 11]);
        assert_eq!(names(LoadType::Update), ["update"; 11]);
        let mixed = names(LoadType::Mixed);
        assert_eq!(mixed.iter().filter(|name| **name == "insert").count(), 6);
        assert!(mixed.chunks(2).all(|pair| pair[0] == "insert"));
    }

    #[test]
    fn statements_as_mysqlslap_writes_them() {
        let options = SlapOptions {
            int_columns: 2,
            ..options()
        };
        let [insert, select, ..] = &queries(&options, Dialect::Mysql)[..] else {
            panic!("a list of eleven")
        };
        assert_eq!(select.sql, "SELECT intcol1,intcol2,charcol1 FROM slap_t1");
        let values = insert.sql.strip_prefix("INSERT INTO slap_t1 VALUES (");
        let values: Vec<_> = values.unwrap().trim_end_matches(')').split(',').collect();
        assert_eq!(values.len(), 3);
        assert!(values[0].parse::<i32>().unwrap() >= 0);
        assert_eq!(values[2].len(), 126 + 2);
        let keyed = SlapOptions {
            load_type: LoadType::Update,
            key: KeyColumn::Guid,
            secondary_indexes: 1,
            ..options
        };
        let update = &queries(&keyed, Dialect::Mysql)[0];
        assert!(update.keyed && update.sql.ends_with("' WHERE id = ?"));
        assert!(update.sql.starts_with("UPDATE slap_t1 SET intcol1 = "));
        let loading = &inserts(&keyed, Dialect::Mysql)[0];
        assert!(loading.starts_with("INSERT INTO slap_t1 VALUES (uuid(),uuid(),"));
    }

    #[test]
    fn a_seed_is_a_list() {
        let other = SlapOptions {
            seed: 2,
            ..options()
        };
        let all = |options: &SlapOptions| queries(options, Dialect::Sqlite);
        assert_eq!(all(&options()), all(&options()));
        assert_ne!(all(&options()), all(&other));
        let mut loading = inserts(&options(), Dialect::Mysql);
        assert!(!loading.contains(&queries(&options(), Dialect::Mysql)[0].sql));
        loading.sort();
        loading.dedup();
        assert_eq!(loading.len(), 10, "no INSERT repeats another");
    }
}
