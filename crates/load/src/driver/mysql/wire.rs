//! Packets: three bytes of length, one of sequence, content.

use crate::driver::Fault;
pub(super) use crate::driver::protocol;

/// The longest content of one packet; longer content continues in the next.
pub(crate) const LONGEST_CONTENT: usize = 0xFF_FFFF;
pub(crate) const HEADER_BYTES: usize = 4;

/// No packet that is read whole needs more: greetings, errors, column definitions and single
/// values are short. A length beyond it is nonsense that must not become an allocation.
const LONGEST_RECEIVED: usize = 1 << 20;

pub(super) fn header(length: usize, sequence: u8) -> [u8; HEADER_BYTES] {
    let [low, middle, high, ..] = length.to_le_bytes();
    [low, middle, high, sequence]
}

/// Length and sequence number.
pub(crate) fn parse_header([low, middle, high, sequence]: [u8; HEADER_BYTES]) -> (usize, u8) {
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
