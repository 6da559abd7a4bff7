//! Requests in progress, found by tag in constant time.

use slab::Slab;

use crate::request::Tag;

/// Tags are given out in ascending order and never twice: a serial number above, the place below.
const PLACE_BITS: u32 = 24;

/// Entries by tag. Its memory is that of the most entries that were ever in it at once.
#[derive(Debug)]
pub struct Ledger<T> {
    places: Slab<(Tag, T)>,
    serial: u64,
}

impl<T> Default for Ledger<T> {
    fn default() -> Self {
        Self {
            places: Slab::new(),
            serial: 0,
        }
    }
}

impl<T> Ledger<T> {
    /// Enters something under a new tag.
    ///
    /// # Panics
    ///
    /// With 16 million entries at once: some caller never takes out what is done.
    pub fn insert(&mut self, entry: T) -> Tag {
        let place = self.places.vacant_key();
        assert!(place < 1 << PLACE_BITS, "requests are lost in a device");
        let tag = Tag(self.serial << PLACE_BITS | place as u64);
        self.serial += 1;
        self.places.insert((tag, entry));
        tag
    }

    pub fn get_mut(&mut self, tag: Tag) -> Option<&mut T> {
        match self.places.get_mut(place(tag))? {
            (mine, entry) if *mine == tag => Some(entry),
            _ => None,
        }
    }

    pub fn remove(&mut self, tag: Tag) -> Option<T> {
        self.get_mut(tag)?;
        self.places.try_remove(place(tag)).map(|(_, entry)| entry)
    }

    pub fn len(&self) -> usize {
        self.places.len()
    }

    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }
}

fn place(tag: Tag) -> usize {
    usize::try_from(tag.0 & ((1 << PLACE_BITS) - 1)).expect("24 bits fit")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_old_tag_finds_nothing_in_a_place_given_out_anew() {
        let mut ledger = Ledger::default();
        let first = ledger.insert("first");
        assert_eq!(ledger.remove(first), Some("first"));
        let second = ledger.insert("second");
        assert!(second > first);
        assert_eq!(ledger.get_mut(first), None);
        assert_eq!(ledger.remove(first), None);
        assert_eq!(ledger.remove(second), Some("second"));
        assert!(ledger.is_empty());
    }

    #[test]
    fn memory_is_that_of_the_most_at_once() {
        let mut ledger = Ledger::default();
        for number in 0..1000 {
            let tags = [ledger.insert(number), ledger.insert(number)];
            assert_eq!(ledger.len(), 2);
            assert!(tags.iter().all(|tag| place(*tag) < 2));
            assert!(
                tags.into_iter()
                    .all(|tag| ledger.remove(tag) == Some(number))
            );
        }
    }
}
