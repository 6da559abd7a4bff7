//! Nonsense on the command line and on standard input.

use std::process::Stdio;
use std::time::Duration;

use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::case::{each, run, run_with, seeds};

const LIMIT: Duration = Duration::from_secs(10);

/// Options of a run, and values that fit some of them.
const OPTIONS: [&str; 21] = [
    "--url",
    "--clients",
    "--workers",
    "--seconds",
    "--transactions",
    "--warm-up",
    "--rate",
    "--arrivals",
    "--report-interval",
    "--percentiles",
    "--json",
    "--lockstep",
    "--retry",
    "--mix",
    "--tables",
    "--rows",
    "--distribution",
    "--seed",
    "--protocol",
    "--statement-limit",
    "--password-file",
];
const VALUES: [&str; 30] = [
    "null:",
    "0",
    "1",
    "-1",
    "3",
    "0.1",
    "0.05",
    "1e309",
    "nan",
    "inf",
    "-0",
    "1e-300",
    "18446744073709551615",
    "18446744073709551616",
    "4294967296",
    "99999999999999999999999",
    "",
    " ",
    "text",
    "prepared",
    "complex",
    "uniform",
    "even",
    "poisson",
    "50,99,99.999",
    "100.0000001",
    "\u{1b}[2J",
    "\u{202e}",
    "transient",
    "mysql://a:b@c:99999/d",
];

#[test]
fn hostile_command_lines() {
    each(seeds(150, 10), 2, |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut words = vec!["run".to_owned(), "oltp".to_owned()];
        words.extend(["--url", "null:", "--seconds", "0.05"].map(str::to_owned));
        for _ in 0..random.random_range(1..5) {
            words.push(OPTIONS[random.random_range(0..OPTIONS.len())].to_owned());
            if random.random_bool(0.85) {
                words.push(VALUES[random.random_range(0..VALUES.len())].to_owned());
            }
        }
        let case = format!("seed {seed}, {words:?}");
        run(&words, LIMIT).check(&case);
    });
}

#[test]
fn hostile_standard_input() {
    let words = "run oltp --url null: --seconds 0.1 --json --lockstep --clients 2";
    let words: Vec<_> = words.split(' ').map(str::to_owned).collect();
    each(seeds(40, 100), 4, |seed| {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let mut bytes = vec![0; random.random_range(0..200_000)];
        random.fill_bytes(&mut bytes);
        for byte in &mut bytes {
            if random.random_bool(0.1) {
                *byte = b'\n';
            }
        }
        let ended = run_with(&words, Stdio::piped(), &bytes, LIMIT);
        assert!(!ended.interrupted, "seed {seed}: it hung; {}", ended.text());
        ended.check_quiet(&format!("seed {seed}"));
    });
    for endless in ["/dev/zero", "/dev/urandom"] {
        let endless = std::fs::File::open(endless).expect("a device");
        let ended = run_with(&words, endless.into(), b"", LIMIT);
        assert!(!ended.interrupted, "it hung; {}", ended.text());
        ended.check_quiet("a device");
    }
}
