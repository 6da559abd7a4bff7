//! One encrypted connection: rustls between a protocol and a socket that never blocks.

use std::io::{self, ErrorKind, Read, Write};
use std::sync::Arc;

use rustls::ClientConnection;

use super::stream::Plain;
use super::tls::{Tls, failure};

/// Most bytes of one write. All accepted bytes are encrypted at once and held until the socket
/// takes them; a longer statement continues after that.
const LONGEST_WRITE: usize = 64 << 10;

/// Keys and buffers of an encrypted connection.
pub(super) struct Channel {
    connection: ClientConnection,
}

impl Channel {
    pub(super) fn new(tls: &Tls) -> io::Result<Self> {
        let mut connection =
            ClientConnection::new(Arc::clone(&tls.config), tls.server_name()).map_err(failure)?;
        // `write` limits what is held.
        connection.set_buffer_limit(None);
        Ok(Self { connection })
    }

    /// Hands out what has been deciphered before it asks the socket for more, so that nothing
    /// is left lying when it says that it would block.
    pub(super) fn read(&mut self, plain: &mut Plain, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.connection.reader().read(buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                // The peer closed the socket without a word of TLS; plain ones do no more.
                Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(0),
                outcome => return outcome,
            }
            self.send_what_goes(plain)?;
            self.connection.read_tls(plain)?;
            if let Err(error) = self.connection.process_new_packets() {
                // Sends the peer the reason, if that is possible.
                let _ = self.flush(plain);
                return Err(failure(error));
            }
            self.send_what_goes(plain)?;
        }
    }

    /// Would block while something that was taken before has not been sent.
    pub(super) fn write(&mut self, plain: &mut Plain, bytes: &[u8]) -> io::Result<usize> {
        self.flush(plain)?;
        let taken = bytes.len().min(LONGEST_WRITE);
        let taken = self.connection.writer().write(&bytes[..taken])?;
        self.send_what_goes(plain)?;
        Ok(taken)
    }

    pub(super) fn flush(&mut self, plain: &mut Plain) -> io::Result<()> {
        while self.connection.wants_write() {
            self.connection.write_tls(plain)?;
        }
        Ok(())
    }

    pub(super) fn wants_write(&self) -> bool {
        self.connection.wants_write()
    }

    /// Sends as much as the socket takes.
    fn send_what_goes(&mut self, plain: &mut Plain) -> io::Result<()> {
        match self.flush(plain) {
            Err(error) if error.kind() == ErrorKind::WouldBlock => Ok(()),
            outcome => outcome,
        }
    }
}
