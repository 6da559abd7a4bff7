//! Hostile input by seed: servers that lie, scripts that make no sense, files that are none.
//!
//! Whatever comes, the program ends in time and in words. It does not panic, takes little memory,
//! sends no password in clear text and no local file, and writes nothing that a terminal obeys.
//!
//! `PROPTEST_CASES` sets the number of cases (slow tests take a part of it), `HOSTILE_SEED` the
//! first seed. A failure names its seed; `HOSTILE_SEED=N PROPTEST_CASES=1` brings it back.

mod case;
mod files;
mod input;
mod lies;
mod lua;
mod mysql;
mod postgres;
mod scripts;
mod servers;
