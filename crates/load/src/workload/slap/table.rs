//! The table: its columns in each family's SQL, and what it holds when it has been loaded.

use super::{KeyColumn, SlapOptions};
use crate::driver::{Admin, Dialect, Fault};

/// mysqlslap's `t1`, in the database of the URL and under a name that is no one else's.
pub const NAME: &str = "slap_t1";

/// The table's definition. mysqlslap's `serial` is MySQL's: a number of 64 bits with a unique
/// index, which is not called the primary key.
pub(super) fn definition(options: &SlapOptions, dialect: Dialect) -> String {
    let mut columns = Vec::new();
    match (options.key, dialect) {
        (KeyColumn::None, _) => {}
        (KeyColumn::AutoIncrement, Dialect::Mysql) => columns.push("id serial".to_owned()),
        (KeyColumn::AutoIncrement, Dialect::Postgres) => {
            columns.push("id bigserial unique".to_owned());
        }
        (KeyColumn::AutoIncrement, Dialect::Sqlite) => {
            columns.push("id integer primary key autoincrement".to_owned());
        }
        (KeyColumn::Guid, _) => columns.push("id varchar(36) primary key".to_owned()),
    }
    for number in 0..options.secondary_indexes {
        columns.push(format!("id{number} varchar(36) unique"));
    }
    let int = match dialect {
        Dialect::Mysql => "INT(32)",
        Dialect::Postgres | Dialect::Sqlite => "INTEGER",
    };
    for name in int_columns(options) {
        columns.push(format!("{name} {int}"));
    }
    for name in char_columns(options) {
        columns.push(format!("{name} VARCHAR(128)"));
    }
    let engine = options.engine.as_deref();
    let suffix = engine.map_or(String::new(), |engine| format!(" ENGINE={engine}"));
    format!("CREATE TABLE {NAME} ({}){suffix}", columns.join(","))
}

/// The values of an INSERT in columns without drawn values.
pub(super) fn generated(options: &SlapOptions, dialect: Dialect) -> Vec<&'static str> {
    // As near to MySQL's uuid() as each comes: a text of 36 characters, no two alike.
    let text = match dialect {
        Dialect::Mysql => "uuid()",
        Dialect::Postgres => "gen_random_uuid()",
        Dialect::Sqlite => "lower(hex(randomblob(18)))",
    };
    let key = match (options.key, dialect) {
        (KeyColumn::None, _) => None,
        (KeyColumn::AutoIncrement, Dialect::Postgres) => Some("DEFAULT"),
        (KeyColumn::AutoIncrement, _) => Some("NULL"),
        (KeyColumn::Guid, _) => Some(text),
    };
    let others = (0..options.secondary_indexes).map(|_| text);
    key.into_iter().chain(others).collect()
}

/// The columns that a SELECT reads and an UPDATE writes.
pub(super) fn value_columns(options: &SlapOptions) -> Vec<String> {
    int_columns(options).chain(char_columns(options)).collect()
}

fn int_columns(options: &SlapOptions) -> impl Iterator<Item = String> {
    (1..=options.int_columns).map(|number| format!("intcol{number}"))
}

fn char_columns(options: &SlapOptions) -> impl Iterator<Item = String> {
    (1..=options.char_columns).map(|number| format!("charcol{number}"))
}

/// Every key of the table, in its order.
pub(super) fn keys(admin: &mut dyn Admin) -> Result<Vec<String>, Fault> {
    let keys = admin.query_column(&format!("SELECT id FROM {NAME} ORDER BY id"))?;
    Ok(keys.into_iter().flatten().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::workload::slap::tests::options;

    #[test]
    fn definitions_follow_the_family() {
        assert_eq!(
            definition(&options(), Dialect::Mysql),
            "CREATE TABLE slap_t1 (intcol1 INT(32),charcol1 VARCHAR(128))"
        );
        let keyed = SlapOptions {
            key: KeyColumn::AutoIncrement,
            secondary_indexes: 1,
            int_columns: 0,
            engine: Some("myisam".into()),
            ..options()
        };
        assert_eq!(
            definition(&keyed, Dialect::Mysql),
            "CREATE TABLE slap_t1 (id serial,id0 varchar(36) unique,charcol1 VARCHAR(128)) ENGINE=myisam"
        );
        assert_eq!(generated(&keyed, Dialect::Mysql), ["NULL", "uuid()"]);
        assert_eq!(
            generated(&keyed, Dialect::Postgres),
            ["DEFAULT", "gen_random_uuid()"]
        );
        let postgres = definition(&options(), Dialect::Postgres);
        assert!(postgres.contains("intcol1 INTEGER,"), "{postgres}");
    }
}
