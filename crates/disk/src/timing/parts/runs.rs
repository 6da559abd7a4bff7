//! Neighbouring bytes, so that what lies together is asked for together.

use crate::request::{Kind, Request};

/// Bytes that follow each other on one device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::timing) struct Run {
    pub(in crate::timing) offset_bytes: u64,
    pub(in crate::timing) length_bytes: u64,
}

impl Run {
    pub(in crate::timing) fn new(offset_bytes: u64, length_bytes: u64) -> Self {
        Self {
            offset_bytes,
            length_bytes,
        }
    }

    pub(in crate::timing) fn end_bytes(&self) -> u64 {
        self.offset_bytes + self.length_bytes
    }

    pub(in crate::timing) fn request(&self, kind: Kind) -> Request {
        Request::new(kind, self.offset_bytes, self.length_bytes)
    }
}

impl From<Request> for Run {
    fn from(request: Request) -> Self {
        Self::new(request.offset_bytes, request.length_bytes)
    }
}

/// Adds a run: to the last one if it follows that and both together are no longer than `most`.
pub(in crate::timing) fn append_run(runs: &mut Vec<Run>, run: Run, most_bytes: u64) {
    if let Some(last) = runs.last_mut()
        && last.end_bytes() == run.offset_bytes
        && last.length_bytes + run.length_bytes <= most_bytes
    {
        last.length_bytes += run.length_bytes;
    } else {
        runs.push(run);
    }
}
