//! Scripts that make no sense: each is refused with its place, or runs.

use std::panic::catch_unwind;

use diskproof_load::driver::{Args, Dialect, Protocol};
use diskproof_load::workload::script::{ScriptOptions, ScriptWorkload, Source, Value, Weighted};
use diskproof_load::workload::sql::{Errand, Fence};
use diskproof_load::workload::{Script, Workload};
use rand::{Rng, RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;

use crate::case::seeds;

/// Scripts that once did harm.
const KEPT: [&str; 6] = [
    "",
    "\u{feff}SELECT 1;",
    "\\set a 1 % 0\nSELECT :a",
    "\\set a -9223372036854775808 / -1\nSELECT :a",
    "\\set a random(9223372036854775807, -9223372036854775808)",
    "\\sleep 99999999999999999999 s",
];

const PIECES: [&str; 72] = [
    "SELECT 1;\n",
    "SELECT :a;\n",
    "UPDATE t SET a = :a WHERE b = ':a';\n",
    "BEGIN;",
    "COMMIT;\n",
    "\\set a ",
    "\\set b ",
    "\\if ",
    "\\elif ",
    "\\else\n",
    "\\endif\n",
    "\\sleep ",
    "\\gset\n",
    "\\aset x\n",
    "\\startpipeline\n",
    "\\endpipeline\n",
    "\\setshell a ls\n",
    "\\nonsense\n",
    "\\",
    "\n",
    "\r\n",
    ";",
    " ",
    "\t",
    "\0",
    "\u{1b}[2J",
    "\u{202e}",
    "\u{feff}",
    "ä",
    "日本",
    "'",
    "\"",
    "`",
    "$$",
    "$tag$",
    "/*",
    "*/",
    "--",
    "#",
    "::",
    ":",
    ":a",
    ":b",
    ":client_id",
    "(",
    ")",
    ",",
    "+",
    "-",
    "*",
    "/",
    "%",
    "<<",
    ">>",
    "<>",
    "=",
    "and ",
    "or ",
    "not ",
    "is null ",
    "case when ",
    "then ",
    "end ",
    "0",
    "1",
    "9223372036854775807",
    "9223372036854775808",
    "1e308",
    ".5",
    "random(1, 10)",
    "random_zipfian(1, 10, 1.5)",
    "DELIMITER //\n",
];

const FUNCTIONS: [&str; 24] = [
    "abs",
    "least",
    "greatest",
    "int",
    "double",
    "sqrt",
    "ln",
    "exp",
    "pow",
    "power",
    "mod",
    "pi",
    "random",
    "random_exponential",
    "random_gaussian",
    "random_zipfian",
    "permute",
    "hash",
    "hash_fnv1a",
    "hash_murmur2",
    "debug",
    "nullif",
    "coalesce",
    "nonsense",
];

const NUMBERS: [&str; 14] = [
    "0",
    "-1",
    "1",
    "2",
    "9223372036854775807",
    "-9223372036854775808",
    "1.5",
    "-0.0",
    "1e308",
    "1e-308",
    "2.5",
    "null",
    "true",
    ":a",
];

fn script(random: &mut impl Rng) -> String {
    let mut text = String::new();
    for _ in 0..random.random_range(1..30) {
        if random.random_bool(0.3) {
            text += "\\set a ";
            expression(random, &mut text, 0);
            text.push('\n');
        } else {
            text += PIECES[random.random_range(0..PIECES.len())];
        }
    }
    if random.random_bool(0.02) {
        text = text.repeat(200);
    }
    if random.random_bool(0.02) {
        text = format!("\\set a {}1{}\n{text}", "(".repeat(600), ")".repeat(300));
    }
    text
}

/// Well formed, with values at the edges.
fn expression(random: &mut impl Rng, text: &mut String, depth: u32) {
    match random.random_range(0..6) {
        0..=2 if depth > 0 => *text += NUMBERS[random.random_range(0..NUMBERS.len())],
        3 if depth < 4 => {
            text.push('(');
            expression(random, text, depth + 1);
            let operators = [
                "+", "-", "*", "/", "%", "<<", ">>", "&", "|", "#", "<", "=", " and ",
            ];
            *text += operators[random.random_range(0..operators.len())];
            expression(random, text, depth + 1);
            text.push(')');
        }
        _ if depth < 4 => {
            *text += FUNCTIONS[random.random_range(0..FUNCTIONS.len())];
            text.push('(');
            for place in 0..random.random_range(0..4) {
                if place > 0 {
                    text.push(',');
                }
                expression(random, text, depth + 1);
            }
            text.push(')');
        }
        _ => *text += NUMBERS[random.random_range(0..NUMBERS.len())],
    }
}

/// Reads the script and, if it makes sense, draws some of its transactions.
fn try_out(text: &str, seed: u64) {
    let source = || Source {
        name: "script".into(),
        text: text.into(),
    };
    for (dialect, protocol) in [
        (Dialect::Mysql, Protocol::Text),
        (Dialect::Postgres, Protocol::Prepared),
        (Dialect::Sqlite, Protocol::Prepared),
    ] {
        let options = ScriptOptions {
            files: vec![Weighted {
                source: source(),
                weight: 1,
            }],
            variables: vec![("b".into(), Value::Int(3))],
            protocol,
            seed,
            fence: Fence::new(dialect, Errand::Measured, Some("own")),
        };
        let workload = match ScriptWorkload::new(options, dialect) {
            Ok(workload) => workload,
            Err(error) => {
                assert!(!error.to_string().is_empty());
                continue;
            }
        };
        let mut script = workload.script(0);
        let mut args = Args::default();
        for _ in 0..3 {
            script.begin();
            while script
                .next(&mut args)
                .is_some_and(|next| !matches!(next, diskproof_load::workload::Next::Fail))
            {
            }
        }
    }
}

#[test]
fn hostile_scripts() {
    for text in KEPT {
        try_out(text, 1);
    }
    for seed in seeds(3000, 1) {
        let mut random = Xoshiro256PlusPlus::seed_from_u64(seed);
        let text = script(&mut random);
        let begun = std::time::Instant::now();
        let outcome = catch_unwind(|| try_out(&text, seed));
        assert!(outcome.is_ok(), "seed {seed}: {text:?}");
        let took = begun.elapsed().as_secs();
        assert!(took < 10, "seed {seed}: {took} s for {text:?}");
    }
}
