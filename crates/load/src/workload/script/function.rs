//! pgbench's operators and functions: what they take and what comes out.

use std::cmp::Ordering;
use std::ops::RangeInclusive;

use rand::Rng;

use super::hash::{fnv1a, murmur2, permute};
use super::random;
use super::value::Value;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Function {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Negate,
    BitAnd,
    BitOr,
    BitXor,
    BitNot,
    ShiftLeft,
    ShiftRight,
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Not,
    IsNull,
    IsTrue,
    IsFalse,
    Abs,
    Double,
    Exp,
    Greatest,
    HashFnv1a,
    HashMurmur2,
    Int,
    Least,
    Ln,
    Permute,
    Pi,
    Power,
    Random,
    RandomExponential,
    RandomGaussian,
    RandomZipfian,
    Sqrt,
}

/// All functions that a script can call, with how many arguments they take. A third one of `permute` and a second
/// one of the hashes is a seed; without it they are given `:default_seed`.
pub(super) const NAMED: [(&str, Function, RangeInclusive<usize>); 20] = [
    ("abs", Function::Abs, 1..=1),
    ("double", Function::Double, 1..=1),
    ("exp", Function::Exp, 1..=1),
    ("greatest", Function::Greatest, 1..=usize::MAX),
    ("hash", Function::HashMurmur2, 1..=2),
    ("hash_fnv1a", Function::HashFnv1a, 1..=2),
    ("hash_murmur2", Function::HashMurmur2, 1..=2),
    ("int", Function::Int, 1..=1),
    ("least", Function::Least, 1..=usize::MAX),
    ("ln", Function::Ln, 1..=1),
    ("mod", Function::Modulo, 2..=2),
    ("permute", Function::Permute, 2..=3),
    ("pi", Function::Pi, 0..=0),
    ("pow", Function::Power, 2..=2),
    ("power", Function::Power, 2..=2),
    ("random", Function::Random, 2..=2),
    ("random_exponential", Function::RandomExponential, 3..=3),
    ("random_gaussian", Function::RandomGaussian, 3..=3),
    ("random_zipfian", Function::RandomZipfian, 3..=3),
    ("sqrt", Function::Sqrt, 1..=1),
];

impl Function {
    /// Whether a call without a seed gets one.
    pub(super) fn seed_position(self) -> Option<usize> {
        match self {
            Self::HashFnv1a | Self::HashMurmur2 => Some(1),
            Self::Permute => Some(2),
            _ => None,
        }
    }

    /// The result for arguments that are not NULL; with one that is, [`Self::of_null`] decides.
    pub(super) fn call(self, arguments: &[Value], rng: &mut impl Rng) -> Result<Value, String> {
        if arguments.contains(&Value::Null) {
            return Ok(self.of_null(arguments));
        }
        match *arguments {
            [] => Ok(Value::Double(std::f64::consts::PI)),
            [of] => self.of_one(of),
            [first, second] => self.of_two(first, second, rng),
            [first, second, third] => self.of_three(first, second, third, rng),
            _ => Err("too many arguments".into()),
        }
    }

    fn of_null(self, arguments: &[Value]) -> Value {
        match self {
            Self::IsNull => Value::Bool(arguments[0] == Value::Null),
            Self::IsTrue | Self::IsFalse => Value::Bool(false),
            _ => Value::Null,
        }
    }

    fn of_one(self, of: Value) -> Result<Value, String> {
        Ok(match self {
            Self::Negate | Self::Abs => match of {
                Value::Double(value) if self == Self::Abs => Value::Double(value.abs()),
                Value::Double(value) => Value::Double(-value),
                _ => {
                    let value = of.to_int()?;
                    let result = match self {
                        Self::Abs => value.checked_abs(),
                        _ => value.checked_neg(),
                    };
                    Value::Int(result.ok_or_else(overflow)?)
                }
            },
            Self::BitNot => Value::Int(!of.to_int()?),
            Self::Not => Value::Bool(!of.is_true()),
            Self::IsNull => Value::Bool(false),
            // A number is neither, whatever a condition would make of it.
            Self::IsTrue => Value::Bool(of == Value::Bool(true)),
            Self::IsFalse => Value::Bool(of == Value::Bool(false)),
            Self::Double => Value::Double(of.to_double()?),
            Self::Int => Value::Int(of.to_int()?),
            Self::Exp => Value::Double(of.to_double()?.exp()),
            Self::Ln => Value::Double(of.to_double()?.ln()),
            Self::Sqrt => Value::Double(of.to_double()?.sqrt()),
            // A function of one argument.
            _ => of,
        })
    }

    fn of_two(self, first: Value, second: Value, rng: &mut impl Rng) -> Result<Value, String> {
        match self {
            Self::Add | Self::Subtract | Self::Multiply | Self::Divide => {
                self.arithmetic(first, second)
            }
            Self::Equal | Self::NotEqual | Self::Less | Self::LessOrEqual => {
                self.compare(first, second).map(Value::Bool)
            }
            Self::Greatest | Self::Least => self.choose(first, second),
            Self::Power => Ok(Value::Double(first.to_double()?.powf(second.to_double()?))),
            _ => self
                .of_integers(first.to_int()?, second.to_int()?, rng)
                .map(Value::Int),
        }
    }

    fn arithmetic(self, first: Value, second: Value) -> Result<Value, String> {
        if let Some((first, second)) = doubles(first, second)? {
            return Ok(Value::Double(match self {
                Self::Add => first + second,
                Self::Subtract => first - second,
                Self::Multiply => first * second,
                _ => first / second,
            }));
        }
        let (first, second) = (first.to_int()?, second.to_int()?);
        let result = match self {
            Self::Add => first.checked_add(second),
            Self::Subtract => first.checked_sub(second),
            Self::Multiply => first.checked_mul(second),
            _ if second == 0 => return Err(format!("{first} is divided by zero")),
            _ => first.checked_div(second),
        };
        result.map(Value::Int).ok_or_else(overflow)
    }

    fn compare(self, first: Value, second: Value) -> Result<bool, String> {
        // Two conditions compare as 0 and 1.
        let number = |value| match value {
            Value::Bool(value) => Value::Int(i64::from(value)),
            other => other,
        };
        let (first, second) = (number(first), number(second));
        // `None`: one of them is a double that is no number, which differs from all.
        let order = match doubles(first, second)? {
            Some((first, second)) => first.partial_cmp(&second),
            None => Some(first.to_int()?.cmp(&second.to_int()?)),
        };
        Ok(match self {
            Self::Equal => order == Some(Ordering::Equal),
            Self::NotEqual => order != Some(Ordering::Equal),
            Self::Less => order == Some(Ordering::Less),
            _ => order.is_some_and(Ordering::is_le),
        })
    }

    /// The greater or the lesser; a double if one of them is.
    pub(super) fn choose(self, first: Value, second: Value) -> Result<Value, String> {
        if let Some((first, second)) = doubles(first, second)? {
            return Ok(Value::Double(match self {
                Self::Greatest => first.max(second),
                _ => first.min(second),
            }));
        }
        let (first, second) = (first.to_int()?, second.to_int()?);
        Ok(Value::Int(match self {
            Self::Greatest => first.max(second),
            _ => first.min(second),
        }))
    }

    fn of_integers(self, first: i64, second: i64, rng: &mut impl Rng) -> Result<i64, String> {
        match self {
            Self::Modulo if second == 0 => Err(format!("{first} is divided by zero")),
            // The one case that has no remainder in the processor is 0.
            Self::Modulo => Ok(first.checked_rem(second).unwrap_or(0)),
            Self::BitAnd => Ok(first & second),
            Self::BitOr => Ok(first | second),
            Self::BitXor => Ok(first ^ second),
            Self::ShiftLeft | Self::ShiftRight => {
                let bits = u32::try_from(second).ok().filter(|bits| *bits < 64);
                let bits = bits.ok_or_else(|| format!("a shift by {second} bits"))?;
                Ok(match self {
                    Self::ShiftLeft => first << bits,
                    _ => first >> bits,
                })
            }
            Self::HashFnv1a => Ok(fnv1a(first, second)),
            Self::HashMurmur2 => Ok(murmur2(first, second)),
            Self::Random => random::uniform(rng, first, second),
            _ => Err("too many arguments".into()),
        }
    }

    fn of_three(
        self,
        first: Value,
        second: Value,
        third: Value,
        rng: &mut impl Rng,
    ) -> Result<Value, String> {
        let (first, second) = (first.to_int()?, second.to_int()?);
        match self {
            Self::Permute => permute(first, second, third.to_int()?),
            Self::RandomGaussian => random::gaussian(rng, first, second, third.to_double()?),
            Self::RandomExponential => random::exponential(rng, first, second, third.to_double()?),
            Self::RandomZipfian => random::zipfian(rng, first, second, third.to_double()?),
            _ => Err("too many arguments".into()),
        }
        .map(Value::Int)
    }
}

/// Both as doubles if one of them is.
fn doubles(first: Value, second: Value) -> Result<Option<(f64, f64)>, String> {
    let is_double = |value| matches!(value, Value::Double(_));
    if !is_double(first) && !is_double(second) {
        return Ok(None);
    }
    Ok(Some((first.to_double()?, second.to_double()?)))
}

fn overflow() -> String {
    "the result is larger than a 64-bit integer can be".into()
}
