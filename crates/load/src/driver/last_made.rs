//! What was made last of a catalogue: the clients of a run share it.

use std::sync::{Arc, Mutex, PoisonError};

use super::{Protocol, Statement};

#[derive(Debug)]
pub(super) struct LastMade<T: ?Sized>(Mutex<Option<Made<T>>>);

#[derive(Debug)]
struct Made<T: ?Sized> {
    statements: Vec<Statement>,
    protocol: Protocol,
    shared: Arc<T>,
}

impl<T: ?Sized> Default for LastMade<T> {
    fn default() -> Self {
        Self(Mutex::new(None))
    }
}

impl<T: ?Sized> LastMade<T> {
    /// The same again for the same statements and protocol, and otherwise one made now.
    pub(super) fn of<E>(
        &self,
        statements: &[Statement],
        protocol: Protocol,
        make: impl FnOnce() -> Result<Arc<T>, E>,
    ) -> Result<Arc<T>, E> {
        let mut last = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(last) = &*last
            && last.protocol == protocol
            && last.statements == statements
        {
            return Ok(Arc::clone(&last.shared));
        }
        let shared = make()?;
        *last = Some(Made {
            statements: statements.to_vec(),
            protocol,
            shared: Arc::clone(&shared),
        });
        Ok(shared)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_same_catalogue_is_made_once() {
        let [one, two] = ["SELECT 1", "SELECT 2"].map(|sql| [Statement::prepared(sql)]);
        let shared = LastMade::default();
        let made = |statements: &[Statement], protocol| {
            let text = || Ok::<_, ()>(Arc::from(format!("{statements:?} {protocol:?}")));
            shared.of(statements, protocol, text).unwrap()
        };
        let first: Arc<str> = made(&one, Protocol::Prepared);
        assert!(Arc::ptr_eq(&first, &made(&one, Protocol::Prepared)));
        assert_ne!(first, made(&one, Protocol::Text));
        assert_ne!(first, made(&two, Protocol::Prepared));
    }
}
