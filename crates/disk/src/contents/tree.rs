//! Which block lies where: leaves of many blocks, shared between trees until one of them changes.

use std::collections::HashMap;
use std::sync::Arc;

use super::block::Block;

/// Blocks of a leaf. A leaf is copied whole on the first change after a snapshot, which this keeps
/// to a few microseconds; a snapshot copies one pointer a leaf, so a loaded gigabyte costs 512.
const LEAF_BLOCKS: usize = 512;

/// The state of one block in a tree.
#[derive(Clone, Default)]
pub(super) enum Place {
    /// Not held: the image underneath has the bytes, or they are zero.
    #[default]
    Under,
    /// Zero, whatever lies underneath.
    Zero,
    Held(Arc<Block>),
}

/// All blocks of one state of a disk. Cloning it takes a snapshot.
#[derive(Clone, Default)]
pub(super) struct Tree {
    leaves: HashMap<u64, Arc<Leaf>>,
}

/// Blocks beside each other.
pub(super) type Leaf = Vec<Place>;

impl Tree {
    pub(super) fn get(&self, index: u64) -> &Place {
        let (leaf, within) = split(index);
        self.leaves
            .get(&leaf)
            .map_or(&Place::Under, |leaf| &leaf[within])
    }

    /// Whether the leaf of a block may hold anything but `Under`.
    pub(super) fn has_leaf(&self, index: u64) -> bool {
        self.leaves.contains_key(&split(index).0)
    }

    /// The first block of the leaf after that of a block.
    pub(super) fn next_leaf(index: u64) -> u64 {
        (split(index).0 + 1) * LEAF_BLOCKS as u64
    }

    /// The block, if this tree alone has it.
    pub(super) fn own(&mut self, index: u64) -> Option<&mut Block> {
        let (leaf, within) = split(index);
        match &mut Arc::get_mut(self.leaves.get_mut(&leaf)?)?[within] {
            Place::Held(block) => Arc::get_mut(block),
            Place::Under | Place::Zero => None,
        }
    }

    pub(super) fn put(&mut self, index: u64, place: Place) {
        let (leaf, within) = split(index);
        Arc::make_mut(self.leaf(leaf))[within] = place;
    }

    fn leaf(&mut self, leaf: u64) -> &mut Arc<Leaf> {
        self.leaves
            .entry(leaf)
            .or_insert_with(|| Arc::new(vec![Place::Under; LEAF_BLOCKS]))
    }

    /// Sets all blocks of a range (end excluded) to one place. It takes time in proportion to the
    /// blocks held if the place is `Under`, else to the range. The caller drops the old blocks of
    /// whole leaves.
    #[must_use = "dropping it takes a while"]
    pub(super) fn fill(&mut self, first: u64, end: u64, place: &Place) -> Vec<Arc<Leaf>> {
        if first >= end {
            return Vec::new();
        }
        let whole_from = first.div_ceil(LEAF_BLOCKS as u64);
        let whole_to = end / LEAF_BLOCKS as u64;
        if whole_from >= whole_to {
            self.fill_pieces(first, end, place);
            return Vec::new();
        }
        self.fill_pieces(first, whole_from * LEAF_BLOCKS as u64, place);
        self.fill_pieces(whole_to * LEAF_BLOCKS as u64, end, place);
        if matches!(place, Place::Under) {
            return self.take_leaves(whole_from, whole_to);
        }
        let filled = Arc::new(vec![place.clone(); LEAF_BLOCKS]);
        (whole_from..whole_to)
            .filter_map(|leaf| self.leaves.insert(leaf, filled.clone()))
            .collect()
    }

    fn take_leaves(&mut self, from: u64, to: u64) -> Vec<Arc<Leaf>> {
        if to - from < self.leaves.len() as u64 {
            return (from..to)
                .filter_map(|leaf| self.leaves.remove(&leaf))
                .collect();
        }
        let taken = self.leaves.extract_if(|leaf, _| (from..to).contains(leaf));
        taken.map(|(_, leaf)| leaf).collect()
    }

    /// As `fill`, within one or two leaves.
    fn fill_pieces(&mut self, first: u64, end: u64, place: &Place) {
        let mut at = first;
        while at < end {
            let (leaf, from) = split(at);
            let length = ((LEAF_BLOCKS - from) as u64).min(end - at);
            at += length;
            if matches!(place, Place::Under) && !self.leaves.contains_key(&leaf) {
                continue;
            }
            #[expect(clippy::cast_possible_truncation, reason = "at most a leaf")]
            let to = from + length as usize;
            let shared = Arc::make_mut(self.leaf(leaf));
            shared[from..to].fill(place.clone());
            let is_under = |place: &Place| matches!(place, Place::Under);
            if is_under(place) && length > 1 && shared.iter().all(is_under) {
                self.leaves.remove(&leaf);
            }
        }
    }
}

fn split(index: u64) -> (u64, usize) {
    let blocks = LEAF_BLOCKS as u64;
    #[expect(clippy::cast_possible_truncation, reason = "less than a leaf")]
    let within = (index % blocks) as usize;
    (index / blocks, within)
}
