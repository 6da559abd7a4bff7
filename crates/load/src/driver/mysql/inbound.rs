//! Whole packets out of the bytes that arrive, for the log-in and the preparation.

use super::wire::{HEADER_BYTES, check_length, out_of_order, parse_header};
use crate::driver::Fault;

/// Collects what arrives until a packet is whole.
#[derive(Debug, Default)]
pub(super) struct Inbound {
    bytes: Vec<u8>,
    /// Start of the next packet.
    at: usize,
    /// The number that the next packet, from whichever side, must bear.
    sequence: u8,
}

impl Inbound {
    pub(super) fn extend(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.at);
        self.at = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// A command begins a new numbering: its own packet is number 0, the answer number 1.
    pub(super) fn begin_answer(&mut self) {
        self.sequence = 1;
    }

    /// The number of a packet that we send in turn.
    pub(super) fn number_sent(&mut self) -> u8 {
        let sequence = self.sequence;
        self.sequence = sequence.wrapping_add(1);
        sequence
    }

    /// The next packet's content; `None` while it has not arrived whole. A length that makes no
    /// sense is refused before anything is kept for it.
    pub(super) fn next_packet(&mut self) -> Result<Option<&[u8]>, Fault> {
        let Some((head, rest)) = self.bytes[self.at..].split_first_chunk() else {
            return Ok(None);
        };
        let (length, sequence) = parse_header(*head);
        if sequence != self.sequence {
            return Err(out_of_order(sequence, self.sequence));
        }
        check_length(length)?;
        let Some(content) = rest.get(..length) else {
            return Ok(None);
        };
        self.sequence = sequence.wrapping_add(1);
        self.at += HEADER_BYTES + length;
        Ok(Some(content))
    }

    /// Whether nothing has arrived beyond the last packet.
    pub(super) fn is_empty(&self) -> bool {
        self.at == self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packets_are_found_however_they_are_cut_up() {
        let bytes = b"\x02\0\0\0ab\x01\0\0\x01c\0\0\0\x02";
        for cut in 0..=bytes.len() {
            let mut inbound = Inbound::default();
            let mut packets = Vec::new();
            for piece in [&bytes[..cut], &bytes[cut..]] {
                inbound.extend(piece);
                while let Some(packet) = inbound.next_packet().unwrap() {
                    packets.push(packet.to_vec());
                }
            }
            assert_eq!(packets, [&b"ab"[..], b"c", b""], "cut at {cut}");
            assert!(inbound.is_empty());
        }
    }

    #[test]
    fn nonsense_is_refused() {
        let refusal = |bytes: &[u8]| {
            let mut inbound = Inbound::default();
            inbound.extend(bytes);
            inbound.next_packet().unwrap_err().to_string()
        };
        assert!(refusal(b"\x01\0\0\x07").contains("packet number 7"));
        assert!(refusal(b"\xFF\xFF\xFF\0").contains("16777215"));
    }

    #[test]
    fn nothing_is_kept_for_what_is_only_promised() {
        let mut inbound = Inbound::default();
        inbound.extend(b"\xFF\xFF\x0F\0abc");
        assert_eq!(inbound.next_packet().unwrap(), None);
        assert!(inbound.bytes.capacity() < 1000);
    }

    #[test]
    fn both_sides_count_together() {
        let mut inbound = Inbound::default();
        inbound.extend(b"\x01\0\0\0a");
        inbound.next_packet().unwrap();
        assert_eq!((inbound.number_sent(), inbound.number_sent()), (1, 2));
        inbound.extend(b"\x01\0\0\x03b");
        assert_eq!(inbound.next_packet().unwrap(), Some(&b"b"[..]));
        inbound.begin_answer();
        inbound.extend(b"\x01\0\0\x01c");
        assert_eq!(inbound.next_packet().unwrap(), Some(&b"c"[..]));
    }
}
