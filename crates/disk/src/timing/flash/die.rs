//! A die does one operation at a time: reads first, so that a read waits for one operation at most.
//! Writes pass after a number of reads. No operation is suspended once it has begun.

use std::collections::VecDeque;

use super::map::Place;

/// Part of a read: bytes of one page.
#[derive(Clone, Copy, Debug)]
pub(super) struct Piece {
    pub(super) request: u32,
    pub(super) bytes: u32,
    /// The kind of page, of the two.
    pub(super) kind: u8,
}

#[derive(Clone, Copy, Debug)]
pub(super) enum Operation {
    Read(Piece),
    Program,
    Collect,
    Erase,
}

/// A block being collected.
#[derive(Debug)]
pub(super) struct Victim {
    pub(super) block: u32,
    /// Positions before it were looked at.
    pub(super) cursor: u32,
    /// Page reads for each unit found, on average.
    pub(super) reads_per_unit: f64,
    /// Units to be moved for each that the host writes, so that a block is won as one is filled.
    pub(super) pace: f64,
}

/// A page that a die reads in order to write it elsewhere.
#[derive(Debug, Default)]
pub(super) struct Moving {
    pub(super) units: Vec<(u32, Place)>,
    pub(super) anonymous: u32,
}

#[derive(Debug, Default)]
pub(super) struct Die {
    pub(super) current: Option<Operation>,
    pub(super) reads: VecDeque<Piece>,
    /// Reads since something else was last done.
    pub(super) reads_in_a_row: u32,
    /// Buffer slots on their way to this die; empty if there are none.
    pub(super) page: Vec<u32>,
    /// They are in the die's register.
    pub(super) loaded: bool,
    pub(super) victim: Option<Victim>,
    /// Units that collection owes for what the host wrote.
    pub(super) debt: f64,
    pub(super) moving: Moving,
}

/// Reads that may pass a page which waits to be programmed.
pub(super) const READS_BEFORE_WRITE: u32 = 8;
