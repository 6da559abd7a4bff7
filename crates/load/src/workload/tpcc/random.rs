//! The specification's random values: `NURand`, last names, strings.

use rand::RngExt;
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::workload::generator::generator;

/// Generator of all draws.
pub(super) type Random = Xoshiro256PlusPlus;

/// Customers of a district (clause 1.2.1).
pub const CUSTOMERS: u64 = 3_000;
/// Items, and so stocks of a warehouse (clause 1.2.1).
pub const ITEMS: u64 = 100_000;
/// Districts of a warehouse, and terminals that are bound to it (clauses 1.2.1 and 4.2.2).
pub const DISTRICTS: u64 = 10;
/// Numbers from which last names are made (clause 4.3.2.3).
pub const LAST_NAMES: u64 = 1_000;

/// A number of the company's as an index: far below what either type holds.
pub(super) fn index(number: u64) -> usize {
    usize::try_from(number).unwrap_or(usize::MAX)
}

/// The constant A of each `NURand` (clause 2.1.6).
const A_LAST_NAME: u64 = 255;
const A_CUSTOMER: u64 = 1_023;
const A_ITEM: u64 = 8_191;

/// The constant C for last names while the tables are loaded. It may be any number from 0 to 255,
/// and is the same for all data sets so that a run can keep its distance from it.
pub const C_LOAD: u64 = 157;

/// The constants C of a run (clause 2.1.6.1).
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize)]
pub struct Constants {
    pub last_name: u64,
    pub customer: u64,
    pub item: u64,
}

impl Constants {
    /// Draws those of a run. The one for last names must differ from the load's by 65 to 119, but
    /// by neither 96 nor 112.
    pub fn draw(seed: u64) -> Self {
        let mut random = generator(seed, [0, 0]);
        let last_name = loop {
            let drawn = random.random_range(0..=A_LAST_NAME);
            let distance = drawn.abs_diff(C_LOAD);
            if (65..=119).contains(&distance) && distance != 96 && distance != 112 {
                break drawn;
            }
        };
        Self {
            last_name,
            customer: random.random_range(0..=A_CUSTOMER),
            item: random.random_range(0..=A_ITEM),
        }
    }

    /// The number of a last name, from 0.
    pub(super) fn last_name(self, random: &mut Random) -> u64 {
        nurand(A_LAST_NAME, self.last_name, [0, LAST_NAMES - 1], random)
    }

    /// A customer's number in its district, from 1.
    pub(super) fn customer(self, random: &mut Random) -> u64 {
        nurand(A_CUSTOMER, self.customer, [1, CUSTOMERS], random)
    }

    /// An item's number, from 1.
    pub(super) fn item(self, random: &mut Random) -> u64 {
        nurand(A_ITEM, self.item, [1, ITEMS], random)
    }
}

/// `NURand(A, x, y)` of clause 2.1.6.
fn nurand(a: u64, c: u64, [x, y]: [u64; 2], random: &mut Random) -> u64 {
    let drawn = random.random_range(0..=a) | random.random_range(x..=y);
    (drawn + c) % (y - x + 1) + x
}

/// Whether an event of this many percent happens.
pub(super) fn percent(chance: u64, random: &mut Random) -> bool {
    random.random_range(1..=100) <= chance
}

/// Appends the last name of a number from 0 to 999: a syllable for each digit (clause 4.3.2.3).
pub(super) fn push_last_name(number: u64, out: &mut Vec<u8>) {
    const SYLLABLES: [&str; 10] = [
        "BAR", "OUGHT", "ABLE", "PRI", "PRES", "ESE", "ANTI", "CALLY", "ATION", "EING",
    ];
    for digit in [number / 100, number / 10 % 10, number % 10] {
        out.extend_from_slice(SYLLABLES[(digit % 10) as usize].as_bytes());
    }
}

/// Appends cents as an amount with two decimals.
pub(super) fn push_amount(cents: i64, out: &mut Vec<u8>) {
    let (whole, rest) = (cents.unsigned_abs() / 100, cents.unsigned_abs() % 100);
    if cents < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(itoa::Buffer::new().format(whole).as_bytes());
    // The hundred keeps the zero of cents below ten.
    out.extend_from_slice(itoa::Buffer::new().format(100 + rest).as_bytes());
    let point = out.len() - 3;
    out[point] = b'.';
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut out = Vec::new();
        write(&mut out);
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn last_names_are_those_of_the_specification() {
        // The example of clause 4.3.2.3.
        assert_eq!(text(|out| push_last_name(371, out)), "PRICALLYOUGHT");
        assert_eq!(text(|out| push_last_name(40, out)), "BARPRESBAR");
    }

    #[test]
    fn amounts_have_two_decimals() {
        for (cents, expected) in [
            (0, "0.00"),
            (7, "0.07"),
            (-1000, "-10.00"),
            (123_456, "1234.56"),
        ] {
            assert_eq!(text(|out| push_amount(cents, out)), expected);
        }
    }

    #[test]
    fn constants_keep_their_distance() {
        for seed in 0..500 {
            let constants = Constants::draw(seed);
            let distance = constants.last_name.abs_diff(C_LOAD);
            assert!((65..=119).contains(&distance) && distance != 96 && distance != 112);
            assert!(constants.customer <= A_CUSTOMER && constants.item <= A_ITEM);
            assert_eq!(constants, Constants::draw(seed));
        }
    }

    #[test]
    fn nurand_has_its_range_and_favours_some() {
        let constants = Constants::draw(1);
        let mut random = generator(9, [1, 1]);
        let mut counts = vec![0_u32; index(ITEMS) + 1];
        for _ in 0..1_000_000 {
            counts[index(constants.item(&mut random))] += 1;
        }
        assert_eq!(counts[0], 0);
        counts.sort_unstable();
        let hot: u32 = counts.iter().rev().take(20_000).sum();
        // "84 percent of the accesses go to 20 percent of the tuples" (Leutenegger and Dias, "A
        // modeling study of the TPC-C benchmark", SIGMOD 1993). Sorted by chance counts of ten, the
        // hottest have a little more.
        assert!((840_000..880_000).contains(&hot), "{hot}");
    }
}
