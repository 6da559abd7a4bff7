//! Checks a run's tables before any client connects.

use crate::driver::{Admin, Dialect, Driver, Fault};
use crate::engine::Failure;
use crate::workload::tables;

/// The tables that a workload owns, as a person names them on the command line.
pub(super) struct Owned {
    pub(super) workload: &'static str,
    /// The options by which `cleanup` finds the tables.
    pub(super) which: String,
    /// The options by which `prepare` makes the tables that the run needs.
    pub(super) made_by: String,
}

impl Owned {
    /// Connects, to look at the tables.
    pub(super) fn open<D: Driver>(self, driver: &D) -> Result<Found, Failure> {
        let admin = driver
            .admin()
            .map_err(|fault| Failure::from_fault("connecting", &fault))?;
        Ok(Found {
            admin,
            dialect: driver.dialect(),
            owned: self,
        })
    }
}

/// The tables as they are. Every failure has the code `tables`, or is the connection's.
pub(super) struct Found {
    admin: Box<dyn Admin>,
    dialect: Dialect,
    owned: Owned,
}

impl Found {
    pub(super) fn exists(&mut self, name: &str) -> Result<bool, Failure> {
        looked(tables::exists(&mut *self.admin, self.dialect, name))
    }

    /// Refuses to go on without this table.
    pub(super) fn require(&mut self, name: &str) -> Result<(), Failure> {
        if self.exists(name)? {
            return Ok(());
        }
        let Owned {
            workload, made_by, ..
        } = &self.owned;
        Err(unfit(format!(
            "table {name} does not exist; make it with `diskproof-load prepare {workload} {made_by}`"
        )))
    }

    /// Refuses a table without this index, which queries of the run need.
    pub(super) fn require_index(&mut self, name: &str, column: &str) -> Result<(), Failure> {
        let indexed = tables::has_index_on(&mut *self.admin, self.dialect, name, column);
        if looked(indexed)? {
            return Ok(());
        }
        Err(self.remake(&format!("table {name} has no index on column {column}")))
    }

    /// Refuses a table of this name that lacks columns of ours: it is somebody else's.
    pub(super) fn require_columns(&mut self, name: &str, columns: &[&str]) -> Result<(), Failure> {
        let columns = columns.join(", ");
        let sql = format!("SELECT {columns} FROM {name} LIMIT 1");
        match self.admin.query_value(&sql) {
            Ok(_) => Ok(()),
            Err(Fault::Server(error)) => Err(unfit(format!(
                "table {name} does not have the columns {columns}, so this workload did not make it \
                 ({error}); choose another database"
            ))),
            Err(fault) => looked(Err(fault)),
        }
    }

    /// Whether the table's storage engine has transactions; `None` if all of the database's tables
    /// have.
    pub(super) fn is_transactional(&mut self, name: &str) -> Result<Option<bool>, Failure> {
        let found = tables::is_transactional(&mut *self.admin, self.dialect, name);
        looked(found)
    }

    pub(super) fn value(&mut self, sql: &str) -> Result<Option<String>, Failure> {
        looked(self.admin.query_value(sql))
    }

    /// A number from the tables; `None` if there is none, as for the largest id of an empty table.
    pub(super) fn number(&mut self, sql: &str) -> Result<Option<u64>, Failure> {
        Ok(self.value(sql)?.and_then(|number| number.parse().ok()))
    }

    /// Tables that are not what the run needs, and how to make them again.
    pub(super) fn remake(&self, what: &str) -> Failure {
        let Owned {
            workload,
            which,
            made_by,
        } = &self.owned;
        let cleanup = format!("diskproof-load cleanup {workload} {which}");
        unfit(format!(
            "{what}; make the tables again with `{}` and `diskproof-load prepare {workload} {made_by}`",
            cleanup.trim_end()
        ))
    }

    pub(super) fn dialect(&self) -> Dialect {
        self.dialect
    }
}

/// Tables that a run cannot use.
pub(super) fn unfit(message: String) -> Failure {
    Failure::new("tables", message)
}

fn looked<T>(outcome: Result<T, Fault>) -> Result<T, Failure> {
    outcome.map_err(|fault| Failure::from_fault("looking at the tables", &fault))
}
