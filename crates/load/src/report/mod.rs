//! The output of a run: events, as JSON lines or as text for a person.

mod event;
mod json;
mod text;

pub use event::{
    BacklogSummary, ClientCost, DelaySummary, ErrorSummary, Event, Interval, Iterations, Operation,
    PROTOCOL, RateSummary, Ready, StatementSummary, StatementTypeInfo, Summary, TransactionSummary,
};
pub use json::JsonReport;
pub use text::TextReport;

use std::io;

/// The receiver of a run's events. An error ends the run, because nobody reads the output any more.
pub trait Report {
    fn event(&mut self, event: &Event) -> io::Result<()>;
}
