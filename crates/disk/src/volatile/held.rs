//! Bytes that are held once, however many parts of them are referred to; zeroes are not held at
//! all.

use bytes::Bytes;

/// The bytes of a stretch of the disk. A clone shares them.
#[derive(Clone, Debug)]
pub(super) enum Held {
    /// As many as are asked for.
    Zeroes,
    Bytes(Bytes),
}

impl Held {
    pub(super) fn copy(bytes: &[u8]) -> Self {
        if bytes.iter().all(|byte| *byte == 0) {
            return Self::Zeroes;
        }
        Self::Bytes(Bytes::copy_from_slice(bytes))
    }

    /// A part of it, counted from its own start.
    pub(super) fn part(&self, from: u64, length: u64) -> Self {
        match self {
            Self::Zeroes => Self::Zeroes,
            Self::Bytes(bytes) => Self::Bytes(bytes.slice(index(from)..index(from + length))),
        }
    }

    /// The same bytes, held by themselves if they are the smaller part of what they would keep.
    pub(super) fn apart(self, of_bytes: u64) -> Self {
        match self {
            Self::Bytes(bytes) if (bytes.len() as u64) < of_bytes / 2 => Self::copy(&bytes),
            held => held,
        }
    }

    pub(super) fn is_zeroes(&self) -> bool {
        matches!(self, Self::Zeroes)
    }

    pub(super) fn append_to(&self, length: u64, bytes: &mut Vec<u8>) {
        match self {
            Self::Zeroes => bytes.resize(bytes.len() + index(length), 0),
            Self::Bytes(held) => bytes.extend_from_slice(held),
        }
    }
}

pub(super) fn index(bytes: u64) -> usize {
    usize::try_from(bytes).expect("what is held fits into memory")
}
