//! A workload whose transactions all take the same steps.

use diskproof_load::driver::{Args, Kind, Statement};
use diskproof_load::workload::{Catalogue, Next, Script, Workload};

/// The only statement, of the first type.
pub(crate) const ASK: Next = Next::Statement(0);
/// Leaves and comes again, under the second type.
pub(crate) const COME_AGAIN: Next = Next::Reconnect { type_index: 1 };

pub(crate) struct Steps {
    catalogue: Catalogue,
    steps: &'static [Next],
}

impl Steps {
    pub(crate) fn new(steps: &'static [Next]) -> Self {
        let mut catalogue = Catalogue::default();
        catalogue.add("ask", Kind::Read, [Statement::as_text("SELECT 1")]);
        catalogue.add("come_again", Kind::Other, []);
        Self { catalogue, steps }
    }

    /// Every session begins with these statements, which are numbered from 1.
    pub(crate) fn in_sessions_that_begin_with(mut self, statements: &[&str]) -> Self {
        for sql in statements {
            self.catalogue.set_up_with(sql);
        }
        self
    }
}

impl Workload for Steps {
    type Script = Walk;

    fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    fn script(&self, _: usize) -> Walk {
        Walk {
            steps: self.steps,
            left: &[],
        }
    }
}

pub(crate) struct Walk {
    steps: &'static [Next],
    left: &'static [Next],
}

impl Script for Walk {
    fn begin(&mut self) -> bool {
        self.left = self.steps;
        true
    }

    fn next(&mut self, _: &mut Args) -> Option<Next> {
        let (next, left) = self.left.split_first()?;
        self.left = left;
        Some(*next)
    }
}
