//! The random draws of one client, as `sysbench.rand` has them.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::Ordering;

use mlua::{Lua, Table};
use rand::{Rng, RngExt};
use rand_xoshiro::Xoshiro256PlusPlus;

use super::Setup;
use super::state;
use crate::workload::distribution::{Choice, Distribution};
use crate::workload::generator::generator;

/// Distributions that are kept: a script draws from a few ranges.
const KEPT: usize = 16;

struct Draws {
    rng: Xoshiro256PlusPlus,
    /// The last ranges by distribution, because some take long to set up.
    kept: Vec<(Choice, u64, Distribution)>,
}

impl Draws {
    /// A whole number from low to high.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    fn draw(&mut self, choice: Choice, low: f64, high: f64) -> f64 {
        let (low, high) = (low.floor(), high.floor());
        if high <= low || !low.is_finite() || !high.is_finite() {
            return low;
        }
        let count = ((high - low) as u64).saturating_add(1);
        if choice == Choice::Uniform {
            return low + self.rng.random_range(0..count) as f64;
        }
        let is_it =
            |(own, rows, _): &&(Choice, u64, Distribution)| *own == choice && *rows == count;
        let known = self.kept.iter().find(is_it);
        let distribution = if let Some((_, _, distribution)) = known {
            *distribution
        } else {
            let distribution = Distribution::new(choice, count);
            if self.kept.len() == KEPT {
                self.kept.remove(0);
            }
            self.kept.push((choice, count, distribution));
            distribution
        };
        low + (distribution.draw(&mut self.rng) - 1) as f64
    }

    /// `#` becomes a digit, `@` a letter.
    fn fill(&mut self, pattern: &[u8]) -> Vec<u8> {
        let fill = |&byte: &u8| match byte {
            b'#' => self.character(b'0', 10),
            b'@' => self.character(b'a', 26),
            other => other,
        };
        pattern.iter().map(fill).collect()
    }

    /// Characters from `0` to `z`, as many as a draw from `shortest` to `longest` says.
    fn any_characters(&mut self, shortest: usize, longest: usize) -> Vec<u8> {
        let shortest = if shortest > longest { 1 } else { shortest };
        let length = self.rng.random_range(shortest.min(longest)..=longest);
        (0..length).map(|_| self.character(b'0', 75)).collect()
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation)]
    fn character(&mut self, first: u8, count: u64) -> u8 {
        first + ((u64::from(self.rng.next_u32()) * count) >> 32) as u8
    }
}

/// Puts the functions into the table that the prelude reads.
pub(super) fn install(
    lua: &Lua,
    host: &Table,
    setup: &Arc<Setup>,
    place: [u64; 2],
) -> mlua::Result<()> {
    let options = &setup.options;
    let draws = Rc::new(RefCell::new(Draws {
        rng: generator(options.seed, place),
        kept: Vec::new(),
    }));
    for (name, choice) in [
        ("default", options.distribution),
        ("uniform", Choice::Uniform),
        ("gaussian", Choice::Gaussian),
        ("special", Choice::Special1020),
        ("pareto", Choice::Pareto),
        ("zipfian", Choice::Zipfian),
    ] {
        let draws = Rc::clone(&draws);
        host.set(
            name,
            lua.create_function(move |_, (low, high): (f64, f64)| {
                Ok(draws.borrow_mut().draw(choice, low, high))
            })?,
        )?;
    }
    let own = Rc::clone(&draws);
    let uniform_double = move |_: &Lua, ()| Ok(own.borrow_mut().rng.random::<f64>());
    host.set("uniform_double", lua.create_function(uniform_double)?)?;
    let own = Rc::clone(&draws);
    // Lua's numbers hold 53 bits.
    let uniform_uint64 = move |_: &Lua, ()| Ok((own.borrow_mut().rng.next_u64() >> 11) as f64);
    host.set("uniform_uint64", lua.create_function(uniform_uint64)?)?;
    let own = Rc::clone(&draws);
    let most_bytes = options.memory_limit_bytes;
    let string = move |lua: &Lua, pattern: mlua::String| {
        let filled = own.borrow_mut().fill(&pattern.as_bytes());
        state::string(lua, &filled, most_bytes)
    };
    host.set("string", lua.create_function(string)?)?;
    let own = Rc::clone(&draws);
    let varstring = move |lua: &Lua, (shortest, longest): (usize, usize)| {
        if longest > most_bytes {
            return Err(mlua::Error::runtime(format!(
                "a string of {longest} characters does not fit into the script's memory"
            )));
        }
        lua.create_string(own.borrow_mut().any_characters(shortest, longest))
    };
    host.set("varstring", lua.create_function(varstring)?)?;
    let own = Rc::clone(&draws);
    // That many letters of an alphabet, or a number of them from the least to the most.
    let letters =
        move |lua: &Lua, (alphabet, least, most): (mlua::String, usize, Option<usize>)| {
            let (alphabet, mut own) = (alphabet.as_bytes(), own.borrow_mut());
            let length = most.map_or(least, |most| own.rng.random_range(least..=most.max(least)));
            let last = alphabet.len() as u64;
            let letter = |_| alphabet[usize::from(own.character(0, last))];
            let letters: Vec<u8> = (0..length).map(letter).collect();
            state::string(lua, &letters, most_bytes)
        };
    host.set("letters", lua.create_function(letters)?)?;
    let shared = Arc::clone(setup);
    let unique = move |_: &Lua, (low, high): (f64, f64)| {
        let (low, high) = (low.ceil().max(0.0), high.floor().min(u32::MAX.into()));
        if low > high {
            return Err(mlua::Error::runtime(format!(
                "no number of 32 bits lies from {low} to {high}"
            )));
        }
        // As sysbench does it: the smaller the range, the longer this takes.
        loop {
            let count = shared.uniques.fetch_add(1, Ordering::Relaxed);
            let number = scattered(count.wrapping_add(shared.options.seed));
            if (low..=high).contains(&f64::from(number)) {
                return Ok(number);
            }
        }
    };
    host.set("unique", lua.create_function(unique)?)
}

/// Another number of 32 bits for each: the last step of `MurmurHash3`, which can be undone.
#[expect(clippy::cast_possible_truncation)]
fn scattered(number: u64) -> u32 {
    let mut hash = number as u32;
    hash = (hash ^ hash >> 16).wrapping_mul(0x85EB_CA6B);
    hash = (hash ^ hash >> 13).wrapping_mul(0xC2B2_AE35);
    hash ^ hash >> 16
}
