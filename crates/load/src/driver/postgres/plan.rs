//! How to prepare a catalogue, worked out once for all connections that prepare the same one.

use std::sync::{Arc, Mutex, PoisonError};

use bytes::BytesMut;
use postgres_protocol::message::frontend;

use super::statement::{Execution, ParameterType};
use crate::driver::template::Template;
use crate::driver::{Dialect, Fault, Protocol, Statement, protocol};
use crate::workload::sql::parameters;

/// A catalogue, and what asks the server to prepare it.
#[derive(Debug)]
pub(super) struct Plan {
    statements: Vec<Statement>,
    pub(super) asked: Vec<Asked>,
    /// Parse and Describe for each statement, then Sync; nothing if none is prepared.
    pub(super) request: BytesMut,
    /// The catalogue as the last connection prepared it. The next one gets the same result and
    /// shares it; otherwise ten thousand connections would hold ten thousand copies.
    found: Mutex<Found>,
}

/// A statement that the server is asked to prepare.
#[derive(Debug)]
pub(super) struct Asked {
    index: usize,
    name: String,
    pub(super) sql: String,
    pub(super) parameter_count: usize,
}

#[derive(Debug, Default)]
struct Found {
    /// The types of all parameters, in the order of the statements that were asked for.
    types: Vec<ParameterType>,
    executions: Option<Arc<[Execution]>>,
}

impl Plan {
    /// `name` begins the names of the prepared statements.
    pub(super) fn new(
        name: &str,
        statements: &[Statement],
        protocol: Protocol,
    ) -> Result<Self, Fault> {
        let asked: Vec<_> = statements
            .iter()
            .enumerate()
            .filter(|(_, statement)| protocol == Protocol::Prepared && statement.prepare)
            .map(|(index, statement)| Asked::new(name, index, statement))
            .collect();
        Ok(Self {
            statements: statements.to_vec(),
            request: request(&asked)?,
            asked,
            found: Mutex::default(),
        })
    }

    /// The catalogue for parameters of these types.
    pub(super) fn executions(&self, types: Vec<ParameterType>) -> Arc<[Execution]> {
        let mut found = self.found.lock().unwrap_or_else(PoisonError::into_inner);
        match &found.executions {
            Some(executions) if found.types == types => Arc::clone(executions),
            _ => {
                let executions: Arc<[_]> = self.make_executions(&types).into();
                found.types = types;
                found.executions = Some(Arc::clone(&executions));
                executions
            }
        }
    }

    fn make_executions(&self, mut types: &[ParameterType]) -> Vec<Execution> {
        let mut executions: Vec<_> = self.statements.iter().map(Execution::text).collect();
        for asked in &self.asked {
            let (own, rest) = types.split_at(asked.parameter_count);
            types = rest;
            executions[asked.index] = Execution::Prepared {
                name: asked.name.clone(),
                parameters: own.to_vec(),
            };
        }
        executions
    }
}

impl Asked {
    fn new(name: &str, index: usize, statement: &Statement) -> Self {
        let template = Template::new(&statement.sql, Dialect::Postgres);
        // It may number them itself.
        let numbers = parameters(statement.sql.as_bytes(), Dialect::Postgres);
        let (sql, parameter_count) = match numbers.map(|(_, number)| number).max() {
            Some(greatest) => (statement.sql.clone(), greatest),
            None => (template.numbered(), template.parameter_count()),
        };
        Self {
            index,
            name: format!("{name}{index}"),
            sql,
            parameter_count,
        }
    }
}

/// All in one piece, whatever its length: the answers are read while it is being sent, so that
/// neither side waits for the other.
fn request(asked: &[Asked]) -> Result<BytesMut, Fault> {
    let mut out = BytesMut::new();
    for statement in asked {
        frontend::parse(&statement.name, &statement.sql, [], &mut out)
            .and_then(|()| frontend::describe(b'S', &statement.name, &mut out))
            .map_err(|error| protocol(format!("{}: cannot be sent: {error}", statement.sql)))?;
    }
    if !asked.is_empty() {
        frontend::sync(&mut out);
    }
    Ok(out)
}
