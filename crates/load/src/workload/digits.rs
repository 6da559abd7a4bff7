//! Random text: the strings of digits that sysbench's tables hold, joined by '-' (groups of eleven
//! digits, or numbers in version 0.4), and letters for tables of our own.

use rand::{Rng, RngExt};

const GROUP_DIGITS: usize = 11;
const GROUP_VALUES: u64 = 100_000_000_000;

/// Appends column `c`: ten groups, 119 characters.
pub fn push_c(rng: &mut impl Rng, out: &mut Vec<u8>) {
    push_groups::<10>(rng, out);
}

/// Appends column `pad`: five groups, 59 characters.
pub fn push_pad(rng: &mut impl Rng, out: &mut Vec<u8>) {
    push_groups::<5>(rng, out);
}

/// Appends column `c` as sysbench 0.4 fills it: ten numbers of 31 bits, at most 109 characters.
pub fn push_numbers(rng: &mut impl Rng, out: &mut Vec<u8>) {
    let mut number = itoa::Buffer::new();
    for position in 0..10 {
        if position > 0 {
            out.push(b'-');
        }
        let drawn: u32 = rng.random_range(0..1 << 31);
        out.extend_from_slice(number.format(drawn).as_bytes());
    }
}

/// Appends letters, digits and two signs: six random bits a byte, so that nothing compresses it much.
pub fn push_letters(bytes: usize, rng: &mut impl Rng, out: &mut Vec<u8>) {
    const LETTERS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    const PER_DRAW: usize = 10;
    let end = out.len() + bytes;
    while out.len() < end {
        let mut random = rng.next_u64();
        for _ in 0..PER_DRAW.min(end - out.len()) {
            out.push(LETTERS[(random % 64) as usize]);
            random /= 64;
        }
    }
}

fn push_groups<const GROUPS: usize>(rng: &mut impl Rng, out: &mut Vec<u8>) {
    out.extend_from_slice(&group(rng.next_u64()));
    for _ in 1..GROUPS {
        out.push(b'-');
        out.extend_from_slice(&group(rng.next_u64()));
    }
}

/// Eleven digits from 64 random bits, scaled down by a multiplication: the bias is below 1e-8.
fn group(random: u64) -> [u8; GROUP_DIGITS] {
    let scaled = (u128::from(random) * u128::from(GROUP_VALUES)) >> 64;
    let mut number = itoa::Buffer::new();
    // With a digit before it, so that zeros stay.
    let digits = number.format(GROUP_VALUES + u64::try_from(scaled).unwrap_or(0));
    *digits
        .as_bytes()
        .last_chunk()
        .unwrap_or(&[b'0'; GROUP_DIGITS])
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_xoshiro::Xoshiro256PlusPlus;

    use super::*;

    #[test]
    fn groups_of_eleven_digits() {
        assert_eq!(&group(0), b"00000000000");
        assert_eq!(&group(u64::MAX), b"99999999999");
        assert_eq!(&group(1 << 63), b"50000000000");
    }

    #[test]
    fn c_has_119_characters_and_pad_59() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
        let (mut c, mut pad) = (Vec::new(), Vec::new());
        push_c(&mut rng, &mut c);
        push_pad(&mut rng, &mut pad);
        assert_eq!((c.len(), pad.len()), (119, 59));
        for text in [c, pad] {
            for (at, byte) in text.iter().enumerate() {
                assert_eq!(*byte == b'-', at % 12 == 11, "{at}");
                assert!(*byte == b'-' || byte.is_ascii_digit());
            }
        }
    }

    #[test]
    fn every_digit_is_as_likely_as_every_other() {
        let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
        let mut text = Vec::new();
        for _ in 0..2000 {
            push_c(&mut rng, &mut text);
        }
        let expected = 220_000.0 / 10.0;
        for digit in b'0'..=b'9' {
            let seen = text
                .iter()
                .fold(0, |seen, byte| seen + u32::from(*byte == digit));
            // Five standard deviations of a binomial count: a false alarm in 10^6 seeds.
            assert!(
                (f64::from(seen) - expected).abs() < 5.0 * (expected * 0.9).sqrt(),
                "{digit}"
            );
        }
    }
}
