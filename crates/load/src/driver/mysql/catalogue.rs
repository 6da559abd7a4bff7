//! The catalogue as the driver sends it, shared by all connections.

use std::sync::{Arc, Mutex, PoisonError};

use super::statement::{Form, forms};
use crate::driver::{Protocol, Statement};

/// The statements of the latest catalogue, in prepared form. The next connection has the same
/// catalogue and shares them: otherwise ten thousand connections would hold ten thousand copies,
/// and a workload that reconnects would make them each time.
#[derive(Debug, Default)]
pub(super) struct SharedCatalogue(Mutex<Option<Catalogue>>);

#[derive(Debug)]
struct Catalogue {
    statements: Vec<Statement>,
    protocol: Protocol,
    forms: Arc<[Form]>,
}

impl SharedCatalogue {
    pub(super) fn forms(&self, statements: &[Statement], protocol: Protocol) -> Arc<[Form]> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(catalogue) = &*last
            && catalogue.protocol == protocol
            && catalogue.statements == statements
        {
            return Arc::clone(&catalogue.forms);
        }
        let forms: Arc<[Form]> = forms(statements, protocol).into();
        *last = Some(Catalogue {
            statements: statements.to_vec(),
            protocol,
            forms: Arc::clone(&forms),
        });
        forms
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_catalogue_is_made_once() {
        let statement = |sql: &str| Statement {
            sql: sql.into(),
            prepare: true,
        };
        let (one, two) = ([statement("SELECT 1")], [statement("SELECT 2")]);
        let shared = SharedCatalogue::default();
        let first = shared.forms(&one, Protocol::Prepared);
        assert!(Arc::ptr_eq(&first, &shared.forms(&one, Protocol::Prepared)));
        assert_ne!(first, shared.forms(&one, Protocol::Text));
        assert_ne!(first, shared.forms(&two, Protocol::Prepared));
    }
}
