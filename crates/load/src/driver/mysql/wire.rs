//! Whole packets over a blocking connection, for administration: three bytes of length, one of sequence, content.

use std::io::{ErrorKind, Read, Write};

use crate::driver::Fault;

/// The longest content of one packet; longer content continues in the next.
pub(super) const LONGEST_CONTENT: usize = 0xFF_FFFF;
pub(super) const HEADER_BYTES: usize = 4;

/// No packet that is read whole needs more: greetings, errors, column definitions and single
/// values are short. A length beyond it is nonsense that must not become an allocation.
const LONGEST_RECEIVED: usize = 1 << 20;

/// Says that the peer broke the protocol.
pub(super) fn protocol(message: impl Into<String>) -> Fault {
    Fault::Protocol(message.into())
}

/// A connection that speaks in packets.
pub struct Wire<S> {
    socket: S,
    /// The number that the next packet, from whichever side, must bear.
    sequence: u8,
    packet: Vec<u8>,
}

impl<S: Read + Write> Wire<S> {
    pub fn new(socket: S) -> Self {
        Self {
            socket,
            sequence: 0,
            packet: Vec::new(),
        }
    }

    pub(super) fn socket(&mut self) -> &mut S {
        &mut self.socket
    }

    /// The number that the next packet must bear.
    pub(super) fn sequence(&self) -> u8 {
        self.sequence
    }

    /// Sends a command, which begins a new numbering.
    pub fn command(&mut self, content: &[u8]) -> Result<(), Fault> {
        self.sequence = 0;
        self.send(content)
    }

    /// Sends one packet, or as many as its length takes.
    pub fn send(&mut self, content: &[u8]) -> Result<(), Fault> {
        let mut rest = content;
        loop {
            let (part, after) = rest.split_at(rest.len().min(LONGEST_CONTENT));
            self.packet.clear();
            self.packet
                .extend_from_slice(&header(part.len(), self.sequence));
            self.sequence = self.sequence.wrapping_add(1);
            self.packet.extend_from_slice(part);
            self.socket.write_all(&self.packet)?;
            if part.len() < LONGEST_CONTENT {
                return Ok(());
            }
            rest = after;
        }
    }

    /// Reads the next packet whole.
    pub fn receive(&mut self) -> Result<&[u8], Fault> {
        let mut header = [0; HEADER_BYTES];
        self.read_exactly(&mut header)?;
        let (length, sequence) = parse_header(header);
        if sequence != self.sequence {
            return Err(out_of_order(sequence, self.sequence));
        }
        self.sequence = self.sequence.wrapping_add(1);
        check_length(length)?;
        let mut packet = std::mem::take(&mut self.packet);
        packet.resize(length, 0);
        self.read_exactly(&mut packet)?;
        self.packet = packet;
        Ok(&self.packet)
    }

    /// Reads what is there, for a reader that finds packets itself.
    pub(super) fn read_some(&mut self, buffer: &mut [u8]) -> Result<usize, Fault> {
        match self.socket.read(buffer)? {
            0 => Err(closed_by_server()),
            read => Ok(read),
        }
    }

    fn read_exactly(&mut self, buffer: &mut [u8]) -> Result<(), Fault> {
        self.socket
            .read_exact(buffer)
            .map_err(|error| match error.kind() {
                ErrorKind::UnexpectedEof => closed_by_server(),
                _ => error.into(),
            })
    }
}

pub(super) fn header(length: usize, sequence: u8) -> [u8; HEADER_BYTES] {
    let [low, middle, high, ..] = length.to_le_bytes();
    [low, middle, high, sequence]
}

/// Length and sequence number.
pub(super) fn parse_header([low, middle, high, sequence]: [u8; HEADER_BYTES]) -> (usize, u8) {
    let length = usize::from(low) | usize::from(middle) << 8 | usize::from(high) << 16;
    (length, sequence)
}

/// Refuses the length of a packet that is to be read whole.
pub(super) fn check_length(length: usize) -> Result<(), Fault> {
    if length <= LONGEST_RECEIVED {
        return Ok(());
    }
    Err(protocol(format!(
        "a packet of {length} bytes; at most {LONGEST_RECEIVED} are plausible"
    )))
}

pub(super) fn out_of_order(sequence: u8, expected: u8) -> Fault {
    protocol(format!("packet number {sequence} instead of {expected}"))
}

pub(super) fn closed_by_server() -> Fault {
    let message = "the server closed the connection";
    Fault::Lost(std::io::Error::new(ErrorKind::UnexpectedEof, message))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Cursor;

    /// Reads from one place, keeps what is written in another.
    struct Script {
        from_server: Cursor<Vec<u8>>,
        to_server: Vec<u8>,
    }

    impl Read for Script {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.from_server.read(buffer)
        }
    }

    impl Write for Script {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.to_server.write(bytes)
        }

        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }

    fn wire(from_server: &[u8]) -> Wire<Script> {
        Wire::new(Script {
            from_server: Cursor::new(from_server.to_vec()),
            to_server: Vec::new(),
        })
    }

    #[test]
    fn packets_are_numbered() {
        let mut wire = wire(b"\x02\0\0\0ab\x01\0\0\x02c");
        assert_eq!(wire.receive().unwrap(), b"ab");
        wire.send(b"xyz").unwrap();
        assert_eq!(wire.receive().unwrap(), b"c");
        wire.command(b"q").unwrap();
        assert_eq!(wire.socket.to_server, b"\x03\0\0\x01xyz\x01\0\0\0q");
    }

    #[test]
    fn nonsense_is_refused() {
        let refusal = |bytes: &[u8]| wire(bytes).receive().unwrap_err();
        assert!(
            matches!(refusal(b"\x01\0\0\x07a"), Fault::Protocol(message) if message.contains('7'))
        );
        assert!(
            matches!(refusal(b"\xFF\xFF\xFF\0"), Fault::Protocol(message) if message.contains("16777215"))
        );
        assert!(matches!(refusal(b"\x05\0\0\0abc"), Fault::Lost(_)));
        assert!(matches!(refusal(b""), Fault::Lost(_)));
    }

    #[test]
    fn long_content_is_split_and_ends_with_a_short_packet() {
        for (extra, last) in [(0, 0), (5, 5)] {
            let mut wire = wire(b"");
            wire.command(&vec![b'x'; LONGEST_CONTENT + extra]).unwrap();
            let sent = wire.socket.to_server;
            assert_eq!(&sent[..4], b"\xFF\xFF\xFF\0");
            let second = &sent[HEADER_BYTES + LONGEST_CONTENT..];
            assert_eq!(second[..4], header(last, 1));
            assert_eq!(second.len(), HEADER_BYTES + last);
        }
    }
}
