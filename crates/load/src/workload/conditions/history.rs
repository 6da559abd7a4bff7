//! When a table's entries begin: years of a detector's life, the same in every data set.

/// The first day of the history: 1 August 2001, in seconds since 1970.
const FIRST_S: u32 = 996_624_000;
const DAY_S: u32 = 86_400;

/// The flavour of entries for recorded data; the others are for simulations.
pub(super) const RECORDED: &str = "ofl";
const SIMULATED: &str = "sim";

/// One slot in this many has entries for simulations.
const SIMULATED_EVERY: u64 = 16;
/// One slot in this many has entries that were found wrong; those of the next slot replace them.
const WITHDRAWN_EVERY: u64 = 8;
/// Within each eight slots; 0 is the first entry of all, which must stand.
const WITHDRAWN_AT: u64 = 5;

/// An entry is made some time after its begin: calibrations come from the data.
const ENTERED_AFTER_S: u32 = 6 * 3600;
/// A wrong entry is found out.
const WITHDRAWN_AFTER_S: u32 = 30 * DAY_S;

/// The entries of each table: slots of equal length, in each of them one entry for every element.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct History {
    rows: u64,
    elements: u64,
    days: u32,
}

/// The fields of an entry, without its payload.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Entry {
    /// The row's number, from 1.
    pub data_id: u64,
    /// The part of the detector, from 0.
    pub element: u64,
    /// Times are in seconds since 1970.
    pub begin_s: u32,
    pub entered_s: u32,
    pub flavor: &'static str,
    /// When it was found wrong; 0: it stands.
    pub deactive_s: u32,
}

impl Entry {
    /// Whether clients that work on recorded data should find it.
    #[must_use]
    pub fn stands(&self) -> bool {
        self.flavor == RECORDED && self.deactive_s == 0
    }
}

/// Why a history cannot be.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum HistoryError {
    #[error("{elements} elements need at least {elements} rows, not {rows}")]
    TooFewRows { rows: u64, elements: u64 },
    #[error(
        "{rows} rows in {days} days would be less than a second apart for each of {elements} elements; \
         ask for more days or fewer rows"
    )]
    TooDense { rows: u64, elements: u64, days: u32 },
}

impl History {
    /// The longest history with times that fit into 31 bits.
    pub const LONGEST_DAYS: u32 = 13_000;

    /// A history of that many rows and elements (both at least 1), over that many days.
    pub fn new(rows: u64, elements: u64, days: u32) -> Result<Self, HistoryError> {
        let history = Self {
            rows,
            elements,
            days,
        };
        if rows < elements {
            return Err(HistoryError::TooFewRows { rows, elements });
        }
        if history.slot_s() == 0 {
            return Err(HistoryError::TooDense {
                rows,
                elements,
                days,
            });
        }
        Ok(history)
    }

    #[must_use]
    pub fn rows(&self) -> u64 {
        self.rows
    }

    /// Days over which the begins are spread.
    #[must_use]
    pub fn days(&self) -> u32 {
        self.days
    }

    #[must_use]
    pub fn elements(&self) -> u64 {
        self.elements
    }

    /// The time at which all is asked: the end of the history.
    #[must_use]
    pub fn present_s(&self) -> u32 {
        FIRST_S + self.days * DAY_S
    }

    /// From this time on every element has a valid entry.
    #[must_use]
    pub fn complete_s(&self) -> u32 {
        FIRST_S + self.slot_s()
    }

    /// An entry of a table, by its row.
    #[must_use]
    pub fn entry(&self, table: usize, data_id: u64) -> Entry {
        let element = (data_id - 1) % self.elements;
        let slot = (data_id - 1) / self.elements;
        let withdrawn = slot % WITHDRAWN_EVERY == WITHDRAWN_AT;
        let replaces = slot % WITHDRAWN_EVERY == WITHDRAWN_AT + 1;
        let begin_s = self.begin_s(table, slot - u64::from(replaces), element);
        let deactive_s = begin_s + WITHDRAWN_AFTER_S;
        let entered_s = if replaces {
            deactive_s
        } else {
            begin_s + ENTERED_AFTER_S
        };
        Entry {
            data_id,
            element,
            begin_s,
            entered_s,
            flavor: if slot % SIMULATED_EVERY == SIMULATED_EVERY - 1 {
                SIMULATED
            } else {
                RECORDED
            },
            deactive_s: if withdrawn { deactive_s } else { 0 },
        }
    }

    /// Slots follow one another without a gap; where in its slot an entry begins looks random.
    fn begin_s(&self, table: usize, slot: u64, element: u64) -> u32 {
        let slot_s = u64::from(self.slot_s());
        let scattered = scatter(table as u64, slot, element) % slot_s;
        let after_s = u32::try_from(slot * slot_s + scattered).unwrap_or(u32::MAX);
        FIRST_S.saturating_add(after_s)
    }

    /// Length of a slot, cut to whole seconds; the last one ends at the present or before.
    fn slot_s(&self) -> u32 {
        let slots = self.rows.div_ceil(self.elements);
        u32::try_from(u64::from(self.days * DAY_S) / slots).unwrap_or(u32::MAX)
    }
}

/// 64 bits that depend on all three: the finaliser of `SplitMix64` (Steele, Lea and Flood 2014) over
/// their Weyl sum.
fn scatter(table: u64, slot: u64, element: u64) -> u64 {
    let mut mixed = table
        .wrapping_mul(0x9E37_79B9_7F4A_7C15)
        .wrapping_add(slot.wrapping_mul(0xD1B5_4A32_D192_ED03))
        .wrapping_add(element.wrapping_mul(0x8CB9_2BA7_2F3D_8DD7));
    mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_begin_one_after_the_other_until_the_present() {
        let history = History::new(1000, 3, 365).unwrap();
        for element in 0..3 {
            let standing: Vec<Entry> = (1..=1000)
                .map(|row| history.entry(7, row))
                .filter(|entry| entry.element == element && entry.stands())
                .collect();
            assert!(standing.len() > 250, "{}", standing.len());
            for pair in standing.windows(2) {
                assert!(pair[0].begin_s < pair[1].begin_s, "{pair:?}");
            }
            assert!(standing[0].begin_s < history.complete_s());
            assert!(
                standing
                    .iter()
                    .all(|entry| entry.begin_s <= history.present_s())
            );
        }
        let last = history.entry(7, 1000).begin_s;
        assert!(
            history.present_s() - last < 3 * DAY_S,
            "close to the present"
        );
    }

    #[test]
    fn a_withdrawn_entry_has_one_in_its_place() {
        let history = History::new(160, 1, 365).unwrap();
        let entries: Vec<Entry> = (1..=160).map(|row| history.entry(1, row)).collect();
        let withdrawn: Vec<&Entry> = entries
            .iter()
            .filter(|entry| entry.deactive_s > 0)
            .collect();
        assert_eq!(withdrawn.len(), 20);
        for wrong in withdrawn {
            let right = history.entry(1, wrong.data_id + 1);
            assert_eq!(right.begin_s, wrong.begin_s);
            assert!(right.entered_s > wrong.entered_s && right.deactive_s == 0);
        }
        let simulated = entries.iter().filter(|entry| entry.flavor == SIMULATED);
        assert_eq!(simulated.count(), 10);
    }

    #[test]
    fn tables_differ() {
        let history = History::new(100, 1, 365).unwrap();
        let begins = |table| (1..=100).map(move |row| history.entry(table, row).begin_s);
        assert!(begins(1).ne(begins(2)));
        assert!(begins(1).eq(begins(1)));
    }

    #[test]
    fn impossible_histories_are_refused() {
        assert_eq!(
            History::new(3, 4, 10),
            Err(HistoryError::TooFewRows {
                rows: 3,
                elements: 4
            })
        );
        assert!(History::new(86_400, 1, 1).is_ok());
        let error = History::new(86_401, 1, 1).unwrap_err();
        assert!(error.to_string().contains("more days"), "{error}");
        let longest = History::new(10, 1, History::LONGEST_DAYS).unwrap();
        let latest = longest.present_s() + WITHDRAWN_AFTER_S;
        assert!(i32::try_from(latest).is_ok(), "{latest}");
    }
}
