//! Bytes on their way to the server.

use std::io::ErrorKind;

use super::wire::{LONGEST_CONTENT, header, protocol};
use crate::driver::Fault;
use crate::driver::socket::Stream;

/// Packets, sent as far as the socket takes them.
#[derive(Debug, Default)]
pub(super) struct Outbound {
    bytes: Vec<u8>,
    sent: usize,
}

impl Outbound {
    /// Begins anew: the buffer, to be filled with whole packets.
    #[inline]
    pub(super) fn begin(&mut self) -> &mut Vec<u8> {
        self.sent = 0;
        &mut self.bytes
    }

    /// Adds a packet to those that wait.
    pub(super) fn push(&mut self, sequence: u8, content: &[u8]) -> Result<(), Fault> {
        if content.len() >= LONGEST_CONTENT {
            return Err(protocol(format!(
                "a packet of {} bytes where none is as long as {LONGEST_CONTENT}",
                content.len()
            )));
        }
        if !self.is_waiting() {
            self.begin().clear();
        }
        let head = header(content.len(), sequence);
        self.bytes.extend_from_slice(&head);
        self.bytes.extend_from_slice(content);
        Ok(())
    }

    /// Sends as much as the socket takes.
    #[inline]
    pub(super) fn send(&mut self, stream: &mut Stream) -> Result<(), Fault> {
        stream.send(&self.bytes, &mut self.sent)?;
        match stream.flush() {
            Err(error) if error.kind() != ErrorKind::WouldBlock => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Whether the socket has not yet taken everything.
    #[inline]
    pub(super) fn is_waiting(&self) -> bool {
        self.sent < self.bytes.len()
    }
}
