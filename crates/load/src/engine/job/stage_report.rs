//! The events of a stage, passed on to the job's report.

use std::io;

use crate::report::{Event, Interval, Report};

/// Passes a stage's intervals on, with times counted from the job's start. The job reports the
/// phases, not the stage.
pub(super) struct StageReport<'a> {
    inner: &'a mut dyn Report,
    job_unix_s: f64,
    /// From the job's start to the stage's.
    offset_s: f64,
}

impl<'a> StageReport<'a> {
    pub(super) fn new(inner: &'a mut dyn Report, job_unix_s: f64) -> Self {
        Self {
            inner,
            job_unix_s,
            offset_s: 0.0,
        }
    }
}

impl Report for StageReport<'_> {
    fn event(&mut self, event: &Event) -> io::Result<()> {
        match event {
            Event::Measuring { unix_s, .. } => {
                self.offset_s = unix_s - self.job_unix_s;
                Ok(())
            }
            Event::Interval(interval) => self.inner.event(&Event::Interval(Interval {
                start_s: interval.start_s + self.offset_s,
                end_s: interval.end_s + self.offset_s,
                ..interval.clone()
            })),
            _ => Ok(()),
        }
    }
}
