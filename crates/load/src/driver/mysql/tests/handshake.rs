//! Log-ins against scripted servers. The expected scrambles were computed apart from this
//! program, with Python's hashlib, after the formulas of the MySQL internals manual.

use super::super::handshake::{Handshake, Step};
use crate::driver::Fault;
use crate::driver::account::Login;
use crate::target::Password;

pub(super) const NONCE: &[u8; 20] = b"abcdefghijklmnopqrst";

pub(super) fn login(password: &str, private_channel: bool) -> Login {
    Login {
        user: "anna".into(),
        password: Password(Some(password.into())),
        database: "bench".into(),
        is_local: private_channel,
        ..Login::default()
    }
}

/// A greeting of protocol 10 whose server knows methods of authentication.
pub(super) fn greeting(version: &[u8], plugin: &[u8]) -> Vec<u8> {
    let mut packet = vec![10];
    packet.extend_from_slice(version);
    packet.push(0);
    packet.extend_from_slice(&7_u32.to_le_bytes());
    packet.extend_from_slice(&NONCE[..8]);
    packet.push(0);
    packet.extend_from_slice(&[0xFF, 0xF7, 0x21, 0x02, 0x00, 0xFF, 0x81, 21]);
    packet.extend_from_slice(&[0; 10]);
    packet.extend_from_slice(&NONCE[8..]);
    packet.push(0);
    packet.extend_from_slice(plugin);
    packet.push(0);
    packet
}

fn sent(step: Step) -> Vec<u8> {
    match step {
        Step::Send(packet) => packet,
        other => panic!("nothing was sent: {other:?}"),
    }
}

fn contains(packet: &[u8], part: &[u8]) -> bool {
    packet.windows(part.len()).any(|window| window == part)
}

fn hex(text: &str) -> Vec<u8> {
    let digit = |at: usize| u8::from_str_radix(&text[at..at + 2], 16).unwrap();
    (0..text.len()).step_by(2).map(digit).collect()
}

/// SHA1("geheim") xor SHA1(nonce + SHA1(SHA1("geheim"))).
const NATIVE: &str = "bbcdd98c2cc26e66e1163072def02efa6672b012";
/// SHA256("geheim") xor SHA256(SHA256(SHA256("geheim")) + nonce).
const SHA2: &str = "9d5463db7402d7b2a6024117cc0517debae53b09d2425fb4d80386ef286c8beb";

#[test]
fn native_password() {
    let (mut handshake, login) = (Handshake::default(), login("geheim", false));
    let greeting = greeting(b"5.5.5-10.11.14-MariaDB", b"mysql_native_password");
    let answer = sent(handshake.on_packet(&login, &greeting).unwrap());
    assert!(
        contains(&answer, b"anna\0\x14"),
        "the user and the scramble's length"
    );
    assert!(contains(&answer, &hex(NATIVE)));
    assert!(contains(&answer, b"bench\0mysql_native_password"));
    let done = handshake.on_packet(&login, b"\0\0\0\x02\0\0\0").unwrap();
    assert_eq!(done, Step::Done);
    assert!(
        handshake.on_packet(&login, b"\0").is_err(),
        "nothing comes after the end"
    );
}

#[test]
fn no_password_sends_no_scramble() {
    let login = login("", false);
    // The second has digits of another script.
    for version in ["5.1.73", "\u{ff18}.\u{ff10}.\u{ff13}"] {
        let greeting = greeting(version.as_bytes(), b"mysql_native_password");
        let answer = sent(Handshake::default().on_packet(&login, &greeting).unwrap());
        assert!(contains(&answer, b"anna\0\0bench\0"));
    }
}

#[test]
fn caching_sha2_cached() {
    let (mut handshake, login) = (Handshake::default(), login("geheim", false));
    let greeting = greeting(b"8.4.3", b"caching_sha2_password");
    let answer = sent(handshake.on_packet(&login, &greeting).unwrap());
    assert!(contains(&answer, &hex(SHA2)));
    assert_eq!(
        handshake.on_packet(&login, b"\x01\x03").unwrap(),
        Step::Wait
    );
    assert!(matches!(
        handshake.on_packet(&login, b"\0\0\0\x02\0").unwrap(),
        Step::Done
    ));
}

#[test]
fn caching_sha2_over_a_socket_sends_the_password() {
    let (mut handshake, login) = (Handshake::default(), login("geheim", true));
    handshake
        .on_packet(&login, &greeting(b"8.4.3", b"caching_sha2_password"))
        .unwrap();
    let answer = sent(handshake.on_packet(&login, b"\x01\x04").unwrap());
    assert_eq!(answer, b"geheim\0");
}

#[test]
fn no_key_of_the_network_encrypts_the_password() {
    let key = b"\x01-----BEGIN PUBLIC KEY-----\nMFwwDQYJ\n-----END PUBLIC KEY-----\n";
    for method in [&b"caching_sha2_password"[..], b"sha256_password"] {
        let (mut handshake, login) = (Handshake::default(), login("geheim", false));
        let greeting = greeting(b"8.4.3", method);
        let mut sent_in_all = sent(handshake.on_packet(&login, &greeting).unwrap());
        if method == b"caching_sha2_password" {
            sent_in_all.extend(sent(handshake.on_packet(&login, b"\x01\x04").unwrap()));
        }
        let refused = handshake.on_packet(&login, key).unwrap_err();
        assert!(
            matches!(&refused, Fault::Protocol(message) if message.contains("ssl-mode=required")),
            "{refused:?}"
        );
        assert!(!contains(&sent_in_all, b"geheim"));
    }
}

#[test]
fn a_switch_brings_its_own_scramble() {
    let (mut handshake, login) = (Handshake::default(), login("geheim", false));
    handshake
        .on_packet(&login, &greeting(b"8.0.40", b"caching_sha2_password"))
        .unwrap();
    let request = [b"\xFEmysql_native_password\0", &NONCE[..], b"\0"].concat();
    assert_eq!(
        sent(handshake.on_packet(&login, &request).unwrap()),
        hex(NATIVE)
    );
}

#[test]
fn a_server_does_not_get_the_password_in_clear_over_tcp() {
    let request = b"\xFEmysql_clear_password\0";
    let greeting = greeting(b"8.0.40", b"mysql_native_password");
    for (private_channel, encrypt, verify, clear) in [
        (true, false, false, true),
        (false, false, false, false),
        // Whoever stands in the middle could have made the certificate.
        (false, true, false, false),
        (false, true, true, true),
    ] {
        let login = Login {
            encrypt,
            verify,
            ..login("geheim", private_channel)
        };
        let mut greeting = greeting.clone();
        let capabilities = greeting.iter().position(|&byte| byte == 0xF7);
        greeting[capabilities.unwrap()] |= 0x08;
        let mut handshake = Handshake::default();
        handshake.on_packet(&login, &greeting).unwrap();
        match handshake.on_packet(&login, request) {
            Ok(step) => assert!(clear && sent(step) == b"geheim\0"),
            Err(fault) => assert!(!clear && fault.to_string().contains("mysql_clear_password")),
        }
    }
}

#[test]
fn a_log_in_comes_to_an_end() {
    let (mut handshake, login) = (Handshake::default(), login("geheim", false));
    let greeting = greeting(b"8.0.40", b"mysql_native_password");
    handshake.on_packet(&login, &greeting).unwrap();
    let again = [b"\xFEmysql_native_password\0", &NONCE[..], b"\0"].concat();
    let fault = (0..1000).find_map(|_| handshake.on_packet(&login, &again).err());
    let fault = fault.expect("an end").to_string();
    assert!(fault.contains("never ends"), "{fault}");
}

#[test]
fn refusals_and_nonsense() {
    let login = login("geheim", false);
    let first = |packet: &[u8]| Handshake::default().on_packet(&login, packet).unwrap_err();
    assert!(
        matches!(first(b"\xFF\x10\x04Too many connections"), Fault::Server(error) if error.code == "1040")
    );
    let good = greeting(b"8.0.40", b"mysql_native_password");
    for cut in 0..good.len() - 40 {
        assert!(
            matches!(first(&good[..cut]), Fault::Protocol(_)),
            "cut at {cut}"
        );
    }
    let mut old = good.clone();
    old[0] = 9;
    assert!(matches!(first(&old), Fault::Protocol(_)));
    for nonsense in [
        &b""[..],
        b"\x42",
        b"\xFE",
        b"\xFEmysql_native_password\0short",
        b"\x01what",
    ] {
        let mut handshake = Handshake::default();
        handshake
            .on_packet(&login, &greeting(b"8.4.3", b"caching_sha2_password"))
            .unwrap();
        assert!(
            matches!(
                handshake.on_packet(&login, nonsense),
                Err(Fault::Protocol(_))
            ),
            "{nonsense:?}"
        );
    }
}
