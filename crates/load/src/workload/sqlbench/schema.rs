//! Tables as they are declared, and the SQL that makes them in each family.

use crate::driver::Dialect;

/// Every table's name begins with it; not all that begin with it are ours (see `leftovers`).
pub const PREFIX: &str = "sqlbench_";

/// The dialect of the tables, and their storage engine on a MySQL server.
#[derive(Debug, Clone)]
pub struct Maker {
    pub dialect: Dialect,
    /// MySQL family only; `None`: the server's default.
    pub engine: Option<String>,
}

/// An index beside the primary key.
#[derive(Debug, Clone)]
struct Index {
    columns: String,
    unique: bool,
}

/// A table with its columns and keys.
#[derive(Debug, Clone)]
pub(super) struct Table {
    name: String,
    columns: Vec<String>,
    primary: Option<String>,
    indexes: Vec<Index>,
}

impl Table {
    /// A table of this name behind our prefix; columns are `name TYPE …`, in types that all
    /// families know.
    pub(super) fn new<C: Into<String>>(name: &str, columns: impl IntoIterator<Item = C>) -> Self {
        Self {
            name: format!("{PREFIX}{name}"),
            columns: columns.into_iter().map(Into::into).collect(),
            primary: None,
            indexes: Vec::new(),
        }
    }

    #[must_use]
    pub(super) fn primary_key(mut self, columns: &str) -> Self {
        self.primary = Some(columns.to_owned());
        self
    }

    #[must_use]
    pub(super) fn index(mut self, columns: &str) -> Self {
        self.indexes.push(Index {
            columns: columns.to_owned(),
            unique: false,
        });
        self
    }

    #[must_use]
    pub(super) fn unique(mut self, columns: &str) -> Self {
        self.indexes.push(Index {
            columns: columns.to_owned(),
            unique: true,
        });
        self
    }

    /// The name with the prefix.
    #[must_use]
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// The statements that make the table: one in the MySQL family; elsewhere an index that is not
    /// a constraint takes a statement of its own.
    #[must_use]
    pub(super) fn create(&self, maker: &Maker) -> Vec<String> {
        let mut parts = self.columns.clone();
        parts.extend(
            self.primary
                .iter()
                .map(|columns| format!("PRIMARY KEY ({columns})")),
        );
        let mut apart = Vec::new();
        for (number, index) in self.indexes.iter().enumerate() {
            let name = format!("{}_{number}", self.name);
            let columns = &index.columns;
            match (maker.dialect, index.unique) {
                (Dialect::Mysql, true) => parts.push(format!("UNIQUE {name} ({columns})")),
                (_, true) => parts.push(format!("UNIQUE ({columns})")),
                (Dialect::Mysql, false) => parts.push(format!("INDEX {name} ({columns})")),
                (_, false) => {
                    apart.push(format!("CREATE INDEX {name} ON {} ({columns})", self.name));
                }
            }
        }
        let engine = maker.engine.as_ref();
        let suffix = engine.map_or(String::new(), |engine| format!(" ENGINE={engine}"));
        let mut statements = vec![format!(
            "CREATE TABLE {} ({}){suffix}",
            self.name,
            parts.join(", ")
        )];
        statements.extend(apart);
        statements
    }

    #[must_use]
    pub(super) fn drop(&self) -> String {
        format!("DROP TABLE {}", self.name)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        Table::new("t", ["a INTEGER NOT NULL", "b INTEGER"])
            .primary_key("a")
            .unique("b,a")
            .index("b")
    }

    #[test]
    fn each_family_has_its_own_way_with_indexes() {
        let mysql = Maker {
            dialect: Dialect::Mysql,
            engine: Some("MyISAM".into()),
        };
        assert_eq!(
            table().create(&mysql),
            [
                "CREATE TABLE sqlbench_t (a INTEGER NOT NULL, b INTEGER, PRIMARY KEY (a), \
                 UNIQUE sqlbench_t_0 (b,a), INDEX sqlbench_t_1 (b)) ENGINE=MyISAM"
            ]
        );
        let postgres = Maker {
            dialect: Dialect::Postgres,
            engine: None,
        };
        assert_eq!(
            table().create(&postgres),
            [
                "CREATE TABLE sqlbench_t (a INTEGER NOT NULL, b INTEGER, PRIMARY KEY (a), UNIQUE (b,a))",
                "CREATE INDEX sqlbench_t_1 ON sqlbench_t (b)"
            ]
        );
    }
}
