//! A server's public key, held to its form before it is used: `mysql_common` takes every key for
//! a good one, and panics at others.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use rustls::pki_types::SubjectPublicKeyInfoDer;
use rustls::pki_types::pem::PemObject;

use super::wire::protocol;
use crate::driver::Fault;

const SEQUENCE: u8 = 0x30;
const INTEGER: u8 = 0x02;
const BIT_STRING: u8 = 0x03;

/// Shorter keys protect nothing; longer ones than 16,384 bits cost seconds.
const MODULUS_BYTES: std::ops::RangeInclusive<usize> = 128..=2048;
/// The public exponent is 65537 nearly everywhere.
const LONGEST_EXPONENT_BYTES: usize = 8;
/// Bytes of the modulus that OAEP with SHA-1 takes: two digests and two bytes (RFC 8017, 7.1.1).
const PADDING_BYTES: usize = 2 * 20 + 2;

/// The key as plain PEM, if it can encrypt a password of that length.
pub(super) fn checked(pem: &[u8], password_bytes: usize) -> Result<Vec<u8>, Fault> {
    let key = SubjectPublicKeyInfoDer::from_pem_slice(pem)
        .map_err(|error| protocol(format!("an invalid public key: {error}")))?;
    let modulus_bytes = modulus_bytes(&key)
        .ok_or_else(|| protocol("a public key that is not RSA, or of an unusual length"))?;
    // The password goes with a zero byte at its end.
    if password_bytes + 1 + PADDING_BYTES > modulus_bytes {
        return Err(protocol(format!(
            "the server's key of {modulus_bytes} bytes is too short for this password; \
             add ssl-mode=required to the URL"
        )));
    }
    let body = STANDARD.encode(&key);
    let pem = format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n");
    Ok(pem.into_bytes())
}

/// The modulus's length; `None` if the key does not have RSA's form: a sequence of the algorithm
/// and a bit string, which holds a sequence of modulus and exponent (RFC 3279, 2.3.1).
fn modulus_bytes(key: &[u8]) -> Option<usize> {
    let fields = only(SEQUENCE, key)?;
    let (_algorithm, bits) = element(SEQUENCE, fields)?;
    let (&0, numbers) = only(BIT_STRING, bits)?.split_first()? else {
        return None;
    };
    let (modulus, exponent) = element(INTEGER, only(SEQUENCE, numbers)?)?;
    let (modulus, exponent) = (positive(modulus)?, positive(only(INTEGER, exponent)?)?);
    let odd = |number: &[u8]| number.last().is_some_and(|last| last & 1 == 1);
    let usable = odd(modulus)
        && MODULUS_BYTES.contains(&modulus.len())
        && odd(exponent)
        && exponent.len() <= LONGEST_EXPONENT_BYTES
        && exponent != [1];
    usable.then_some(modulus.len())
}

/// The content of the one element that there is.
fn only(tag: u8, der: &[u8]) -> Option<&[u8]> {
    element(tag, der)
        .filter(|(_, rest)| rest.is_empty())
        .map(|(content, _)| content)
}

/// The content of the first element, and what comes after it.
fn element(tag: u8, der: &[u8]) -> Option<(&[u8], &[u8])> {
    let (length, rest) = match der {
        [first, length @ 0..=0x7F, rest @ ..] if *first == tag => (usize::from(*length), rest),
        [first, 0x81, length, rest @ ..] if *first == tag => (usize::from(*length), rest),
        [first, 0x82, high, low, rest @ ..] if *first == tag => {
            (usize::from(*high) << 8 | usize::from(*low), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

/// A number without the zero that says that it is positive.
fn positive(number: &[u8]) -> Option<&[u8]> {
    match number {
        [0, digits @ ..] if digits.first().is_some_and(|&first| first >= 0x80) => Some(digits),
        [1..=0x7F, ..] => Some(number),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::super::tests::KEY;
    use super::*;

    fn pem(der: &[u8]) -> Vec<u8> {
        let body = STANDARD.encode(der);
        format!("-----BEGIN PUBLIC KEY-----\n{body}\n-----END PUBLIC KEY-----\n").into_bytes()
    }

    fn der() -> Vec<u8> {
        SubjectPublicKeyInfoDer::from_pem_slice(KEY)
            .unwrap()
            .to_vec()
    }

    #[test]
    fn a_good_key_stays_the_same() {
        assert_eq!(checked(KEY, 20).unwrap(), pem(&der()));
        assert_eq!(modulus_bytes(&der()), Some(256));
    }

    #[test]
    fn the_longest_password() {
        assert!(checked(KEY, 213).is_ok());
        let refusal = checked(KEY, 214).unwrap_err().to_string();
        assert!(refusal.contains("ssl-mode=required"), "{refusal}");
    }

    #[test]
    fn what_is_no_key_is_refused() {
        for nonsense in [
            &b""[..],
            b"\x03",
            b"-----BEGIN PUBLIC KEY-----",
            &pem(b""),
            &pem(b"0\x82"),
        ] {
            assert!(
                matches!(checked(nonsense, 5), Err(Fault::Protocol(_))),
                "{nonsense:?}"
            );
        }
        let good = der();
        for cut in 0..good.len() {
            assert!(checked(&pem(&good[..cut]), 5).is_err(), "cut at {cut}");
        }
        // An even modulus, an exponent of one, of none.
        let mut even = good.clone();
        even[good.len() - 6] &= 0xFE;
        let mut one = good.clone();
        one[good.len() - 4..].copy_from_slice(&[1, 1, 0, 1]);
        let mut zero = good.clone();
        zero[good.len() - 3..].copy_from_slice(&[0, 0, 0]);
        for bad in [even, one, zero] {
            assert_eq!(modulus_bytes(&bad), None);
        }
    }

    #[test]
    fn no_byte_that_is_wrong_makes_a_panic() {
        let good = der();
        for at in 0..good.len() {
            for value in [0, 1, 0x7F, 0x80, 0x81, 0x82, 0x84, 0xFF] {
                let mut bad = good.clone();
                bad[at] = value;
                let _ = checked(&pem(&bad), 5);
            }
        }
    }
}
