//! The protocol against scripted servers, well-behaved and not.

mod conversation;
mod handshake;
mod nonsense;
mod reply;
mod session;

/// A packet with its header.
fn packet(sequence: u8, content: &[u8]) -> Vec<u8> {
    [&super::wire::header(content.len(), sequence)[..], content].concat()
}

/// Packets with their numbers, from `first` on.
fn packets(first: u8, contents: &[&[u8]]) -> Vec<u8> {
    let numbered = (first..).zip(contents);
    numbered
        .flat_map(|(sequence, content)| packet(sequence, content))
        .collect()
}

/// A result of one column and the given rows, as it answers a statement.
fn result(rows: &[&[u8]]) -> Vec<u8> {
    let mut contents: Vec<&[u8]> = vec![b"\x01", b"\x03def", b"\xFE\0\0\x02\0"];
    contents.extend_from_slice(rows);
    contents.push(b"\xFE\0\0\x02\0");
    packets(1, &contents)
}

/// An acknowledgement: so many rows affected.
fn acknowledgement(affected: u8) -> Vec<u8> {
    packet(1, &[0, affected, 0, 2, 0, 0, 0])
}
