//! Random bytes, seeded: the decoders may refuse them in any way but a panic or a hang.

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::{packet, result};
use crate::driver::account::Login;
use crate::driver::mysql::handshake::Handshake;
use crate::driver::mysql::preparation::Preparation;
use crate::driver::mysql::reply::ReplyReader;
use crate::target::Password;

const ROUNDS: usize = 20_000;

fn random_bytes(rng: &mut Xoshiro256PlusPlus, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; rng.random_range(0..=most)];
    rng.fill_bytes(&mut bytes);
    // Bytes that mean something come more often than chance would have them.
    for byte in &mut bytes {
        if rng.random_bool(0.3) {
            *byte = [0x00, 0x01, 0x03, 0x0A, 0xFB, 0xFC, 0xFE, 0xFF][rng.random_range(0..8)];
        }
    }
    bytes
}

#[test]
fn replies() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(1);
    for _ in 0..ROUNDS {
        let mut reader = ReplyReader::default();
        reader.begin(1);
        for _ in 0..rng.random_range(1..6) {
            let content = random_bytes(&mut rng, 40);
            let sequence = rng.random_range(1..4);
            if reader.feed(&packet(sequence, &content)).is_err() {
                break;
            }
        }
    }
}

#[test]
fn replies_with_one_byte_wrong() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(2);
    let good = result(&[b"\x03abc", b"\x05hello"]);
    for _ in 0..ROUNDS {
        let mut bytes = good.clone();
        let at = rng.random_range(0..bytes.len());
        bytes[at] = rng.random();
        let mut reader = ReplyReader::default();
        reader.begin(1);
        let _ = reader.feed(&bytes);
    }
}

#[test]
fn log_ins() {
    let login = Login {
        user: "anna".into(),
        password: Password(Some("geheim".into())),
        database: "bench".into(),
        ..Login::default()
    };
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(3);
    for _ in 0..ROUNDS {
        let mut handshake = Handshake::default();
        let greeting = [b"\x0A8.0\0".as_slice(), &random_bytes(&mut rng, 80)].concat();
        let mut going = handshake.on_packet(&login, &greeting).is_ok();
        while going && rng.random_bool(0.8) {
            going = handshake
                .on_packet(&login, &random_bytes(&mut rng, 60))
                .is_ok();
        }
    }
}

#[test]
fn preparations() {
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(4);
    for _ in 0..ROUNDS {
        let mut preparation = Preparation::new(rng.random_range(0..3));
        while preparation.on_packet(&random_bytes(&mut rng, 16)).is_ok() && rng.random_bool(0.9) {}
    }
}
